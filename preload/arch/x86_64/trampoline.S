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
 *  -112..-88   32 bytes for the hook, as long as the call lasts (TP_OP_SPACE); before that, the function's index
 *
 * Calls that are folded (core/fold.h) are counted here; all others go to call.c, and each as soon as it is seen to be none
 * of them. Between a store of TP_LAYOUT_BUSY_RECORD and of 0 to TP_THREAD_BUSY no signal's handler records anything.
 */
#include "arch/x86_64/trampoline_parts.inc"

	.text
	.globl	tp_op_trampoline, tp_op_copied, tp_op_copy_many
	.hidden	tp_op_trampoline, tp_op_copied, tp_op_copy_many
	.type	tp_op_trampoline, @function
	.p2align 6
tp_op_trampoline:
	enter_frame
	keep_used
	may_fold .Lcall, .Lbegin, %rax, %rcx
	/* and such a call, from there, within that op, was made before: struct tp_fold_hot. */
	leal	(%r11,%rcx), %eax
	andl	$TP_LAYOUT_HOTS - 1, %eax
	movq	TP_FOLD_FILLED(%r10), %rdx
	btq	%rax, %rdx
	jnc	.Lbegin
	shll	$TP_HOT_SHIFT, %eax
	leaq	TP_FOLD_HOTS_AT(%r10,%rax), %rax
	movq	TP_FOLD_SCOPE(%r10), %rdx
	orq	%r11, %rdx
	cmpq	%rdx, TP_HOT_KEY(%rax)
	jne	.Lbegin
	cmpq	%rcx, TP_HOT_CALLER(%rax)
	jne	.Lbegin
	movl	tp_modules_epoch(%rip), %edx
	cmpl	%edx, TP_HOT_EPOCH(%rax)
	jne	.Lbegin
	movzwl	TP_HOT_TYPED(%rax), %edx
	testl	%edx, %edx
	jne	.Ltyped
	/* It is. Mostly it is one of many of which a share is timed, without stack arguments; */
.Lpending:
	cmpb	$TP_HOT_SHARE_PLAIN, TP_HOT_SHARE(%rax)
	jne	.Lany
	decl	TP_FOLD_UNTIMED(%r10)		/* tp_fold_times() */
	js	.Lany
	pend_untimed %rax
.Lcall_untimed:
	give_registers
	call	*%r11
	returned_to
	find_count
.Lcount:
	count_call

	/* or it is timed. */
.Lany:
	movq	%rax, TP_FOLD_HOT_NOW(%r10)
	movq	%rbp, TP_FOLD_FRAME(%r10)
	movq	$0, TP_THREAD_LIMIT(%r10)
	movzbl	TP_HOT_ALIGN(%rax), %ecx
	subq	%rcx, %rsp
	movq	TP_HOT_FUNCTION(%rax), %r11
	notrack jmp *TP_HOT_COPY(%rax)
	copy_arguments TP_WINDOW_NEAR
tp_op_copied:
	cmpb	$TP_HOT_SHARE_WINDOW, TP_HOT_SHARE(%rax)
	je	.Lshare
.Ltimed:
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	%rax, TP_FOLD_START(%r10)
	give_registers
	call	*%r11
.Lreturned:
	returned_to
	movq	TP_FOLD_HOT_NOW(%r10), %rsi
	movq	TP_HOT_COUNT(%rsi), %rdi
	movq	%rax, %r8
	movq	%rdx, %r9
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	%rax, %rcx
	movq	%r8, %rax
	movq	%r9, %rdx
	cmpb	$0, TP_HOT_SHARE(%rsi)
	jne	.Lend_of_share
	cmpq	TP_HOT_UNTIL(%rsi), %rcx
	ja	.Lend
	subq	TP_FOLD_START(%r10), %rcx
	leaq	-TP_LAYOUT_SHORTEST(%rcx), %r8
	cmpq	$TP_LAYOUT_TICKS - TP_LAYOUT_SHORTEST, %r8
	jae	.Lend
	cmpl	$TP_LAYOUT_CALLS, TP_COUNT_CALLS(%rdi)
	jae	.Lend
	addq	%rcx, TP_COUNT_TICKS(%rdi)
	cmpl	TP_COUNT_MIN(%rdi), %ecx
	jb	.Lshortest
.Lnot_shortest:
	cmpl	TP_COUNT_MAX(%rdi), %ecx
	ja	.Llongest
