/* SPDX-License-Identifier: Apache-2.0 */
/* libkernels.so: see registers.h. What the caller put where is in its registers_vectors and registers_arguments. */
#include "registers.h"

/*
 * Counts what is not as it was put: xmm0 to xmm7, six arguments in registers, and as many on the stack as there are. Returns xmm7 and xmm6, and
 * a value in rax.
 */
__asm__(".macro same_vector index\n"
	"	movdqu \\index * 16(%r10), %xmm8\n"
	"	pcmpeqb %xmm\\index, %xmm8\n"
	"	pmovmskb %xmm8, %eax\n"
	"	cmpl $0xffff, %eax\n"
	"	je 1f\n"
	"	incq (%r11)\n"
	"1:\n"
	".endm\n"
	".macro same_word index, where\n"
	"	movq \\where, %rax\n"
	"	cmpq \\index * 8(%r10), %rax\n"
	"	je 1f\n"
	"	incq (%r11)\n"
	"1:\n"
	".endm\n"
	".text\n"
	"look:\n"
	".cfi_startproc\n"
	"	movq registers_wrong@GOTPCREL(%rip), %r11\n"
	"	movq registers_vectors@GOTPCREL(%rip), %r10\n"
	"	.irp index, 0, 1, 2, 3, 4, 5, 6, 7\n"
	"	same_vector \\index\n"
	"	.endr\n"
	"	movq registers_arguments@GOTPCREL(%rip), %r10\n"
	"	same_word 0, %rdi\n"
	"	same_word 1, %rsi\n"
	"	same_word 2, %rdx\n"
	"	same_word 3, %rcx\n"
	"	same_word 4, %r8\n"
	"	same_word 5, %r9\n"
	"	movq registers_count@GOTPCREL(%rip), %rdi\n"
	"	movl (%rdi), %edi\n"
	"	.irp index, 6, 7, 8, 9, 10, 11, 12, 13\n"
	"	cmpl $\\index, %edi\n"
	"	jbe 2f\n"
	"	same_word \\index, \"((\\index - 5) * 8)(%rsp)\"\n"
	"	.endr\n"
	"2:\n"
	"	movdqa %xmm7, %xmm0\n"
	"	movdqa %xmm6, %xmm1\n"
	"	movabsq $0x123456789abcdef, %rax\n"
	"	ret\n"
	".cfi_endproc\n");

#define KERNEL(name)                                                                                                   \
	__asm__(".globl " #name "\n.type " #name ", @function\n" #name ":\n.cfi_startproc\n\tendbr64\n\tjmp look\n"    \
		".cfi_endproc\n.size " #name ", . - " #name "\n")

KERNEL(cblas_saxpy);
KERNEL(cblas_sdot);
KERNEL(cblas_sgemv);
KERNEL(cblas_sgemm);
KERNEL(saxpy_);
KERNEL(sgemm_);
KERNEL(sgesv_);
