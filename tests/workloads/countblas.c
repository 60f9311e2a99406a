/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcountblas.so: a typed layer between a program and its BLAS. Each function knows its own prototype, counts the call by
 * its name and dimensions, and calls the next library's. At the end the counts go to the file that COUNTS_FILE names, a
 * line each: name, dimensions, calls.
 */
#include "countblas.h"

#define C_GEMM(name, real_t)                                                                                           \
	COUNT(void, name,                                                                                              \
	      (int o, int ta, int tb, int m, int n, int k, real_t alpha, const void *a, int lda, const void *b,        \
	       int ldb, real_t beta, void *c, int ldc),                                                                \
	      (o, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc), "m=%d n=%d k=%d %c%c", m, n, k,               \
	      ta == 111 ? 'N' : 'T', tb == 111 ? 'N' : 'T')
C_GEMM(cblas_sgemm, float)
C_GEMM(cblas_dgemm, double)
C_GEMM(cblas_zgemm, const void *)

#define F_GEMM(name)                                                                                                   \
	COUNT(void, name,                                                                                              \
	      (const char *ta, const char *tb, const int *m, const int *n, const int *k, const void *alpha,            \
	       const void *a, const int *lda, const void *b, const int *ldb, const void *beta, void *c,                \
	       const int *ldc),                                                                                        \
	      (ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc), "m=%d n=%d k=%d %c%c", *m, *n, *k,               \
	      (*ta | 32) == 'n' ? 'N' : 'T', (*tb | 32) == 'n' ? 'N' : 'T')
F_GEMM(sgemm_)
F_GEMM(dgemm_)

#define C_GEMV(name, real_t)                                                                                           \
	COUNT(void, name,                                                                                              \
	      (int o, int t, int m, int n, real_t alpha, const void *a, int lda, const void *x, int incx, real_t beta, \
	       void *y, int incy),                                                                                     \
	      (o, t, m, n, alpha, a, lda, x, incx, beta, y, incy), "m=%d n=%d%s", m, n, t == 111 ? "" : " T")
C_GEMV(cblas_sgemv, float)
C_GEMV(cblas_dgemv, double)

#define C_TRSM(name, real_t)                                                                                           \
	COUNT(void, name,                                                                                              \
	      (int o, int side, int uplo, int t, int diag, int m, int n, real_t alpha, const void *a, int lda,         \
	       void *b, int ldb),                                                                                      \
	      (o, side, uplo, t, diag, m, n, alpha, a, lda, b, ldb), "m=%d n=%d%s%s", m, n, t == 111 ? "" : " T",      \
	      side == 141 ? "" : " right")
C_TRSM(cblas_strsm, float)
C_TRSM(cblas_dtrsm, double)

COUNT(void, dsyrk_,
      (const char *u, const char *t, const int *n, const int *k, const double *alpha, const double *a, const int *lda,
       const double *beta, double *c, const int *ldc),
      (u, t, n, k, alpha, a, lda, beta, c, ldc), "n=%d k=%d%s", *n, *k, (*t | 32) == 'n' ? "" : " T")
COUNT(void, cblas_dger,
      (int o, int m, int n, double alpha, const double *x, int incx, const double *y, int incy, double *a, int lda),
      (o, m, n, alpha, x, incx, y, incy, a, lda), "m=%d n=%d", m, n)

#define C_AXPY(name, real_t)                                                                                           \
	COUNT(void, name, (int n, real_t alpha, const void *x, int incx, void *y, int incy),                           \
	      (n, alpha, x, incx, y, incy), "n=%d", n)
C_AXPY(cblas_saxpy, float)
C_AXPY(cblas_daxpy, double)
C_AXPY(cblas_zaxpy, const void *)
COUNT(double, ddot_, (const int *n, const double *x, const int *incx, const double *y, const int *incy),
      (n, x, incx, y, incy), "n=%d", *n)
COUNT(float, cblas_sdot, (int n, const float *x, int incx, const float *y, int incy), (n, x, incx, y, incy), "n=%d", n)
COUNT(void, cblas_sscal, (int n, float alpha, float *x, int incx), (n, alpha, x, incx), "n=%d", n)
COUNT(double, cblas_dznrm2, (int n, const void *x, int incx), (n, x, incx), "n=%d", n)
COUNT(size_t, cblas_idamax, (int n, const double *x, int incx), (n, x, incx), "n=%d", n)

COUNT(void, dgesv_,
      (const int *n, const int *rhs, double *a, const int *lda, int *ipiv, double *b, const int *ldb, int *info),
      (n, rhs, a, lda, ipiv, b, ldb, info), "n=%d nrhs=%d", *n, *rhs)
COUNT(void, dpotrf_, (const char *u, const int *n, double *a, const int *lda, int *info), (u, n, a, lda, info), "n=%d",
      *n)
COUNT(void, dgeqrf_,
      (const int *m, const int *n, double *a, const int *lda, double *tau, double *work, const int *lwork, int *info),
      (m, n, a, lda, tau, work, lwork, info), "m=%d n=%d%s", *m, *n, *lwork == -1 ? " (workspace query)" : "")
COUNT(void, dsyevd_,
      (const char *j, const char *u, const int *n, double *a, const int *lda, double *w, double *work, const int *lwork,
       int *iwork, const int *liwork, int *info),
      (j, u, n, a, lda, w, work, lwork, iwork, liwork, info), "n=%d%s", *n, *lwork == -1 ? " (workspace query)" : "")