.Lnot_longest:
	movl	%ecx, %r8d			/* tprof_fold_bucket() */
	bsrl	%ecx, %ecx
	subl	$2, %ecx
	shrl	%cl, %r8d
	leal	(%r8,%rcx,4), %ecx
	incw	TP_COUNT_HISTOGRAM(%rdi,%rcx,2)
	movq	$0, TP_FOLD_START(%r10)
	jmp	.Lcount
	/* tp_fold_end() draws the next one; this one, if it was drawn, ended when those end of which all are timed. */
.Lend_of_share:
	movq	%rcx, TP_FOLD_STOP(%r10)
	jmp	.Lend
.Lshare:
	decl	TP_FOLD_UNTIMED(%r10)
	js	.Ltimed
	jmp	.Lcall_untimed

.Lshortest:
	movl	%ecx, TP_COUNT_MIN(%rdi)
	jmp	.Lnot_shortest
.Llongest:
	movl	%ecx, TP_COUNT_MAX(%rdi)
	jmp	.Lnot_longest

	/* Many stack arguments, of a call that is folded. */
tp_op_copy_many:
	movq	%rsi, TP_KEPT_RSI(%rbp)
	movq	%rdi, TP_KEPT_RDI(%rbp)
	movl	TP_HOT_WINDOW(%rax), %ecx
	subq	%rcx, %rsp
	shrl	$3, %ecx
	leaq	16(%rbp), %rsi
	movq	%rsp, %rdi
	rep movsq
	movq	TP_KEPT_RSI(%rbp), %rsi
	movq	TP_KEPT_RDI(%rbp), %rdi
	jmp	tp_op_copied

	/* Does it work on the same? tp_op_same() reads the arguments. */
.Ltyped:
	testl	$TP_HOT_BY_FIRST, %edx
	jz	.Lcompare
	movq	%rdi, %rcx
	testl	$TP_HOT_BY_REFERENCE, %edx
	jz	.Lfirst
	movl	(%rdi), %ecx
.Lfirst:
	cmpl	%ecx, TP_HOT_RAW(%rax)
	je	.Lpending
.Lcompare:
	keep_arguments
	movq	%rax, TP_KEPT_FUNCTION(%rbp)
	movq	%r11, TP_KEPT_INDEX(%rbp)
	movq	%rbp, %rdi
	movq	%rax, %rsi
	movl	%r11d, %edx
	call	tp_op_same
	movl	%eax, %ecx
	movq	tp_self@gottpoff(%rip), %r10
	movq	%fs:(%r10), %r10
	movq	TP_KEPT_FUNCTION(%rbp), %rax
	movq	TP_KEPT_INDEX(%rbp), %r11
	movq	TP_KEPT_RDI(%rbp), %rdi
	movq	TP_KEPT_RSI(%rbp), %rsi
	movq	TP_KEPT_R8(%rbp), %r8
	movq	TP_KEPT_R9(%rbp), %r9
	testb	%cl, %cl
	jnz	.Lpending

	/* Any other call: of a thread that is recording it, */
.Lbegin:
	keep_arguments
	movl	%r11d, %edi
	movq	%rbp, %rsi
	movq	%r10, %rdx
	call	tp_op_begin		/* -> rax: the function, rdx: bytes of stack arguments, a multiple of 16 */
	jmp	.Lbegun
	/* or not yet, or not at all. */
.Lcall:
	keep_arguments
	movl	%r11d, %edi
	movq	%rbp, %rsi
	call	tp_op_enter		/* -> the same */
.Lbegun:
	cmpq	$-1, %rdx		/* TP_WINDOW_PASS */
	je	.Lpass
	movq	%rax, TP_KEPT_FUNCTION(%rbp)
	testq	%rdx, %rdx		/* mostly there are none */
	jz	.Lcopied
	movl	%edx, %ecx		/* as far from a multiple of 64 as the caller's: vectors are aligned there */
	negl	%ecx
	andl	$63, %ecx
	subq	%rcx, %rsp
	cmpq	$TP_WINDOW_NEAR, %rdx
	ja	.Lmany
	leaq	(%rdx,%rdx,2), %rdx
	shrq	$2, %rdx
	leaq	.Lcopied(%rip), %rcx
	subq	%rdx, %rcx
	notrack jmp *%rcx
	copy_arguments TP_WINDOW_NEAR
