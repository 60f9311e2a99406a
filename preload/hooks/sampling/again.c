/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/sampling/again.h"

#include "core/sys.h"

#include <errno.h>
#include <time.h>

/* Of those that are made again it does not matter how long they have waited, or their limit was counted down. */
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

	for (size_t i = 0; i < TP_LENGTH(numbers); i++)
		if (numbers[i] == number)
			return true;
	return false;
}

/*
 * mov $NUMBER, %eax; syscall, and perhaps mov OFFSET(%rsp), %edi between: as libc makes its calls. -1: made otherwise, nobody knows
 * what it was.
 */
static int32_t number_of(uint64_t behind)
{
	uint8_t code[11];
	int32_t number;
	size_t at;

	if (!tp_sys_copy(code, behind - sizeof(code), sizeof(code)) || code[9] != 0x0f || code[10] != 0x05)
		return -1;
	if (code[4] == 0xb8)
		at = 5;
	else if (code[0] == 0xb8 && code[5] == 0x8b && code[6] == 0x7c && code[7] == 0x24)
		at = 1;
	else
		return -1;
	__builtin_memcpy(&number, code + at, sizeof(number));
	return number;
}

/* A sleep goes on for what is left of it, where the kernel has written that down. */
static void shorten(int32_t number, greg_t *registers)
{
	if (number == SYS_nanosleep && registers[REG_RSI])
		registers[REG_RDI] = registers[REG_RSI];
	if (number == SYS_clock_nanosleep && !(registers[REG_RSI] & TIMER_ABSTIME) && registers[REG_R10])
		registers[REG_RDX] = registers[REG_R10];
}

void tp_again(ucontext_t *context)
{
	greg_t *registers = context->uc_mcontext.gregs;
	int32_t number;

	if (registers[REG_RAX] != -EINTR)
		return;
	number = number_of((uint64_t)registers[REG_RIP]);
	if (!is_one(number))
		return;
	shorten(number, registers);
	registers[REG_RAX] = number;
	registers[REG_RIP] -= 2;
}
