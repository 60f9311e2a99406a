/* SPDX-License-Identifier: Apache-2.0 */
/* libtinyblas.so. Increments are 1, matrices row-major; cblas_sgemv calls cblas_sdot through the PLT, once a row. */
#include <stdlib.h>

#include "tinyblas.h"

void cblas_saxpy(int n, float alpha, const float *x, int incx, float *y, int incy)
{
	(void)incx;
	(void)incy;
	for (int i = 0; i < n; i++)
		y[i] += alpha * x[i];
}

void saxpy_(const int *n, const float *alpha, const float *x, const int *incx, float *y, const int *incy)
{
	(void)incx;
	(void)incy;
	for (int i = 0; i < *n; i++)
		y[i] += *alpha * x[i];
}

float cblas_sdot(int n, const float *x, int incx, const float *y, int incy)
{
	float sum = 0;

	(void)incx;
	(void)incy;
	for (int i = 0; i < n; i++)
		sum += x[i] * y[i];
	return sum;
}

void *volatile tiny_kept; /* the last one */
unsigned int tiny_leak_every = TINY_LEAK_EVERY;

void tiny_call(void (*function)(void))
{
	function();
}

void cblas_sscal(int n, float alpha, float *x, int incx)
{
	static unsigned int calls;

	(void)incx;
	if (++calls % tiny_leak_every == 0)
		tiny_kept = malloc(TINY_LEAK_BYTES);
	for (int i = 0; i < n; i++)
		x[i] *= alpha;
}

void cblas_sgemv(int layout, int trans, int m, int n, float alpha, const float *a, int lda, const float *x, int incx,
		 float beta, float *y, int incy)
{
	(void)layout;
	(void)trans;
	for (int i = 0; i < m; i++)
		y[i * incy] = alpha * cblas_sdot(n, a + (long)i * lda, 1, x, incx) + beta * y[i * incy];
}
