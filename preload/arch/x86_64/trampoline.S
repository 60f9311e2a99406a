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
 *  -80(%rbp)   the call's stamp (stacks/recall.h); 0: it has none, or none yet
 *  -112..-88   32 bytes for the hook, as long as the call lasts (TPC_OP_SPACE); before that, the function's index
 *
 * Calls that are folded (core/fold.h) are counted here; all others go to call.c, and each as soon as it is seen to be none
 * of them. Between a store of TPC_LAYOUT_BUSY_RECORD and of 0 to TPC_THREAD_BUSY no signal's handler records anything.
 */
#include "arch/x86_64/trampoline_parts.inc"

/*
 * For any function: tpc_op_trampoline, \k empty. tpc_op_trampoline_kept, \k "kept", is for functions that are hooked in
 * their code: calls to them within a file may rely on registers that any other function may change (gcc's -fipa-ra), so the
 * caller's %r11, and what the function left in other registers, is given back.
 */
	.macro trampoline_any name, copied, many, frame, k
	.globl	\name, \copied, \many
	.hidden	\name, \copied, \many
	.type	\name, @function
	.p2align 6
\name:

	enter_frame \k
	keep_used \k
	may_fold .L\k\()call, .L\k\()begin, %rax, %rcx
	/* and such a call, from there, within that op, was made before: struct tpc_fold_hot. */
	leal	(%r11,%rcx), %eax
	andl	$TPC_LAYOUT_HOTS - 1, %eax
	movq	TPC_FOLD_FILLED(%r10), %rdx
	btq	%rax, %rdx
	jnc	.L\k\()begin
	shll	$TPC_HOT_SHIFT, %eax
	leaq	TPC_FOLD_HOTS_AT(%r10,%rax), %rax
	movq	TPC_FOLD_SCOPE(%r10), %rdx
	orq	%r11, %rdx
	cmpq	%rdx, TPC_HOT_KEY(%rax)
	jne	.L\k\()begin
	cmpq	%rcx, TPC_HOT_CALLER(%rax)
	jne	.L\k\()begin
	movl	tpc_frames_epoch(%rip), %edx
	cmpl	%edx, TPC_HOT_EPOCH(%rax)
	jne	.L\k\()begin
	movzwl	TPC_HOT_TYPED(%rax), %edx
	testl	%edx, %edx
	jne	.L\k\()typed
	/* It is. Mostly it is one of many of which a share is timed, without stack arguments; */
.L\k\()pending:
	cmpb	$TPC_HOT_SHARE_PLAIN, TPC_HOT_SHARE(%rax)
	jne	.L\k\()any
	decl	TPC_FOLD_UNTIMED(%r10)		/* tpc_fold_times() */
	js	.L\k\()any
	pend_untimed %rax
.L\k\()call_untimed:
	give_registers
	call	*%r11
	returned_to \k
	find_count \k
.L\k\()count:
	count_call \k

	/* or it is timed. */
.L\k\()any:
	movq	%rax, TPC_FOLD_HOT_NOW(%r10)
	movq	%rbp, TPC_FOLD_FRAME(%r10)
	movq	$0, TPC_THREAD_LIMIT(%r10)
	movzbl	TPC_HOT_ALIGN(%rax), %ecx
	subq	%rcx, %rsp
	movq	TPC_HOT_FUNCTION(%rax), %r11
	notrack jmp *TPC_HOT_COPY(%rax)
	copy_arguments TPC_WINDOW_NEAR
\copied:
	cmpb	$TPC_HOT_SHARE_WINDOW, TPC_HOT_SHARE(%rax)
	je	.L\k\()share
.L\k\()timed:
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	%rax, TPC_FOLD_START(%r10)
	give_registers
	call	*%r11
.L\k\()returned:
	returned_to \k
	movq	TPC_FOLD_HOT_NOW(%r10), %rsi
	movq	TPC_HOT_COUNT(%rsi), %rdi
	movq	%rax, %r8
	movq	%rdx, %r9
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	%rax, %rcx
	movq	%r8, %rax
	movq	%r9, %rdx
	cmpb	$0, TPC_HOT_SHARE(%rsi)
	jne	.L\k\()end_of_share
	cmpq	TPC_HOT_UNTIL(%rsi), %rcx
	ja	.L\k\()end
	subq	TPC_FOLD_START(%r10), %rcx
	leaq	-TPC_LAYOUT_SHORTEST(%rcx), %r8
	cmpq	$TPC_LAYOUT_TICKS - TPC_LAYOUT_SHORTEST, %r8
	jae	.L\k\()end
	cmpl	$TPC_LAYOUT_CALLS, TPC_COUNT_CALLS(%rdi)
	jae	.L\k\()end
	addq	%rcx, TPC_COUNT_TICKS(%rdi)
	cmpl	TPC_COUNT_MIN(%rdi), %ecx
	jb	.L\k\()shortest
.L\k\()not_shortest:
	cmpl	TPC_COUNT_MAX(%rdi), %ecx
	ja	.L\k\()longest
