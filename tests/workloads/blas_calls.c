/* SPDX-License-Identifier: Apache-2.0 */
/* blas_calls TIMES: calls of BLAS and LAPACK in many shapes, by both interfaces; prints a sum of what came out. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64 };

void dsyrk_(const char *u, const char *t, const int *n, const int *k, const double *alpha, const double *a,
	    const int *lda, const double *beta, double *c, const int *ldc);
void sgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const float *alpha,
	    const float *a, const int *lda, const float *b, const int *ldb, const float *beta, float *c,
	    const int *ldc);
double ddot_(const int *n, const double *x, const int *incx, const double *y, const int *incy);
void dgesv_(const int *n, const int *rhs, double *a, const int *lda, int *ipiv, double *b, const int *ldb, int *info);
void dpotrf_(const char *u, const int *n, double *a, const int *lda, int *info);
void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work, const int *lwork,
	     int *info);
void dsyevd_(const char *j, const char *u, const int *n, double *a, const int *lda, double *w, double *work,
	     const int *lwork, int *iwork, const int *liwork, int *info);

static float s[3][N * N];
static double d[4][N * N], z[2][2 * N * N], work[8 * N * N];

static void fill(double *a, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			a[i * N + j] = i == j ? 2.0 * N : 1.0 / (1 + i + j);
}

static void level3(int m, int n, int k)
{
	int ld = N;
	float one = 1, zero = 0;
	double done = 1, alpha[2] = { 1, 0 };

	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1, s[0], N, s[1], N, 0, s[2], N);
	sgemm_("t", "N", &m, &n, &k, &one, s[0], &ld, s[1], &ld, &zero, s[2], &ld);
	cblas_dgemm(CblasColMajor, CblasTrans, CblasTrans, m, n, k, 1, d[0], N, d[1], N, 0, d[2], N);
	cblas_zgemm(CblasRowMajor, CblasNoTrans, CblasConjTrans, m / 2, n / 2, k / 2, alpha, z[0], N, z[0], N, alpha,
		    z[1], N);
	dsyrk_("U", "C", &n, &k, &done, d[0], &ld, &done, d[3], &ld);
	fill(d[0], N);
	cblas_dtrsm(CblasRowMajor, m % 2 ? CblasLeft : CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, m, n, 1,
		    d[0], N, d[1], N);
	cblas_strsm(CblasRowMajor, CblasRight, CblasUpper, CblasTrans, CblasUnit, m, n, 0, s[0], N, s[1], N);
}

static double level12(int m, int n)
{
	int one = 1;
	double alpha[2] = { 0.5, 0.5 }, sum;

	cblas_sgemv(CblasRowMajor, CblasNoTrans, m, n, 1, s[0], N, s[1], 1, 0, s[2], 1);
	cblas_dgemv(CblasColMajor, CblasTrans, m, n, 1, d[0], N, d[1], 1, 0, d[2], 1);
	cblas_dger(CblasRowMajor, m, n, 0.25, d[1], 1, d[2], 1, d[3], N);
	cblas_saxpy(n, 0.5f, s[0], 1, s[1], 1);
	cblas_daxpy(m, 0.5, d[0], 2, d[2], 1);
	cblas_zaxpy(n, alpha, z[0], 1, z[1], 1);
	sum = ddot_(&n, d[1], &one, d[2], &one) + (double)cblas_sdot(m, s[0], 1, s[1], 1);
	cblas_sscal(n, 0.5f, s[2], 1);
	return sum + cblas_dznrm2(n, z[1], 1) + (double)cblas_idamax(m, d[2], 1);
}

static double lapack(int m, int n)
{
	int ld = N, rhs = 3, info, pivots[N], query = -1, size = 8 * N * N, integers[8 * N];
	double tau[N], values[N];

	fill(d[0], n);
	dgesv_(&n, &rhs, d[0], &ld, pivots, d[1], &ld, &info);
	fill(d[0], n);
	dpotrf_("L", &n, d[0], &ld, &info);
	fill(d[0], N);
	dgeqrf_(&m, &n, d[0], &ld, tau, work, &query, &info);
	dgeqrf_(&m, &n, d[0], &ld, tau, work, &size, &info);
	fill(d[0], n);
	query = -1;
	dsyevd_("V", "U", &n, d[0], &ld, values, work, &query, integers, &query, &info);
	query = 8 * N;
	dsyevd_("V", "U", &n, d[0], &ld, values, work, &size, integers, &query, &info);
	return values[0];
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;
	double sum = 0;

	openblas_set_num_threads(1);
	for (int i = 0; i < times; i++) {
		int m = 1 + i % 7, n = 2 + i % 5, k = 3 + i % 11;

		level3(m * 4, n * 8, k * 4);
		sum += level12(m * 3, n * 4);
		sum += lapack(m * 2 + 20,
			      3 * (2 + i % 4)); /* 28 shapes: with the queries no more than a report keeps */
	}
	printf("blas_calls: %.6f\n", sum);
	return 0;
}
