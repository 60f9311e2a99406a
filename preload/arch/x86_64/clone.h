/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_ARCH_X86_64_CLONE_H
#define TPROF_ARCH_X86_64_CLONE_H

#include <sys/syscall.h>

/*
 * clone(flags) of a task that runs work(context) and ends. The task runs below this frame on the same stack: its
 * caller's frame is still needed, and so are the 128 bytes below it that a function may use implicitly (the red zone).
 */
static inline __attribute__((always_inline)) long tpc_arch_clone(long flags, void (*work)(void *), void *context)
{
	long pid;
	register void *argument __asm__("r12") = context;
	register long tid_there __asm__("r10") = 0;
	register long tls __asm__("r8") = 0;

	__asm__ volatile("syscall\n\t"
			 "testq %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "subq $128, %%rsp\n\t"
			 "andq $-16, %%rsp\n\t"
			 "movq %%r12, %%rdi\n\t"
			 "call *%%rbx\n\t"
			 "xorl %%edi, %%edi\n\t"
			 "movl %[exit], %%eax\n\t"
			 "syscall\n"
			 "1:"
			 : "=a"(pid)
			 : "a"(SYS_clone), "D"(flags), "S"(0), "d"(0), "r"(tid_there), "r"(tls), "b"(work),
			   "r"(argument), [exit] "i"(SYS_exit)
			 : "rcx", "r11", "memory");
	return pid;
}

#endif
