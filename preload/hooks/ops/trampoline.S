/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every hooked function's stub jumps to. %r11 is the function's index.
 *
 * A frame of our own, with CFI, around a real call of the function: exceptions and unwinders pass through it as through
 * any other. The argument registers are kept, the stack arguments are copied below (how many there are is not known: as
 * much of the caller's frame as can hold them); vector registers are not touched, by what is called here either.
 *
 *   16(%rbp)   the caller's stack arguments
 *    8(%rbp)   return address
 *    0(%rbp)   the caller's rbp
 *   -8..-64    rdi rsi rdx rcx r8 r9 rax r10
 *  -72(%rbp)   the function
 *  -112..-88   32 bytes for the hook, as long as the call lasts (TP_OP_SPACE)
 */
	.text
	.globl	tp_op_trampoline
	.hidden	tp_op_trampoline
	.type	tp_op_trampoline, @function
tp_op_trampoline:
	.cfi_startproc
	endbr64
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	subq	$112, %rsp
	movq	%rdi, -8(%rbp)
	movq	%rsi, -16(%rbp)
	movq	%rdx, -24(%rbp)
	movq	%rcx, -32(%rbp)
	movq	%r8, -40(%rbp)
	movq	%r9, -48(%rbp)
	movq	%rax, -56(%rbp)
	movq	%r10, -64(%rbp)
	movl	%r11d, %edi
	movq	%rbp, %rsi
	call	tp_op_enter		/* -> rax: the function, rdx: bytes of stack arguments, a multiple of 16 */
	movq	%rax, -72(%rbp)
	movl	$32, %ecx		/* as far from a multiple of 64 as the caller's: vectors are aligned there */
	subl	%edx, %ecx
	andl	$63, %ecx
	subq	%rcx, %rsp
	subq	%rdx, %rsp
	cmpq	$128, %rdx
	ja	2f
	testq	%rdx, %rdx
	jz	3f
1:	movq	8(%rbp,%rdx), %rcx	/* few: rep takes some tens of cycles to begin */
	movq	%rcx, -8(%rsp,%rdx)
	subq	$8, %rdx
	jnz	1b
	jmp	3f
2:	movq	%rdx, %rcx
	shrq	$3, %rcx
	leaq	16(%rbp), %rsi
	movq	%rsp, %rdi
	rep movsq
3:
	movq	-8(%rbp), %rdi
	movq	-16(%rbp), %rsi
	movq	-24(%rbp), %rdx
	movq	-32(%rbp), %rcx
	movq	-40(%rbp), %r8
	movq	-48(%rbp), %r9
	movq	-56(%rbp), %rax
	movq	-64(%rbp), %r10
	call	*-72(%rbp)
	movq	%rax, -56(%rbp)
	movq	%rdx, -24(%rbp)
	movq	%rbp, %rdi
	leaq	-112(%rbp), %rsp
	call	tp_op_leave
	movq	-56(%rbp), %rax
	movq	-24(%rbp), %rdx
	leave
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	tp_op_trampoline, . - tp_op_trampoline
	.section .note.GNU-stack, "", @progbits
