/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roofs: kernels that are bound by the one or by the other, each some times, with what they work on said by hand: a triad
 * of long vectors, a product of matrices, gemv of a small and of a large matrix, exp of a vector that a cache holds.
 * Those of BLAS are called plainly: tprof knows their work itself.
 */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>

#include <tprof.h>

enum { LONG = 4 << 20, SQUARE = 256, SMALL = 48, LARGE = 2048, SHORT = 2048, EXP_FLOP = 20 };

static void triad(double *a, const double *b, const double *c)
{
	tprof_op_begin("triad", "kernel");
	tprof_op_detail("4Mi", UINT64_C(2) * LONG, UINT64_C(24) * LONG);
	for (int i = 0; i < LONG; i++)
		a[i] = b[i] + 3.0 * c[i];
	tprof_op_end();
}

/* Polynomial and exponent: about twenty operations an element. */
static void exponents(float *x)
{
	tprof_op_begin("exp", "kernel");
	tprof_op_detail("2Ki", (uint64_t)EXP_FLOP * SHORT, UINT64_C(8) * SHORT);
	for (int i = 0; i < SHORT; i++)
		x[i] = expf(-x[i]);
	tprof_op_end();
}

/* `name` is around the BLAS call, to tell the two apart. */
static void gemv(const char *name, int n, const double *a, const double *x, double *y)
{
	tprof_op_begin(name, "kernel");
	tprof_op_detail("", UINT64_C(2) * (uint64_t)n * (uint64_t)n, UINT64_C(8) * (uint64_t)n * (uint64_t)n);
	for (int i = 0; i < n; i++) {
		double sum = 0;

		for (int j = 0; j < n; j++)
			sum += a[i * n + j] * x[j];
		y[i] = sum;
	}
	tprof_op_end();
}

int main(void)
{
	double *a = calloc(LONG, sizeof(*a)), *b = calloc(LONG, sizeof(*b)), *c = calloc(LONG, sizeof(*c));
	float *x = calloc(SHORT, sizeof(*x));

	if (!a || !b || !c || !x)
		return 1;
	for (int i = 0; i < 5; i++) {
		triad(a, b, c);
		cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SQUARE, SQUARE, SQUARE, 1, a, SQUARE, b, SQUARE,
			    0, c, SQUARE);
		gemv("small gemv", SMALL, a, b, c);
		gemv("large gemv", LARGE, a, b, c);
		exponents(x);
		tprof_step(1);
	}
	free(a);
	free(b);
	free(c);
	free(x);
	return 0;
}
