/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp: from the moment a program gives up system calls, one that it would not have made may kill it. So recording
 * ends just before; the trace says so. prctl and syscall themselves are pass_on.S; syscall can also end the process.
 */
#include "core/state.h"
#include "core/sys.h"
#include "hooks/lifecycle.h"
#include "hooks/real.h"
#include "hooks/sampling/cpu.h"
#include "hooks/waits/stubs.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>

void *tp_before_prctl(int option) __attribute__((visibility("hidden")));
void *tp_before_syscall(long number, long operation) __attribute__((visibility("hidden")));

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

void *tp_before_syscall(long number, long operation)
{
	void *stub;

	if ((number == SYS_seccomp && (operation == SECCOMP_SET_MODE_STRICT || operation == SECCOMP_SET_MODE_FILTER)) ||
	    (number == SYS_prctl && operation == PR_SET_SECCOMP))
		seal();
	else if (number == SYS_exit_group)
		tp_mark_end(TPROF_END_EXIT, (int)(operation & 0xff));
	else if (!tp_real.syscall)
		tp_start();
	stub = tp_load_acquire(&tp_wait_syscall); /* pairs with tp_wait_begin(): it leads to libc's */
	return stub ? stub : (void *)tp_real.syscall;
}