.Lcopied:
	give_arguments_back
	call	*TP_KEPT_FUNCTION(%rbp)
	jmp	.Lreturned
.Lmany:
	movq	%rdx, %rcx
	subq	%rdx, %rsp
	shrq	$3, %rcx
	leaq	16(%rbp), %rsi
	movq	%rsp, %rdi
	rep movsq
	jmp	.Lcopied

	/* tp_op_trampoline_value, tp_op_trampoline_reference: */
.Lshort_any:
	keep_used
	jmp	.Lany
.Lshort_compare:
	keep_used
	movl	TP_HOT_KEY(%rax), %r11d
	jmp	.Lcompare
.Lshort_call:
	keep_used
	jmp	.Lcall
.Lshort_begin:
	keep_used
	jmp	.Lbegin

	/* Another hook ran meanwhile: the thread is to know this frame again. */
.Lafter_others:
	movq	8(%rbp), %rcx
	movq	%rbp, TP_THREAD_BUSY_FRAME(%r10)
	movq	%rcx, TP_THREAD_BUSY_RETURN(%r10)
	movl	$TP_LAYOUT_BUSY_RECORD, TP_THREAD_BUSY(%r10)
.Lend:
	movq	%rax, TP_KEPT_RAX(%rbp)
	movq	%rdx, TP_KEPT_RDX(%rbp)
	leaq	-TP_FRAME_BYTES(%rbp), %rsp
	movq	%rbp, %rdi
	movq	%r10, %rsi
	call	tp_op_end
.Lover:
	movq	TP_KEPT_RAX(%rbp), %rax
	movq	TP_KEPT_RDX(%rbp), %rdx
	leave
	.cfi_remember_state
	.cfi_def_cfa rsp, 8
	ret
	.cfi_restore_state
.Lleave:
	movq	%rax, TP_KEPT_RAX(%rbp)
	movq	%rdx, TP_KEPT_RDX(%rbp)
	leaq	-TP_FRAME_BYTES(%rbp), %rsp
	movq	%rbp, %rdi
	call	tp_op_leave
	jmp	.Lover

	/* It is not recorded: it is as if the caller had called the function itself. */
.Lpass:
	movq	%rax, %r11
	give_arguments_back
	leave
	.cfi_def_cfa rsp, 8
	jmp	*%r11
	.cfi_endproc
	.size	tp_op_trampoline, . - tp_op_trampoline
	.globl	tp_op_trampoline_end
	.hidden	tp_op_trampoline_end
tp_op_trampoline_end:

	/* The gate is closed: nothing is recorded. */
.Lpaused:
	.cfi_startproc
	imulq	$TP_LAYOUT_FUNCTION, %r11, %r11
	addq	tp_op_functions(%rip), %r11
	jmp	*TP_FUNCTION_ADDRESS(%r11)
	.cfi_endproc

/*
 * The same for functions of which hooks/ops/hot.h's tp_hot_is_short() is true: one length tells what a call works on, the
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
	andl	$TP_LAYOUT_HOTS - 1, %eax
	shll	$TP_HOT_SHIFT, %eax
	leaq	TP_FOLD_HOTS_AT(%r10,%rax), %rax
	orq	TP_FOLD_SCOPE(%r10), %r11
	cmpq	%r11, TP_HOT_KEY(%rax)
	jne	.Lshort_begin
	.if \reference
	movl	(%rdi), %r11d
	cmpl	%r11d, TP_HOT_RAW(%rax)
	.else
	cmpl	%edi, TP_HOT_RAW(%rax)
	.endif
	jne	.Lshort_compare
	cmpb	$TP_HOT_SHARE_PLAIN, TP_HOT_SHARE(%rax)
	jne	.Lshort_any
	decl	TP_FOLD_UNTIMED(%r10)
	js	.Lshort_any
	pend_untimed %rax
	movl	$0, TP_THREAD_BUSY(%r10)
	call	*%r11
	returned_to
	find_count
	count_call
	.cfi_endproc
	.size	\name, . - \name
	.endm

	trampoline_short tp_op_trampoline_value, 0
	trampoline_short tp_op_trampoline_reference, 1
	.globl	tp_op_trampolines_end
	.hidden	tp_op_trampolines_end
tp_op_trampolines_end:
	.section .note.GNU-stack, "", @progbits
