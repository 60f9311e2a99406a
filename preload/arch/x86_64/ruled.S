/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What functions lead to that are hooked by a rule (hooks/memory/ruled.h), in their code: code_move.h's detour has stored the
 * caller's %r11 at -16(%rsp). The frame is trampoline.S's: the argument registers are kept, what the function leaves in
 * registers is given back, vector registers are not touched. Four words of stack arguments are copied: ten arguments in all.
 */
#include "arch/x86_64/trampoline_parts.inc"

	.text
	.globl	tpc_ruled_stubs
	.hidden	tpc_ruled_stubs
	.type	tpc_ruled_stubs, @function
	.balign	TPC_RULED_STUB
tpc_ruled_stubs:
	.cfi_startproc
	.set	number, 0
	.rept	TPC_RULED_STUBS
	.balign	TPC_RULED_STUB, 0x90
	endbr64
	movl	$number, %r11d
	jmp	ruled
	.set	number, number + 1
	.endr
	.cfi_endproc
	.size	tpc_ruled_stubs, . - tpc_ruled_stubs

	.type	ruled, @function
	.p2align 6
ruled:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	keep_used kept_
	keep_arguments
	movq	%r11, TPC_KEPT_INDEX(%rbp)
	movl	%r11d, %edi
	movq	%rbp, %rsi
	call	tpc_ruled_begin
	testq	%rdx, %rdx
	jz	.Lpass
	movq	%rax, TPC_KEPT_FUNCTION(%rbp)
	copy_arguments 32
	give_arguments_back
	call	*TPC_KEPT_FUNCTION(%rbp)
	movq	%rax, TPC_KEPT_RAX(%rbp)
	movq	%rdx, TPC_LEFT_RDX(%rbp)	/* the arguments are still needed */
	movq	%rcx, TPC_LEFT_RCX(%rbp)
	movq	%rsi, TPC_LEFT_RSI(%rbp)
	movq	%rdi, TPC_LEFT_RDI(%rbp)
	movq	%r8, TPC_LEFT_R8(%rbp)
	movq	%r9, TPC_LEFT_R9(%rbp)
	movq	%r10, TPC_LEFT_R10(%rbp)
	leaq	-TPC_KEPT_FRAME_BYTES(%rbp), %rsp
	movl	TPC_KEPT_INDEX(%rbp), %edi
	movq	%rbp, %rsi
	call	tpc_ruled_end
	movq	TPC_KEPT_RAX(%rbp), %rax
	movq	TPC_LEFT_RDX(%rbp), %rdx
	give_all kept_
	leave
	.cfi_remember_state
	.cfi_def_cfa rsp, 8
	ret
	.cfi_restore_state

	/* It is as if the caller had called the function itself. */
.Lpass:
	movq	%rax, %r11
	give_arguments_back
	movq	%r11, TPC_KEPT_RDI(%rbp)
	movq	TPC_KEPT_R11(%rbp), %r11
	leave
	.cfi_def_cfa rsp, 8
	jmp	*-16(%rsp)
	.cfi_endproc
	.size	ruled, . - ruled
	.section .note.GNU-stack, "", @progbits
