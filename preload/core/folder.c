/* SPDX-License-Identifier: Apache-2.0 */
#include "core/folder.h"

#include <tprof/format.h>

#include "core/analyzer.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/output.h"
#include "core/private_fds.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/text.h"

#include <linux/sched.h>
#include <sched.h>
#include <sys/prctl.h>

#define SEEN_NS UINT64_C(3000000000)  /* a folder that was not seen for longer is gone, or stopped */
#define AGAIN_NS UINT64_C(1000000000) /* between two attempts */
#define NICE 10

struct start {
	const char *path;
	char pid[16];
};

static void raise_limit(int resource)
{
	struct rlimit limit;

	if (tpc_syscall(SYS_prlimit64, 0, resource, 0, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	tpc_syscall(SYS_prlimit64, 0, resource, &limit, 0);
}

static void become_folder(void *context)
{
	struct start *start = context;
	const char *arguments[] = { start->path, "fold", start->pid, tpc_output_path(), NULL };
	static const uint8_t all[128] = { [0 ... 127] = 0xff };
	const int priority = 0;

	tpc_syscall(SYS_setsid, 0, 0, 0, 0);
	tpc_syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &priority, 0); /* not as the thread that asks */
	tpc_syscall(SYS_sched_setaffinity, 0, sizeof(all), all, 0);
	tpc_syscall(SYS_setpriority, PRIO_PROCESS, 0, NICE, 0);
	tpc_syscall(SYS_chdir, "/", 0, 0, 0);
	raise_limit(RLIMIT_AS);
	raise_limit(RLIMIT_DATA);
	raise_limit(RLIMIT_CPU);
	tpc_analyzer_close_files();
	tpc_analyzer_exec(arguments);
}

/* In a task that ends at once: the folder loses its parent, so the program's wait() does not see it. */
static void start_orphan(void *context)
{
	tpc_arch_clone(CLONE_VM | CLONE_VFORK, become_folder, context);
}

/* Orphans become children of the program. */
static bool adopts_orphans(void)
{
	int adopts = 0;

	tpc_syscall(SYS_prctl, PR_GET_CHILD_SUBREAPER, &adopts, 0, 0);
	return adopts || tpc_state.pid == 1;
}

static void start(void)
{
	static char path[4096];
	struct start start = { .path = path };
	struct tpc_text pid = tpc_text_in(start.pid, sizeof(start.pid));

	tpc_text_add_number(&pid, tpc_state.pid);
	if (!tpc_analyzer_find(path, sizeof(path)))
		tpc_log("TPROF_RING: there is no tprof-analyze beside ", "libtprof.so");
	else if (adopts_orphans())
		tpc_log("TPROF_RING: this process adopts orphans, so it can't start the folder: ", "use tprof run");
	else
		tpc_private_fds(start_orphan, &start);
}

void tpc_folder_ask(void)
{
	static tpc_shared_u64 tried;
	uint64_t now = tpc_clock_moment().mono_ns, seen = tpc_load(&tpc_header->ring_seen_ns),
		 before = tpc_load(&tried);

	if ((seen <= now && now - seen < SEEN_NS) || now - before < AGAIN_NS || tpc_load(&tpc_sealed) ||
	    tpc_sys_getpid() != tpc_state.pid || !tpc_swap_if(&tried, before, now))
		return;
	start();
}
