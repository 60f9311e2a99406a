/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIGNATURES_H
#define SIGNATURES_H

#include <complex.h>
#include <immintrin.h>

struct big {
	long n[24]; /* 192 bytes: passed on the stack, returned through a pointer */
};

struct pair {
	int a;
	double b;
};

int op_none(void);
long op_many(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j);
double op_doubles(double a, double b, double c, double d, double e, double f, double g, double h, double i);
struct big op_big(struct big value, int add);
struct pair op_pair(int a, double b);
long double op_long_double(long double x);
double complex op_complex(double complex z);
int op_varargs(const char *format, ...);
__m256d op_vector(__m256d a, __m256d b);
void op_jump(void *buffer, int depth);
int op_recurse(int n);
int op_excluded(void);
extern int op_variable;

#endif
