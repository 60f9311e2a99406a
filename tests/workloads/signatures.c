/* SPDX-License-Identifier: Apache-2.0 */
/* libsignatures.so: functions of every kind of signature, for hooks that must not know them. */
#include <complex.h>
#include <immintrin.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "signatures.h"

int op_none(void)
{
	return 42;
}

long op_many(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)
{
	long sum = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;

	g = h = i = j = -1; /* a function owns its stack arguments */
	__asm__ volatile("" : : "r"(g), "r"(h), "r"(i), "r"(j) : "memory");
	return sum;
}

double op_doubles(double a, double b, double c, double d, double e, double f, double g, double h, double i)
{
	return a - b + c - d + e - f + g - h + i;
}

struct big op_big(struct big value, int add)
{
	for (int i = 0; i < 24; i++)
		value.n[i] += add;
	return value;
}

struct pair op_pair(int a, double b)
{
	return (struct pair){ a, b };
}

long double op_long_double(long double x)
{
	return x * 1.5L;
}

double complex op_complex(double complex z)
{
	return z * z;
}

int op_varargs(const char *format, ...)
{
	char text[128];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return length + text[0];
}

__attribute__((target("avx2"))) __m256d op_vector(__m256d a, __m256d b)
{
	return _mm256_add_pd(a, _mm256_mul_pd(b, b));
}

static volatile int really = 1; /* so that the compiler does not know that this never returns */

void op_jump(void *buffer, int depth)
{
	if (depth > 0) {
		op_jump(buffer, depth - 1);
		return;
	}
	if (really)
		longjmp(*(jmp_buf *)buffer, 1);
}

int op_recurse(int n)
{
	return n <= 1 ? 1 : n + op_recurse(n - 1);
}

int op_excluded(void)
{
	return 7;
}

int op_variable = 11; /* what is called like an op, and is none */
