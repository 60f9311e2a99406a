/* SPDX-License-Identifier: Apache-2.0 */
/* libtinyblas.so: a few routines under their usual names, whose cost is known. */
#ifndef TINYBLAS_H
#define TINYBLAS_H

#define TINY_LEAK_EVERY 1000 /* each so many calls, cblas_sscal allocates TINY_LEAK_BYTES and keeps them */
#define TINY_LEAK_BYTES 64

extern void *volatile tiny_kept;
extern unsigned int tiny_leak_every;

/* Calls it: it may not return. */
void tiny_call(void (*function)(void));

void cblas_saxpy(int n, float alpha, const float *x, int incx, float *y, int incy);
float cblas_sdot(int n, const float *x, int incx, const float *y, int incy);
void cblas_sscal(int n, float alpha, float *x, int incx);
void cblas_sgemv(int layout, int trans, int m, int n, float alpha, const float *a, int lda, const float *x, int incx,
		 float beta, float *y, int incy);
void saxpy_(const int *n, const float *alpha, const float *x, const int *incx, float *y, const int *incy);

#endif
