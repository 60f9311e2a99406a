/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is called in place of functions that may wait. The registers that calls keep, the stack pointer and the return
 * address are written down for the thread, and the function is jumped to: it finds all as its caller left it, so it may
 * have any arguments, be left by an exception, a longjmp or a cancellation, and stand on the stack where it always did.
 * Nothing says when it returns: whoever reads what is written asks whether the thread is still in that call (registers.c).
 *
 * %r11 is free at a call, as the dynamic linker's own stubs use it.
 */
#include "offsets.h"

	.text
	.globl	tpc_wait_stubs
	.hidden	tpc_wait_stubs
	.type	tpc_wait_stubs, @function
	.balign	TPC_WAIT_STUB
tpc_wait_stubs:
	.cfi_startproc
	.set	number, 0
	.rept	TPC_WAIT_STUBS
	.balign	TPC_WAIT_STUB, 0x90
	endbr64
	movq	tpc_self@gottpoff(%rip), %r11
	movq	%fs:(%r11), %r11
	testq	%r11, %r11
	jz	2f
	/* Again, if a signal's handler that waited came between: its own stack pointer stands there then. */
1:	movq	%rsp, TPC_WAIT_SP(%r11)
	pushq	(%rsp)
	.cfi_adjust_cfa_offset 8
	popq	TPC_WAIT_CALLER(%r11)
	.cfi_adjust_cfa_offset -8
	movq	%rbx, TPC_WAIT_KEPT(%r11)
	movq	%rbp, TPC_WAIT_KEPT + 8(%r11)
	movq	%r12, TPC_WAIT_KEPT + 16(%r11)
	movq	%r13, TPC_WAIT_KEPT + 24(%r11)
	movq	%r14, TPC_WAIT_KEPT + 32(%r11)
	movq	%r15, TPC_WAIT_KEPT + 40(%r11)
	cmpq	%rsp, TPC_WAIT_SP(%r11)
	jne	1b
2:	jmp	*tpc_wait_targets + 8 * number(%rip)
	.set	number, number + 1
	.endr
	.cfi_endproc
	.size	tpc_wait_stubs, . - tpc_wait_stubs
	.section .note.GNU-stack, "", @progbits
