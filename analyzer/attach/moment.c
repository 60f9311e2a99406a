/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/moment.h"

#include <elfutils/libdwfl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/memory.h"

#define FRAMES_MAX 4096

struct tpa_moment {
	Dwfl *dwfl;
	pid_t pid;
};

/* ---- the modules ---- */

/* Unwind tables and exported names are in the modules themselves; separate debug files would take long to look for. */
static int no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file,
			const char *link, GElf_Word crc, char **found)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)found;
	return -1;
}

struct tpa_moment *tpa_moment_new(pid_t pid)
{
	static const Dwfl_Callbacks callbacks = { .find_elf = dwfl_linux_proc_find_elf,
						  .find_debuginfo = no_debuginfo };
	struct tpa_moment *moment = tpa_zalloc(1, sizeof(*moment));

	moment->pid = pid;
	moment->dwfl = dwfl_begin(&callbacks);
	if (moment->dwfl && dwfl_linux_proc_report(moment->dwfl, pid) == 0 &&
	    dwfl_report_end(moment->dwfl, NULL, NULL) == 0 && dwfl_linux_proc_attach(moment->dwfl, pid, true) == 0)
		return moment;
	tpa_moment_free(moment);
	return NULL;
}

void tpa_moment_free(struct tpa_moment *moment)
{
	if (!moment)
		return;
	if (moment->dwfl)
		dwfl_end(moment->dwfl);
	free(moment);
}

static const char *file_name(Dwfl_Module *module)
{
	const char *path = module ? dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL) : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

static bool is_libc(Dwfl_Module *module)
{
	const char *name = file_name(module);

	return fnmatch("libc.so.*", name, 0) == 0 || fnmatch("libc-2.*", name, 0) == 0 ||
	       fnmatch("libpthread*.so*", name, 0) == 0 || fnmatch("libdl*.so*", name, 0) == 0;
}

static bool is_loader(Dwfl_Module *module)
{
	return fnmatch("ld-*.so*", file_name(module), 0) == 0;
}

struct search {
	const char *name;
	uint64_t found;
};

static int search_module(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr start, void *context)
{
	struct search *search = context;
	int count = is_libc(module) ? dwfl_module_getsymtab(module) : 0;

	(void)data, (void)name, (void)start;
	for (int i = 1; i < count && !search->found; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		GElf_Word section;
		const char *is = dwfl_module_getsym_info(module, i, &symbol, &address, &section, NULL, NULL);

		if (is && section != SHN_UNDEF && GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
		    strcmp(is, search->name) == 0)
			search->found = address;
	}
	return search->found ? DWARF_CB_ABORT : DWARF_CB_OK;
}

uint64_t tpa_moment_function(const struct tpa_moment *moment, const char *name)
{
	struct search search = { name, 0 };

	dwfl_getmodules(moment->dwfl, search_module, &search, 0);
	return search.found;
}

/* ---- the stack ---- */

/* Functions of libc that are entered with a lock, or with one to come, and that call the program. */
static const char *const holders[] = {
	"dl_iterate_phdr", "exit",  "quick_exit",     "__run_exit_handlers", "fork",   "__libc_fork",
	"_Fork",	   "vfork", "pthread_create", "__nptl_setxid",	     "daemon", "posix_spawn*"
};

/* System calls in which libc's functions wait for something outside of the process. */
static const long waits[] = {
	SYS_read,	   SYS_readv,		SYS_pread64,	     SYS_write,	   SYS_writev,	SYS_poll,
	SYS_ppoll,	   SYS_select,		SYS_pselect6,	     SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg,
	SYS_accept,	   SYS_accept4,		SYS_connect,	     SYS_sendto,   SYS_sendmsg, SYS_epoll_wait,
	SYS_epoll_pwait,   SYS_nanosleep,	SYS_clock_nanosleep, SYS_wait4,	   SYS_waitid,	SYS_pause,
	SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_semtimedop,	     SYS_semop,	   SYS_msgrcv,	SYS_flock,
	SYS_sched_yield,   SYS_restart_syscall, SYS_io_getevents,
};

/* By whom a wait on a futex is one of the program's own. malloc() waits so, too, for its locks. */
static const char *const futex_waits[] = { "pthread_cond_*",
					   "pthread_join*",
					   "pthread_timedjoin*",
					   "pthread_mutex_*",
					   "pthread_rwlock_*",
					   "pthread_barrier_*",
					   "pthread_once",
					   "sem_*",
					   "cnd_*",
					   "mtx_*",
					   "thrd_join" };

struct stack {
	const struct tpa_moment *moment;
	const char *why;
	const char *outermost; /* of the frames of libc that the stack begins with */
	unsigned int frames;
	bool in_libc; /* all frames so far */
	bool began_in_libc;
};

static bool is_among(const char *name, const char *const *patterns, size_t count)
{
	for (size_t i = 0; name && i < count; i++)
		if (fnmatch(patterns[i], name, 0) == 0)
			return true;
	return false;
}

static int look_at_frame(Dwfl_Frame *frame, void *context)
{
	struct stack *stack = context;
	Dwfl_Module *module;
	const char *name;
	Dwarf_Addr pc;
	bool exact;

	if (!dwfl_frame_pc(frame, &pc, &exact) || stack->frames++ == FRAMES_MAX) {
		stack->why = "its stack can't be read";
		return DWARF_CB_ABORT;
	}
	pc -= exact ? 0 : 1;
	module = dwfl_addrmodule(stack->moment->dwfl, pc);
	name = module && is_libc(module) ? dwfl_module_addrname(module, pc) : NULL;
	if (module && is_loader(module))
		stack->why = "it is in the loader";
	else if (fnmatch("libtprof*.so*", file_name(module), 0) == 0)
		stack->why = "it is in libtprof.so";
	else if (is_among(name, holders, sizeof(holders) / sizeof(holders[0])))
		stack->why = "it starts or ends a process or a thread";
	if (stack->frames == 1)
		stack->in_libc = stack->began_in_libc = module && is_libc(module);
	stack->in_libc = stack->in_libc && module && is_libc(module);
	if (stack->in_libc)
		stack->outermost = name;
	return stack->why ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static bool waits_outside(const struct tpa_tracee *tracee, const struct stack *stack)
{
	long call = (long)tracee->registers.orig_rax;

	if (call == SYS_futex)
		return is_among(stack->outermost, futex_waits, sizeof(futex_waits) / sizeof(futex_waits[0]));
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (call == waits[i])
			return true;
	return false;
}

bool tpa_moment_is_safe(const struct tpa_moment *moment, const struct tpa_tracee *tracee, const char **why)
{
	struct stack stack = { .moment = moment };
	int result = dwfl_getthread_frames(moment->dwfl, tracee->tid, look_at_frame, &stack);

	*why = stack.why;
	if (!*why && result != 0 && result != DWARF_CB_ABORT)
		*why = "its stack can't be read to the end";
	if (!*why && stack.began_in_libc && !waits_outside(tracee, &stack))
		*why = "it is in libc";
	return !*why;
}
