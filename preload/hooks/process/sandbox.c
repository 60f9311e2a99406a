/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp: from the moment a program gives up system calls, one that it would not have made may kill it. So recording
 * ends just before; the trace says so. prctl and syscall themselves are pass_on.S; syscall can also end the process,
 * make another, and take the sampler's signal.
 */
#include "core/state.h"
#include "core/sys.h"
#include "hooks/gate/start.h"
#include "hooks/process/lifecycle.h"
#include "hooks/process/exec.h"
#include "hooks/process/pass_on.h"
#include "hooks/link/real.h"
#include "hooks/sampling/cpu.h"
#include "hooks/sampling/signals.h"
#include "hooks/leakcheck/stubs.h"

#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>

void *tp_before_prctl(int option) __attribute__((visibility("hidden")));
static void end_by_syscall(int status)
{
	tp_mark_way(TPROF_WAY_EXIT_GROUP);
	tp_mark_end(TPROF_END_EXIT, status);
}

struct tp_asked tp_before_syscall(long number, long operation, long second, long third, long fourth, long fifth)
	__attribute__((visibility("hidden")));

static void seal(void)
{
	tp_start();
	if (tp_state_has_trace() && tp_sys_getpid() == tp_state.pid)
		tp_cpu_stop();
	tp_seal();
}

void *tp_before_prctl(int option)
{
	if (option == PR_SET_SECCOMP)
		seal();
	else if (!tp_real.prctl)
		tp_start();
	return (void *)tp_real.prctl;
}

/* A child on a copy of this stack, that no handler of fork's hears of. clone3 is younger than MADV_WIPEONFORK. */
static bool is_unseen_fork(long number, long flags, long stack)
{
	return tp_state_is_unprotected() &&
	       (number == SYS_fork || (number == SYS_clone && !(flags & CLONE_VM) && !stack));
}

struct tp_asked tp_before_syscall(long number, long operation, long second, long third, long fourth, long fifth)
{
	void *stub;

	if ((number == SYS_seccomp && (operation == SECCOMP_SET_MODE_STRICT || operation == SECCOMP_SET_MODE_FILTER)) ||
	    (number == SYS_prctl && operation == PR_SET_SECCOMP))
		seal();
	else if (number == SYS_exit_group)
		end_by_syscall((int)(operation & 0xff));
	else if (!tp_real.syscall)
		tp_start();
	if ((number == SYS_execve || number == SYS_execveat) && tp_real.syscall)
		return (struct tp_asked){ NULL,
					  (void *)tp_exec_by_syscall(number, operation, second, third, fourth, fifth) };
	if (number == SYS_rt_sigaction && second)
		tp_cpu_set_by_syscall(operation);
	if (tp_unlikely(is_unseen_fork(number, operation, second)) && tp_real.syscall) {
		long made = tp_real.syscall(number, operation, second, third, fourth, fifth);

		if (made == 0)
			tp_state_forked();
		return (struct tp_asked){ NULL, (void *)made };
	}
	stub = tp_load_acquire(&tp_wait_syscall); /* pairs with tp_wait_begin(): it leads to libc's */
	return (struct tp_asked){ stub ? stub : (void *)tp_real.syscall, NULL };
}
