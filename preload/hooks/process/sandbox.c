/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp: once a program gives up system calls, any call that it would not have made may kill it. So recording ends
 * just before; the trace says so. prctl and syscall themselves are pass_on.S; syscall can also end the process, create
 * one, and take over the sampler's signal.
 */
#include "core/forked.h"
#include "core/state.h"
#include "core/sys.h"
#include "hooks/gate/start.h"
#include "hooks/process/lifecycle.h"
#include "hooks/process/exec.h"
#include "hooks/process/pass_on.h"
#include "hooks/process/root.h"
#include "hooks/process/user.h"
#include "hooks/link/real.h"
#include "hooks/sampling/cpu.h"
#include "hooks/sampling/signals.h"
#include "hooks/leakcheck/stubs.h"

#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>

void *tpc_before_prctl(int option) __attribute__((visibility("hidden")));
static void end_by_syscall(int status)
{
	tpc_mark_way(TPROF_WAY_EXIT_GROUP);
	tpc_mark_end(TPROF_END_EXIT, status);
}

struct tpc_asked tpc_before_syscall(long number, long operation, long second, long third, long fourth, long fifth)
	__attribute__((visibility("hidden")));

static void seal(void)
{
	tpc_start();
	if (tpc_state_has_trace() && tpc_sys_getpid() == tpc_state.pid)
		tpc_cpu_stop();
	tpc_seal();
}

void *tpc_before_prctl(int option)
{
	if (option == PR_SET_SECCOMP)
		seal();
	else if (!tpc_real.prctl)
		tpc_start();
	return (void *)tpc_real.prctl;
}

/* Does this create a child on a copy of the stack that no fork handler sees? clone3 is younger than MADV_WIPEONFORK. */
static bool is_unseen_fork(long number, long flags, long stack)
{
	return tpc_state_is_unprotected() &&
	       (number == SYS_fork || (number == SYS_clone && !(flags & CLONE_VM) && !stack));
}

struct tpc_asked tpc_before_syscall(long number, long operation, long second, long third, long fourth, long fifth)
{
	void *stub;

	if ((number == SYS_seccomp && (operation == SECCOMP_SET_MODE_STRICT || operation == SECCOMP_SET_MODE_FILTER)) ||
	    (number == SYS_prctl && operation == PR_SET_SECCOMP))
		seal();
	else if (number == SYS_exit_group)
		end_by_syscall((int)(operation & 0xff));
	else if (!tpc_real.syscall)
		tpc_start();
	if (number == SYS_chroot || number == SYS_pivot_root)
		tpc_root_changes();
	if (tpc_user_is_changed_by(number))
		tpc_user_changes();
	if ((number == SYS_execve || number == SYS_execveat) && tpc_real.syscall)
		return (struct tpc_asked){ NULL, (void *)tpc_exec_by_syscall(number, operation, second, third, fourth,
									     fifth) };
	if (number == SYS_rt_sigaction && second)
		tpc_cpu_set_by_syscall(operation);
	if (tpc_unlikely(is_unseen_fork(number, operation, second)) && tpc_real.syscall) {
		long made = tpc_real.syscall(number, operation, second, third, fourth, fifth);

		if (made == 0)
			tpc_forked();
		return (struct tpc_asked){ NULL, (void *)made };
	}
	stub = tpc_load_acquire(&tpc_wait_syscall); /* pairs with tpc_wait_begin(): it leads to libc's */
	return (struct tpc_asked){ stub ? stub : (void *)tpc_real.syscall, NULL };
}
