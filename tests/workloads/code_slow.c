// SPDX-License-Identifier: Apache-2.0
/* code_slow ROUNDS: nearly all its time is in one of the first instructions of a function that only this file calls. */
#include <stdio.h>
#include <stdlib.h>

void slow_fill(char *to, long bytes, long unused, int value);

__asm__(".text\n\t.p2align 4\n\t.type slow_fill, @function\nslow_fill:\n\t.cfi_startproc\n\tmovq %rsi, %rcx\n\trep "
	"stosb\n\t"
	"movl $1, %eax\n\tret\n\t.cfi_endproc\n\t.size slow_fill, . - slow_fill\n");

static __attribute__((noinline)) long fill_all(char *to, long bytes, int rounds)
{
	long sum = 0;

	for (int i = 0; i < rounds; i++) {
		slow_fill(to, bytes, 0, i);
		sum += to[i];
	}
	return sum;
}

int main(int count, char **arguments)
{
	long bytes = 32L << 20;
	char *to = malloc((size_t)bytes);

	printf("%ld\n", fill_all(to, bytes, count > 1 ? atoi(arguments[1]) : 10));
	free(to);
	return 0;
}
