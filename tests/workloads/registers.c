/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registers TIMES: calls libkernels.so's functions, which have names of BLAS's, with a value of its own in each vector
 * register and in each argument, and counts what does not arrive there, or back.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "registers.h"

#define WORDS 14 /* six in registers, the rest on the stack */

uint8_t registers_vectors[8][16]; /* what the functions shall get in xmm0 to xmm7 ... */
uint64_t registers_arguments[WORDS];
unsigned registers_count; /* of those */
uint64_t registers_wrong; /* ... and what they did not */
uint8_t registers_back[2][16];

/* Calls it with all of these; returns what it returned in rax. Its frame is what any compiler makes. */
uint64_t call_with(void (*kernel)(void));
__asm__(".text\n"
	".type call_with, @function\n"
	"call_with:\n"
	".cfi_startproc\n"
	"	pushq %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset rbp, -16\n"
	"	movq %rsp, %rbp\n"
	".cfi_def_cfa_register rbp\n"
	"	movq %rdi, %r11\n"
	"	leaq registers_arguments(%rip), %r10\n"
	"	.set at, 14\n"
	"	.rept 8\n"
	"	.set at, at - 1\n"
	"	pushq at * 8(%r10)\n"
	"	.endr\n"
	"	movq (%r10), %rdi\n"
	"	movq 8(%r10), %rsi\n"
	"	movq 16(%r10), %rdx\n"
	"	movq 24(%r10), %rcx\n"
	"	movq 32(%r10), %r8\n"
	"	movq 40(%r10), %r9\n"
	"	leaq registers_vectors(%rip), %r10\n"
	"	movdqu (%r10), %xmm0\n"
	"	movdqu 16(%r10), %xmm1\n"
	"	movdqu 32(%r10), %xmm2\n"
	"	movdqu 48(%r10), %xmm3\n"
	"	movdqu 64(%r10), %xmm4\n"
	"	movdqu 80(%r10), %xmm5\n"
	"	movdqu 96(%r10), %xmm6\n"
	"	movdqu 112(%r10), %xmm7\n"
	"	call *%r11\n"
	"	leaq registers_back(%rip), %r10\n"
	"	movdqu %xmm0, (%r10)\n"
	"	movdqu %xmm1, 16(%r10)\n"
	"	leave\n"
	".cfi_def_cfa rsp, 8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size call_with, . - call_with\n");

static int one = 1, four = 4;
static char no = 'N';
static float number = 0.5f;
static float memory[64];

#define AT(pointer) ((uint64_t)(uintptr_t)(pointer))

static const struct {
	void (*kernel)(void);
	unsigned count;
	uint64_t arguments[WORDS];
} kernels[] = {
	{ cblas_saxpy, 5, { 4, AT(memory), 1, AT(memory), 1 } },
	{ cblas_sdot, 5, { 4, AT(memory), 1, AT(memory), 1 } },
	{ cblas_sgemv, 10, { 101, 111, 4, 4, AT(memory), 4, AT(memory), 1, AT(memory), 1 } },
	{ cblas_sgemm, 12, { 101, 111, 111, 4, 4, 4, AT(memory), 4, AT(memory), 4, AT(memory), 4 } },
	{ saxpy_, 6, { AT(&four), AT(&number), AT(memory), AT(&one), AT(memory), AT(&one) } },
	{ sgemm_,
	  13,
	  { AT(&no), AT(&no), AT(&four), AT(&four), AT(&four), AT(&number), AT(memory), AT(&four), AT(memory),
	    AT(&four), AT(&number), AT(memory), AT(&four) } },
	{ sgesv_, 8, { AT(&four), AT(&one), AT(memory), AT(&four), AT(memory), AT(memory), AT(&four), AT(&one) } },
};

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 10;
	unsigned back = 0;

	for (unsigned k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
		registers_count = kernels[k].count;
		memcpy(registers_arguments, kernels[k].arguments, sizeof(registers_arguments));
		for (int i = 0; i < times; i++) {
			memset(registers_vectors, i & 0x7f, sizeof(registers_vectors));
			registers_vectors[i % 8][i % 16] ^= 0xff;
			back += call_with(kernels[k].kernel) != REGISTERS_RESULT ||
				memcmp(registers_back[0], registers_vectors[7], 16) != 0 ||
				memcmp(registers_back[1], registers_vectors[6], 16) != 0;
		}
	}
	printf("registers: %u wrong there, %u wrong back\n", (unsigned)registers_wrong, back);
	return 0;
}
