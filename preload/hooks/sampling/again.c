/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/sampling/again.h"

#include "core/sys.h"

#include <errno.h>
#include <time.h>

/* Is it a call for which it does not matter how long it has waited, or whose limit was counted down? */
static bool is_one(int32_t number)
{
	static const int16_t numbers[] = {
		SYS_read,
		SYS_recvfrom,
		SYS_recvmsg,
		SYS_accept,
		SYS_accept4,
		SYS_sendto,
		SYS_sendmsg,
		SYS_poll,
		SYS_ppoll,
		SYS_select,
		SYS_pselect6,
		SYS_epoll_wait,
		SYS_epoll_pwait,
		SYS_pause,
		SYS_msgrcv,
		SYS_msgsnd,
		SYS_rt_sigtimedwait,
		SYS_rt_sigsuspend,
		SYS_semop,
		SYS_semtimedop,
		SYS_nanosleep,
		SYS_clock_nanosleep,
		SYS_io_getevents,
		441 /* epoll_pwait2 */,
	};

	for (size_t i = 0; i < TPC_LENGTH(numbers); i++)
		if (numbers[i] == number)
			return true;
	return false;
}

/* -1: not made as libc makes its calls, so the call is unknown. */
static int32_t number_of(uint64_t behind)
{
	uint8_t code[TPC_ARCH_SYSCALL_BYTES];

	return tpc_sys_copy(code, behind - sizeof(code), sizeof(code)) ? tpc_arch_syscall_number(code) : -1;
}

/* Continues a sleep for the remaining time, if the kernel has written that. */
static void shorten(int32_t number, ucontext_t *context)
{
	if (number == SYS_nanosleep && *tpc_arch_argument(context, 1))
		*tpc_arch_argument(context, 0) = *tpc_arch_argument(context, 1);
	if (number == SYS_clock_nanosleep && !(*tpc_arch_argument(context, 1) & TIMER_ABSTIME) &&
	    *tpc_arch_argument(context, 3))
		*tpc_arch_argument(context, 2) = *tpc_arch_argument(context, 3);
}

void tpc_again(ucontext_t *context)
{
	int32_t number;

	if (tpc_arch_result(context) != -EINTR)
		return;
	number = number_of(tpc_arch_pc(context));
	if (!is_one(number))
		return;
	shorten(number, context);
	tpc_arch_call_again(context, number);
}
