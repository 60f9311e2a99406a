/* SPDX-License-Identifier: Apache-2.0 */
/*
 * void *dlopen(const char *file, int flags);
 * void *dlmopen(long space, const char *file, int flags);
 * void *dlsym(void *handle, const char *name);
 * void *dlvsym(void *handle, const char *name, const char *version);
 * int prctl(int option, ...);
 * long syscall(long number, ...);
 *
 * Each looks at its arguments and jumps on with all of them. The loader must see the program's own return address: where
 * relative names are searched, and what RTLD_NEXT is next to, depend on it. The other two take as many arguments as they
 * please. Where the answer is known already (%rax 0, and it is in %rdx), that is given. `asker`: it is told that return address
 * too, behind two arguments.
 */
	.macro	pass_on name, before, answers=0, asker=0
	.text
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	endbr64
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	pushq	%r8
	.cfi_adjust_cfa_offset 8
	pushq	%r9
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	.if \asker
	movq	56(%rsp), %rdx
	.endif
	call	\before
	.if \answers
	movq	%rdx, %r11
	.endif
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%r9
	.cfi_adjust_cfa_offset -8
	popq	%r8
	.cfi_adjust_cfa_offset -8
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	.if \answers
	testq	%rax, %rax
	jz	1f
	.endif
	jmp	*%rax
	.if \answers
1:	movq	%r11, %rax
	ret
	.endif
	.cfi_endproc
	.size	\name, . - \name
	.endm

	pass_on	dlopen, tpc_before_dlopen, 1, 1
	pass_on	dlmopen, tpc_before_dlmopen
	pass_on	dlsym, tpc_before_dlsym, 1
	pass_on	dlvsym, tpc_before_dlvsym, 1
	pass_on	prctl, tpc_before_prctl
	pass_on	syscall, tpc_before_syscall, 1
	.section .note.GNU-stack, "", @progbits