.L\k\()not_longest:
	movl	%ecx, %r8d			/* tprof_fold_bucket() */
	bsrl	%ecx, %ecx
	subl	$2, %ecx
	shrl	%cl, %r8d
	leal	(%r8,%rcx,4), %ecx
	incw	TPC_COUNT_HISTOGRAM(%rdi,%rcx,2)
	movq	$0, TPC_FOLD_START(%r10)
	jmp	.L\k\()count
	/* tpc_fold_end() draws the next one; this one, if it was drawn, ended when those end of which all are timed. */
.L\k\()end_of_share:
	movq	%rcx, TPC_FOLD_STOP(%r10)
	jmp	.L\k\()end
.L\k\()share:
	decl	TPC_FOLD_UNTIMED(%r10)
	js	.L\k\()timed
	jmp	.L\k\()call_untimed

.L\k\()shortest:
	movl	%ecx, TPC_COUNT_MIN(%rdi)
	jmp	.L\k\()not_shortest
.L\k\()longest:
	movl	%ecx, TPC_COUNT_MAX(%rdi)
	jmp	.L\k\()not_longest

	/* Many stack arguments, of a call that is folded. */
\many:
	movq	%rsi, TPC_KEPT_RSI(%rbp)
	movq	%rdi, TPC_KEPT_RDI(%rbp)
	movl	TPC_HOT_WINDOW(%rax), %ecx
	subq	%rcx, %rsp
	shrl	$3, %ecx
	leaq	16(%rbp), %rsi
	movq	%rsp, %rdi
	rep movsq
	movq	TPC_KEPT_RSI(%rbp), %rsi
	movq	TPC_KEPT_RDI(%rbp), %rdi
	jmp	\copied

	/* Does it work on the same? tpc_op_same() reads the arguments. */
.L\k\()typed:
	testl	$TPC_HOT_BY_FIRST, %edx
	jz	.L\k\()compare
	movq	%rdi, %rcx
	testl	$TPC_HOT_BY_REFERENCE, %edx
	jz	.L\k\()first
	movl	(%rdi), %ecx
.L\k\()first:
	cmpl	%ecx, TPC_HOT_RAW(%rax)
	je	.L\k\()pending
.L\k\()compare:
	keep_arguments
	movq	%rax, TPC_KEPT_FUNCTION(%rbp)
	movq	%r11, TPC_KEPT_INDEX(%rbp)
	movq	%rbp, %rdi
	movq	%rax, %rsi
	movl	%r11d, %edx
	call	tpc_op_same
	movl	%eax, %ecx
	movq	tpc_self@gottpoff(%rip), %r10
	movq	%fs:(%r10), %r10
	movq	TPC_KEPT_FUNCTION(%rbp), %rax
	movq	TPC_KEPT_INDEX(%rbp), %r11
	movq	TPC_KEPT_RDI(%rbp), %rdi
	movq	TPC_KEPT_RSI(%rbp), %rsi
	movq	TPC_KEPT_R8(%rbp), %r8
	movq	TPC_KEPT_R9(%rbp), %r9
	testb	%cl, %cl
	jnz	.L\k\()pending

	/* Any other call: of a thread that is recording it, */
.L\k\()begin:
	keep_arguments
	movl	%r11d, %edi
	movq	%rbp, %rsi
	movq	%r10, %rdx
	call	tpc_op_begin		/* -> rax: the function, rdx: bytes of stack arguments, a multiple of 16 */
	jmp	.L\k\()begun
	/* or not yet, or not at all. */
.L\k\()call:
	keep_arguments
	movl	%r11d, %edi
	movq	%rbp, %rsi
	call	tpc_op_enter		/* -> the same */
.L\k\()begun:
	cmpq	$-1, %rdx		/* TPC_WINDOW_PASS */
	je	.L\k\()pass
	movq	%rax, TPC_KEPT_FUNCTION(%rbp)
	testq	%rdx, %rdx		/* mostly there are none */
	jz	.L\k\()copied
	movl	%edx, %ecx		/* as far from a multiple of 64 as the caller's: vectors are aligned there */
	negl	%ecx
	andl	$63, %ecx
	subq	%rcx, %rsp
	cmpq	$TPC_WINDOW_NEAR, %rdx
	ja	.L\k\()many
	leaq	(%rdx,%rdx,2), %rdx
	shrq	$2, %rdx
	leaq	.L\k\()copied(%rip), %rcx
	subq	%rdx, %rcx
	notrack jmp *%rcx
	copy_arguments TPC_WINDOW_NEAR
.L\k\()copied:
	give_arguments_back
	call	*TPC_KEPT_FUNCTION(%rbp)
	jmp	.L\k\()returned
.L\k\()many:
	movq	%rdx, %rcx
	subq	%rdx, %rsp
	shrq	$3, %rcx
	leaq	16(%rbp), %rsi
	movq	%rsp, %rdi
	rep movsq
	jmp	.L\k\()copied

	.ifb \k
	/* tpc_op_trampoline_value, tpc_op_trampoline_reference: */
.Lshort_any:
	keep_used
	jmp	.L\k\()any
