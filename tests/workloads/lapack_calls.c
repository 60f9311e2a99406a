/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lapack_calls TIMES: factorizations, solvers, orthogonal factors and bands of LAPACK in many shapes. Each that takes a
 * workspace is first asked for its size. Prints a sum of what came out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 32, SIZE = 64 * N };

#define IN const int *
#define TEXT const char *

void dgelqf_(IN m, IN n, double *a, IN lda, double *tau, double *work, IN lwork, int *info);
void dgebrd_(IN m, IN n, double *a, IN lda, double *d, double *e, double *tauq, double *taup, double *work, IN lwork,
	     int *info);
void dorglq_(IN m, IN n, IN k, double *a, IN lda, double *tau, double *work, IN lwork, int *info);
void dormlq_(TEXT side, TEXT trans, IN m, IN n, IN k, double *a, IN lda, double *tau, double *c, IN ldc, double *work,
	     IN lwork, int *info);
void dgels_(TEXT trans, IN m, IN n, IN rhs, double *a, IN lda, double *b, IN ldb, double *work, IN lwork, int *info);
void dgesvd_(TEXT u, TEXT vt, IN m, IN n, double *a, IN lda, double *s, double *us, IN ldu, double *vts, IN ldvt,
	     double *work, IN lwork, int *info);
void dsytrf_(TEXT uplo, IN n, double *a, IN lda, int *pivots, double *work, IN lwork, int *info);
void dsytri_(TEXT uplo, IN n, double *a, IN lda, int *pivots, double *work, int *info);
void dsysv_(TEXT uplo, IN n, IN rhs, double *a, IN lda, int *pivots, double *b, IN ldb, double *work, IN lwork,
	    int *info);
void dpbtrf_(TEXT uplo, IN n, IN kd, double *ab, IN ldab, int *info);
void dpbtrs_(TEXT uplo, IN n, IN kd, IN rhs, double *ab, IN ldab, double *b, IN ldb, int *info);
void dpbsv_(TEXT uplo, IN n, IN kd, IN rhs, double *ab, IN ldab, double *b, IN ldb, int *info);
void dgbtrf_(IN m, IN n, IN kl, IN ku, double *ab, IN ldab, int *pivots, int *info);
void dgbtrs_(TEXT trans, IN n, IN kl, IN ku, IN rhs, double *ab, IN ldab, int *pivots, double *b, IN ldb, int *info);
void dgbsv_(IN n, IN kl, IN ku, IN rhs, double *ab, IN ldab, int *pivots, double *b, IN ldb, int *info);

static double a[N * N], b[N * N], c[N * N], tau[4][N], work[SIZE];
static const int ld = N, query = -1, size = SIZE, rhs = 2;
static int pivots[N], info, failures;

static void fill(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			a[i * N + j] = b[i * N + j] = i == j ? 2.0 * N : 1.0 / (1 + i + j);
	failures += info != 0;
}

/* A band stands a diagonal a row: that of the matrix in row `diagonal`. */
static void fill_band(int diagonal)
{
	fill();
	for (int i = 0; i < N * N; i++)
		a[i] = i % N == diagonal ? 2.0 * N : 1;
}

static void orthogonal(int m, int n)
{
	fill();
	dgelqf_(&m, &n, a, &ld, tau[0], work, &query, &info);
	dgelqf_(&m, &n, a, &ld, tau[0], work, &size, &info);
	dormlq_("L", "T", &n, &rhs, &m, a, &ld, tau[0], b, &ld, work, &query, &info);
	dormlq_("R", "N", &rhs, &n, &m, a, &ld, tau[0], b, &ld, work, &size, &info);
	dorglq_(&m, &n, &m, a, &ld, tau[0], work, &query, &info);
	dorglq_(&m, &n, &m, a, &ld, tau[0], work, &size, &info);
	fill();
	dgebrd_(&m, &n, a, &ld, tau[0], tau[1], tau[2], tau[3], work, &query, &info);
	dgebrd_(&m, &n, a, &ld, tau[0], tau[1], tau[2], tau[3], work, &size, &info);
	fill();
	dgesvd_("N", "N", &m, &n, a, &ld, tau[0], c, &ld, c, &ld, work, &query, &info);
	dgesvd_("N", "N", &m, &n, a, &ld, tau[0], c, &ld, c, &ld, work, &size, &info);
	fill();
	dgels_("N", &m, &n, &rhs, a, &ld, b, &ld, work, &query, &info);
	dgels_("N", &m, &n, &rhs, a, &ld, b, &ld, work, &size, &info);
}

static void symmetric(int n)
{
	fill();
	dsytrf_("L", &n, a, &ld, pivots, work, &query, &info);
	dsytrf_("L", &n, a, &ld, pivots, work, &size, &info);
	dsytri_("L", &n, a, &ld, pivots, work, &info);
	fill();
	dsysv_("U", &n, &rhs, a, &ld, pivots, b, &ld, work, &query, &info);
	dsysv_("U", &n, &rhs, a, &ld, pivots, b, &ld, work, &size, &info);
}

static void bands(int n, int kl, int ku)
{
	fill_band(0);
	dpbtrf_("L", &n, &kl, a, &ld, &info);
	dpbtrs_("L", &n, &kl, &rhs, a, &ld, b, &ld, &info);
	fill_band(0);
	dpbsv_("L", &n, &kl, &rhs, a, &ld, b, &ld, &info);
	fill_band(kl + ku);
	dgbtrf_(&n, &n, &kl, &ku, a, &ld, pivots, &info);
	dgbtrs_("N", &n, &kl, &ku, &rhs, a, &ld, pivots, b, &ld, &info);
	dgbtrs_("T", &n, &kl, &ku, &rhs, a, &ld, pivots, b, &ld, &info);
	fill_band(kl + ku);
	dgbsv_(&n, &kl, &ku, &rhs, a, &ld, pivots, b, &ld, &info);
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;
	double sum = 0;

	for (int i = 0; i < times; i++) {
		orthogonal(3 + i % 4, 8 + i % 5);
		sum += b[0] + tau[0][1];
		symmetric(4 + i % 9);
		bands(9 + i % 3, 1 + i % 4, 1 + i % 2);
		sum += b[N + 1];
	}
	printf("lapack_calls: %.6f, %d failed\n", sum, failures);
	return failures != 0;
}
