/* SPDX-License-Identifier: Apache-2.0 */
/* A SIGTRAP behind each instruction, until its handler clears the flag in the context that it is given. */
#ifndef TPROF_TESTS_STEPPING_H
#define TPROF_TESTS_STEPPING_H

#define TRAP_FLAG 0x100 /* of EFLAGS */

/* Not inline: below the caller's stack pointer there may be values of its own. */
static __attribute__((noinline)) void step_from_here(void)
{
	__asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "cc", "memory");
}

#endif