.Lshort_compare:
	keep_used
	movl	TPC_HOT_KEY(%rax), %r11d
	jmp	.L\k\()compare
.Lshort_call:
	keep_used
	jmp	.L\k\()call
.Lshort_begin:
	keep_used
	jmp	.L\k\()begin
	.endif

	/* Another hook ran meanwhile: the thread is to know this frame again. */
.L\k\()after_others:
	movq	8(%rbp), %rcx
	movq	%rbp, TPC_THREAD_BUSY_FRAME(%r10)
	movq	%rcx, TPC_THREAD_BUSY_RETURN(%r10)
	movl	$TPC_LAYOUT_BUSY_RECORD, TPC_THREAD_BUSY(%r10)
.L\k\()end:
	movq	%rax, TPC_KEPT_RAX(%rbp)
	movq	%rdx, TPC_KEPT_RDX(%rbp)
	leaq	-\frame(%rbp), %rsp
	movq	%rbp, %rdi
	movq	%r10, %rsi
	call	tpc_op_end
.L\k\()over:
	movq	TPC_KEPT_RAX(%rbp), %rax
	movq	TPC_KEPT_RDX(%rbp), %rdx
	give_all \k
	leave
	.cfi_remember_state
	.cfi_def_cfa rsp, 8
	ret
	.cfi_restore_state
.L\k\()leave:
	movq	%rax, TPC_KEPT_RAX(%rbp)
	movq	%rdx, TPC_KEPT_RDX(%rbp)
	leaq	-\frame(%rbp), %rsp
	movq	%rbp, %rdi
	call	tpc_op_leave
	jmp	.L\k\()over

	/* It is not recorded: it is as if the caller had called the function itself. */
.L\k\()pass:
	movq	%rax, %r11
	give_arguments_back
	.ifnb \k
	movq	%r11, TPC_KEPT_RDI(%rbp)
	movq	TPC_KEPT_R11(%rbp), %r11
	.endif
	leave
	.cfi_def_cfa rsp, 8
	.ifb \k
	jmp	*%r11
	.else
	jmp	*-16(%rsp)
	.endif
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
	trampoline_any tpc_op_trampoline, tpc_op_copied, tpc_op_copy_many, TPC_FRAME_BYTES
	trampoline_any tpc_op_trampoline_kept, tpc_op_copied_kept, tpc_op_copy_many_kept, TPC_KEPT_FRAME_BYTES, kept_
	.globl	tpc_op_trampoline_end
	.hidden	tpc_op_trampoline_end
tpc_op_trampoline_end:

	/* The gate is closed: nothing is recorded. */
.Lpaused:
	.cfi_startproc
	imulq	$TPC_LAYOUT_FUNCTION, %r11, %r11
	addq	tpc_op_functions(%rip), %r11
	jmp	*TPC_FUNCTION_ADDRESS(%r11)
	.cfi_endproc
.Lkept_paused:
	.cfi_startproc
	imulq	$TPC_LAYOUT_FUNCTION, %r11, %r11
	addq	tpc_op_functions(%rip), %r11
	movq	TPC_FUNCTION_ADDRESS(%r11), %r11
	movq	%r11, -8(%rsp)
	movq	-16(%rsp), %r11
	jmp	*-8(%rsp)
	.cfi_endproc

/*
 * The same for functions of which hooks/ops/hot.h's tpc_hot_is_short() is true: one length tells what a call works on, the
 * first argument, which is `raw` of the hot one; all arguments are in registers. Such a function is given neither %rax nor
 * %r10, there is nothing to copy, and where it is called from is all the same. What is not short goes on above.
 */
	.macro trampoline_short name, reference
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 6
\name:
	enter_frame
	may_fold .Lshort_call, .Lshort_begin, %rax, %rax
	movl	%r11d, %eax
	andl	$TPC_LAYOUT_HOTS - 1, %eax
	shll	$TPC_HOT_SHIFT, %eax
	leaq	TPC_FOLD_HOTS_AT(%r10,%rax), %rax
	orq	TPC_FOLD_SCOPE(%r10), %r11
	cmpq	%r11, TPC_HOT_KEY(%rax)
	jne	.Lshort_begin
	.if \reference
	movl	(%rdi), %r11d
	cmpl	%r11d, TPC_HOT_RAW(%rax)
	.else
	cmpl	%edi, TPC_HOT_RAW(%rax)
	.endif
	jne	.Lshort_compare
	cmpb	$TPC_HOT_SHARE_PLAIN, TPC_HOT_SHARE(%rax)
	jne	.Lshort_any
	decl	TPC_FOLD_UNTIMED(%r10)
	js	.Lshort_any
	pend_untimed %rax
	movl	$0, TPC_THREAD_BUSY(%r10)
	call	*%r11
	returned_to
	find_count
	count_call
	.cfi_endproc
	.size	\name, . - \name
	.endm

	trampoline_short tpc_op_trampoline_value, 0
	trampoline_short tpc_op_trampoline_reference, 1
	.globl	tpc_op_trampolines_end
	.hidden	tpc_op_trampolines_end
tpc_op_trampolines_end:
	.section .note.GNU-stack, "", @progbits
