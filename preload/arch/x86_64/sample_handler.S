/* SPDX-License-Identifier: Apache-2.0 */
/*
 * void tpc_cpu_handler(int number, siginfo_t *info, void *context): the sampler's signal handler. The walk needs more
 * stack than an alternate stack or a coroutine's may have left, so it runs on one of the thread's own, in struct
 * tpc_thread. All signals are blocked meanwhile (sa_mask). A thread without the struct is not sampled: what comes to it is
 * the program's, and handled where it is.
 */
#include "offsets.h"

	.text
	.globl	tpc_cpu_handler
	.hidden	tpc_cpu_handler
	.type	tpc_cpu_handler, @function
tpc_cpu_handler:
	.cfi_startproc
	endbr64
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	movq	tpc_self@gottpoff(%rip), %rax
	movq	%fs:(%rax), %rax
	testq	%rax, %rax
	jz	1f
	leaq	TPC_HANDLER_STACK_END(%rax), %rsp
1:	movq	%rax, %rcx
	call	tpc_cpu_handle
	movq	%rbp, %rsp
	popq	%rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	tpc_cpu_handler, . - tpc_cpu_handler
	.section .note.GNU-stack, "", @progbits
