// SPDX-License-Identifier: Apache-2.0
/*
 * code_kept TIMES: a function that changes %rax alone, and a caller that knows it, as gcc's -fipa-ra lets callers within a file
 * do: its values stay in the other registers, those of vectors and masks too. Prints how many were changed: none.
 */
#include <cpuid.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GENERAL = 14, VECTORS = 16 };

static struct {
	uint64_t before[GENERAL], after[GENERAL]; /* rcx rdx rbx rsi rdi r8 to r15 rbp */
	uint64_t vectors_before[VECTORS][2], vectors_after[VECTORS][2];
} registers __attribute__((used, aligned(16)));

/* It moves these from line to line each time. */
/* clang-format off */
#define EACH_GENERAL(X) \
	X(rcx, 0) X(rdx, 8) X(rbx, 16) X(rsi, 24) X(rdi, 32) X(r8, 40) X(r9, 48) \
	X(r10, 56) X(r11, 64) X(r12, 72) X(r13, 80) X(r14, 88) X(r15, 96) X(rbp, 104)
#define EACH_VECTOR(X) \
	X(0, 224) X(1, 240) X(2, 256) X(3, 272) X(4, 288) X(5, 304) X(6, 320) \
	X(7, 336) X(8, 352) X(9, 368) X(10, 384) X(11, 400) X(12, 416) X(13, 432) \
	X(14, 448) X(15, 464)
/* clang-format on */
#define LOAD(name, at) "movq registers+" #at "(%rip), %" #name "\n\t"
#define STORE(name, at) "movq %" #name ", registers+112+" #at "(%rip)\n\t"
#define LOAD_VECTOR(i, at) "movdqa registers+" #at "(%rip), %xmm" #i "\n\t"
#define STORE_VECTOR(i, at) "movdqa %xmm" #i ", registers+256+" #at "(%rip)\n\t"

__asm__(".text\n\t.type kept_leaf, @function\nkept_leaf:\n\t.cfi_startproc\n\t"
	"movl kept_value(%rip), %eax\n\tincl %eax\n\tmovl %eax, kept_value(%rip)\n\tret\n\t.cfi_endproc\n\t.size "
	"kept_leaf, . - kept_leaf\n\t"
	".type kept_caller, @function\nkept_caller:\n\t.cfi_startproc\n\t"
	"pushq %rbp\n\t.cfi_def_cfa_offset 16\n\tpushq %rbx\n\t.cfi_def_cfa_offset 24\n\tpushq "
	"%r12\n\t.cfi_def_cfa_offset 32\n\t"
	"pushq %r13\n\t.cfi_def_cfa_offset 40\n\tpushq %r14\n\t.cfi_def_cfa_offset 48\n\tpushq "
	"%r15\n\t.cfi_def_cfa_offset 56\n\t"
	"subq $16, %rsp\n\t.cfi_def_cfa_offset 72\n\t" /* %rsp is no multiple of 16 at the call: the function does not need it */
	EACH_GENERAL(LOAD) EACH_VECTOR(LOAD_VECTOR) "call kept_leaf\n\t" EACH_GENERAL(STORE)
		EACH_VECTOR(STORE_VECTOR) "addq $16, %rsp\n\t.cfi_def_cfa_offset 56\n\tpopq "
					  "%r15\n\t.cfi_def_cfa_offset 48\n\tpopq %r14\n\t.cfi_def_cfa_offset 40\n\t"
					  "popq %r13\n\t.cfi_def_cfa_offset 32\n\tpopq %r12\n\t.cfi_def_cfa_offset "
					  "24\n\tpopq %rbx\n\t.cfi_def_cfa_offset 16\n\t"
					  "popq %rbp\n\t.cfi_def_cfa_offset 8\n\tret\n\t.cfi_endproc\n\t.size "
					  "kept_caller, . - kept_caller\n\t"
					  ".local kept_value\n\t.comm kept_value, 4, 4");

extern int kept_caller(void);

int main(int count, char **arguments)
{
	long times = count > 1 ? atol(arguments[1]) : 10, changed = 0, results = 0;
	uint64_t draw = 1;

	for (long i = 0; i < times; i++) {
		for (int k = 0; k < GENERAL; k++)
			registers.before[k] = draw = draw * 6364136223846793005UL + 1442695040888963407UL;
		for (int k = 0; k < VECTORS; k++)
			registers.vectors_before[k][0] = registers.vectors_before[k][1] = draw + (uint64_t)k;
		results += kept_caller();
		for (int k = 0; k < GENERAL; k++)
			changed += registers.before[k] != registers.after[k];
		changed +=
			memcmp(registers.vectors_before, registers.vectors_after, sizeof(registers.vectors_after)) != 0;
	}
	printf("%ld calls, %ld registers changed, results %ld\n", times, changed, results);
	return changed != 0;
}
