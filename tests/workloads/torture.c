/* SPDX-License-Identifier: Apache-2.0 */
/* libtorture.so. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "torture.h"

long double complex torture_x87(long double complex z, long double x)
{
	return z * x + CMPLXL(x, -x);
}

/* The ninth argument is on the stack, which must be as much aligned as it was. */
__attribute__((target("avx512f"))) __m512d torture_zmm(__m512d a, __m512d b, __m512d c, __m512d d, __m512d e, __m512d f,
						       __m512d g, __m512d h, __m512d i)
{
	uintptr_t at = (uintptr_t)&i;

	__asm__ volatile("" : "+r"(at)); /* the compiler knows how it must be aligned */
	if (at % 64)
		abort();
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

/* By their places, so that none can stand for another. */
static unsigned long sum_of(const char *bytes, size_t count)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (i + 1) * (unsigned char)bytes[i];
	return sum;
}

unsigned long torture_huge(int first, struct huge value, struct large other)
{
	return (unsigned long)first + sum_of(value.bytes, sizeof(value.bytes)) +
	       3 * sum_of(other.bytes, sizeof(other.bytes));
}

unsigned long torture_giant(struct giant value)
{
	return sum_of(value.bytes, sizeof(value.bytes));
}

unsigned long torture_large(struct large value, int add)
{
	unsigned long sum = (unsigned long)add + sum_of(value.bytes, sizeof(value.bytes));

	memset(&value, 0x55, sizeof(value)); /* a function owns its arguments */
	__asm__ volatile("" : : "r"(&value) : "memory");
	return sum;
}

void torture_exit(void *result)
{
	pthread_exit(result);
}

/* Cancelled while it waits. */
void torture_wait(int *waiting)
{
	__atomic_store_n(waiting, 1, __ATOMIC_RELEASE);
	for (;;)
		sleep(1);
}

int torture_errno(int value)
{
	errno = value;
	return value;
}

/* MXCSR and the x87 control word, as the callee sees them. */
int torture_flags(void)
{
	unsigned short control;

	__asm__ volatile("fnstcw %0" : "=m"(control));
	return (int)_mm_getcsr() << 16 | control;
}
