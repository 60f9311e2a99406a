/* SPDX-License-Identifier: Apache-2.0 */
#include "core/private_fds.h"

#include "core/arguments.h"
#include "core/sys.h"
#include "core/thread.h"

#include <linux/sched.h>
#include <signal.h>
#include <sys/wait.h>

/* The process has released its stack already, and closes its descriptors a moment later. */
static void wait_for_process(uint32_t pid)
{
	while (tpc_syscall(SYS_wait4, pid, 0, __WCLONE, 0) == -EINTR)
		;
}

static void wait_for_thread(uint32_t tid)
{
	while (tpc_syscall(SYS_tgkill, tpc_sys_getpid(), tid, 0, 0) == 0)
		tpc_syscall(SYS_sched_yield, 0, 0, 0, 0);
}

/* All signals are blocked, in the task too: no handler of the program runs in it. */
static bool run(long flags, void (*wait)(uint32_t id), void (*work)(void *context), void *context)
{
	uint64_t all = ~UINT64_C(0), before = 0;
	long id;

	tpc_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	/* No exit signal, so that the program's wait() does not see the task. */
	id = tpc_arch_clone(CLONE_VM | CLONE_VFORK | flags, work, context);
	if (id > 0)
		wait((uint32_t)id);
	tpc_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof(before));
	return id > 0;
}

bool tpc_private_fds(void (*work)(void *context), void *context)
{
	return run(0, wait_for_process, work, context);
}

struct job {
	void (*work)(void *context);
	void *context;
	bool done;
};

static void do_job(void *context)
{
	struct job *job = context;

	job->work(job->context);
	job->done = true;
}

/* Does the work here if there is no such task, or if its memory is not shared: Valgrind makes it a fork. */
void tpc_private_fds_from_threads(void (*work)(void *context), void *context)
{
	struct job job = { work, context, false };

	if (tpc_load(&tpc_thread_several))
		tpc_private_fds(do_job, &job);
	if (!job.done)
		do_job(&job);
}

/* Valgrind would end the program. */
void tpc_private_fds_as_thread(void (*work)(void *context), void *context)
{
	bool several = tpc_load(&tpc_thread_several) && !tpc_under_valgrind();

	if (!several || !run(CLONE_THREAD | CLONE_SIGHAND, wait_for_thread, work, context))
		work(context);
}
