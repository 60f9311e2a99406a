/* SPDX-License-Identifier: Apache-2.0 */
/* Calls libsignatures.so's functions TIMES times each and prints what they return: hooked or not, the same. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include "signatures.h"

static int (*const table[])(void) = { op_none, op_excluded }; /* absolute relocations */

static double numbers(int i)
{
	struct big big = { { 0 } };
	struct pair pair = op_pair(i, i / 2.0);
	double complex z = op_complex(CMPLX(i, 1));
	double sum = (double)op_many(i, 2, 3, 4, 5, 6, 7, 8, 9, 10);

	big.n[0] = i;
	big.n[23] = 3 * i;
	big = op_big(big, 5);
	sum += (double)(big.n[0] + big.n[23]) + pair.a + pair.b + creal(z) + cimag(z);
	sum += op_doubles(i, 1, 2, 3, 4, 5, 6, 7, 8.5) + (double)op_long_double(i);
	return sum + op_varargs("%d %s %f %d %d %d %d", i, "text", 1.5, 4, 5, 6, 7) + op_recurse(5);
}

__attribute__((target("avx2"))) static double vectors(int i)
{
	__m256d a = _mm256_set_pd(i, 1, 2, 3), b = _mm256_set_pd(4, 5, 6, i), c = op_vector(a, b);

	return c[0] + 2 * c[1] + 3 * c[2] + 4 * c[3];
}

static int jumps(void)
{
	jmp_buf buffer;

	if (setjmp(buffer) == 0)
		op_jump(buffer, 3);
	return 1;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 10, jumped = 0;
	double sum = 0;

	for (int i = 0; i < times; i++) {
		sum += numbers(i) + table[0]() + table[1]();
		if (__builtin_cpu_supports("avx2"))
			sum += vectors(i);
		jumped += jumps();
	}
	printf("op_calls: %.3f, %d jumps\n", sum, jumped);
	return 0;
}
