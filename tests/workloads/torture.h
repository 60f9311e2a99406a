/* SPDX-License-Identifier: Apache-2.0 */
/* libtorture.so: what a frame in between must not disturb. */
#ifndef TORTURE_H
#define TORTURE_H

#include <complex.h>
#include <immintrin.h>

struct large {
	char bytes[944]; /* by value: all on the stack */
};
struct huge {
	char bytes[2000];
};
struct giant {
	char bytes[15000]; /* near the most that is passed on */
};

long double complex torture_x87(long double complex z, long double x);
__m512d torture_zmm(__m512d a, __m512d b, __m512d c, __m512d d, __m512d e, __m512d f, __m512d g, __m512d h, __m512d i);
unsigned long torture_large(struct large value, int add);
unsigned long torture_huge(int first, struct huge value, struct large other);
unsigned long torture_giant(struct giant value);
void torture_exit(void *result) __attribute__((noreturn));
void torture_wait(int *waiting);
int torture_errno(int value);
int torture_flags(void);

#endif
