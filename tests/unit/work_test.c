/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FLOP and bytes of typed kernels, against counts that are made otherwise: the operations of the plain algorithms, counted
 * one by one in loops, and numbers computed by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/stats/histogram.h"
#include "model/stats/stats.h"
#include "work_made.h"

static uint64_t flop_with(struct tpa_work work, uint8_t flags)
{
	work.flags = flags;
	return flop(work);
}

static uint64_t bytes(struct tpa_work work)
{
	struct tpa_work_amount amount = tpa_work_amount(&work);

	assert_true(amount.bytes_known);
	return amount.bytes;
}

static void by_hand(void **state)
{
	(void)state;
	assert_int_equal(flop(WORK(GEMM, F32, 50, 64, 10)), 64000); /* 2 * 50 * 64 * 10 */
	assert_int_equal(bytes(WORK(GEMM, F32, 50, 64, 10)), 4 * (50 * 10 + 10 * 64 + 50 * 64));
	assert_int_equal(flop(WORK(GEMM, C64, 2, 3, 4)), 24 * 8); /* 6 for the product, 2 for the sum */
	assert_int_equal(bytes(WORK(GEMM, C64, 2, 3, 4)), 16 * (8 + 12 + 6));
	assert_int_equal(flop(WORK(MATMUL, F32, 12, 128, 128, 64)), UINT64_C(2) * 12 * 128 * 128 * 64); /* attention */
	assert_int_equal(flop(WORK(GEMV, F64, 100, 50)), 10000);
	assert_int_equal(bytes(WORK(GEMV, F64, 100, 50)), 8 * 5150);
	assert_int_equal(flop(WORK(AXPY, F32, 100)), 200);
	assert_int_equal(bytes(WORK(AXPY, F32, 100)), 1200);
	assert_int_equal(flop(WORK(AXPY, C32, 100)), 800);
	assert_int_equal(flop(WORK(SCAL, C32, 10)), 60);
	assert_int_equal(flop_with(WORK(SCAL, C32, 10), TPROF_WORK_REAL), 20);
	assert_int_equal(flop_with(WORK(ROT, C64, 10), TPROF_WORK_REAL), 120);
	assert_int_equal(flop(WORK(ROT, F64, 10)), 60);
	assert_int_equal(flop(WORK(NRM2, C64, 10)), 40);
	assert_int_equal(flop(WORK(NRM2, F32, 10)), 20);
	assert_int_equal(flop(WORK(ASUM, F32, 10)), 10);
	assert_int_equal(flop(WORK(COPY, F32, 10)), 0);
	assert_int_equal(bytes(WORK(SWAP, F32, 10)), 160);
	assert_int_equal(flop(WORK(DOT, F64, 0)), 0);
	assert_int_equal(flop_with(WORK(GEQRF, F64, 100, 50), TPROF_WORK_QUERY), 0);
}

/* Kind 64, u8, flags 64, 1 16 8 32, s8 and s32: input, weights and result each with their own size. */
static void of_several_types(void **state)
{
	static const uint8_t record[] = {
		64, TPROF_DTYPE_U8, 64, 1, 16, 8, 32, 0x88, 0x80 | (TPROF_DTYPE_S32 << 1), 0
	};
	struct tpa_work work;

	(void)state;
	assert_true(tpa_work_read(&work, record, sizeof(record)));
	assert_int_equal(work.dims, 4);
	assert_int_equal(work.second, TPROF_DTYPE_S8);
	assert_int_equal(work.result, TPROF_DTYPE_S32);
	assert_int_equal(bytes(work), 16 * 32 + 32 * 8 + 4 * 16 * 8);
	assert_int_equal(tpa_work_amount(&work).precision, TPA_INT8);
	work.result = 99; /* of a later version */
	assert_false(tpa_work_amount(&work).bytes_known);
	assert_int_equal(flop(work), 2 * 16 * 8 * 32);
}

/* n = 1000, from the working note's table of the totals: 2/3 n^3 - 1/2 n^2 + 5/6 n and so on. */
static void totals(void **state)
{
	(void)state;
	assert_int_equal(flop(WORK(GETRF, F64, 1000, 1000)), 666167500); /* 2/3 n^3 - 1/2 n^2 + 5/6 n */
	assert_int_equal(flop(WORK(GETRI, F64, 1000)), 1332335000);	 /* 4/3 n^3 - n^2 + 5/3 n */
	assert_int_equal(flop(WORK(POTRF, F64, 1000)), 333833500);	 /* 1/3 n^3 + 1/2 n^2 + 1/6 n */
	assert_int_equal(flop(WORK(POTRI, F64, 1000)), 667167500);	 /* 2/3 n^3 + 1/2 n^2 + 5/6 n */
	assert_int_equal(flop(WORK(TRTRI, F64, 1000)), 333334000);	 /* 1/3 n^3 + 2/3 n */
	assert_int_equal(flop(WORK(GESV, F64, 1000, 3)), 666167500 + 3 * 1999000);
	assert_int_equal(flop(WORK(POSV, F64, 1000, 3)), 333833500 + 3 * 2000000);
	/* 2 m n^2 - 2/3 n^3 + m n + n^2 + 14/3 n */
	assert_int_equal(flop(WORK(GEQRF, F64, 2000, 1000)), 4000000000 - 666666667 + 2000000 + 1000000 + 4667);
	/* 4/3 n^3 + n^2 - 4/3 n */
	assert_int_equal(flop(WORK(ORGQR, F64, 1000, 1000, 1000)), 1333333333 + 1000000 - 1333);
	assert_int_equal(flop(WORK(ORMQR, F64, 1000, 10, 500)), 2 * (2 * 5000000 - 2500000) + 15000);
	/* 4 m n^2 - 4/3 n^3 + 3 n^2 - m n + 25/3 n: of 6 x 3 it is 216 - 36 + 27 - 18 + 25; the same on its side */
	assert_int_equal(flop(WORK(GEBRD, F64, 6, 3)), 214);
	assert_int_equal(flop(WORK(GEBRD, F64, 3, 6)), 214);
	assert_int_equal(flop(WORK(GEBRD, C64, 6, 3)), 6 * (108 - 18 + 18 + 20) + 2 * (108 - 18 + 9 - 18 + 5));
	/* 4/3 n^3 + 7/2 n^2 - 17/6 n - 19: of 6 it is 288 + 126 - 17 - 19 */
	assert_int_equal(flop(WORK(SYTRD, F64, 6)), 378);
	assert_int_equal(flop(WORK(SYTRD, F64, 2)) + flop(WORK(SYTRD, F64, 1)) + flop(WORK(SYTRD, F64, 0)), 0);
	/* 10/3 n^3 - 1/2 n^2 - 11/6 n - 21: of 6 it is 720 - 18 - 11 - 21 */
	assert_int_equal(flop(WORK(GEHRD, F64, 6, 1, 6)), 670);
	assert_int_equal(flop(WORK(GEHRD, F64, 2, 1, 2)) + flop(WORK(GEHRD, F64, 1, 1, 1)), 0);
	assert_int_equal(bytes(WORK(GEHRD, F64, 6, 1, 6)), 8 * 2 * 36);
}

static void more_totals(void **state)
{
	(void)state;
	/* 2 m^2 n - 2/3 m^3 + 2 m n + 17/3 m: of 3 x 6 it is 108 - 18 + 36 + 17; the same of 6 x 3, in other parts */
	assert_int_equal(flop(WORK(GELQF, F64, 3, 6)), 143);
	assert_int_equal(flop(WORK(GELQF, F64, 6, 3)), 143);
	assert_int_equal(flop(WORK(GELQF, C64, 3, 6)), 6 * 91 + 2 * 52);
	assert_int_equal(flop(WORK(GELQF, C64, 6, 3)), 6 * 82 + 2 * 61);
	/* 4 m n k - 2 (m + n) k^2 + 4/3 k^3 - k^2 + 2 m k - k/3, of 3 x 6: 216 - 162 + 36 - 9 + 18 - 1 */
	assert_int_equal(flop(WORK(ORGLQ, F64, 3, 6, 3)), 98);
	assert_int_equal(flop(WORK(ORGLQ, C64, 3, 6, 3)), 6 * 61 + 2 * 37);
	/* 1/3 n^3 + 1/2 n^2 + 19/6 n, of 6: 72 + 18 + 19; 2/3 n^3 + 1/3 n: 144 + 2; a solution 2 n^2 - n: 66 */
	assert_int_equal(flop(WORK(SYTRF, F64, 6)), 109);
	assert_int_equal(flop(WORK(SYTRF, C64, 6)), 6 * 74 + 2 * 35);
	assert_int_equal(flop(WORK(SYTRI, F64, 6)), 146);
	assert_int_equal(flop(WORK(SYSV, F64, 6, 2)), 109 + 2 * 66);
	assert_int_equal(bytes(WORK(SYSV, F64, 6, 2)), 8 * (2 * 21 + 2 * 12));
	/* The factors, k reflections on 2 right-hand sides (2 * 2 k (2 N - k) + 2 * 3 k), and a triangle, 2 * k^2. */
	assert_int_equal(flop(WORK(GELS, F64, 3, 6, 2)), 143 + (4 * 3 * 9 + 18) + 18);
	assert_int_equal(flop(WORK(GELS, F64, 6, 3, 2)), (108 - 18 + 18 + 9 + 14) + (4 * 3 * 9 + 18) + 18);
	assert_int_equal(bytes(WORK(GELS, F64, 3, 6, 2)), 8 * (2 * 18 + 2 * 12));
}

struct counted {
	uint64_t multiplications, additions;
};

/* Gaussian elimination, a column at a time: a reciprocal, the scaling, the rest's update. */
static struct counted lu(int m, int n)
{
	struct counted c = { 0, 0 };

	for (int j = 0; j < m && j < n; j++) {
		c.multiplications++;
		for (int i = j + 1; i < m; i++) {
			c.multiplications++;
			for (int k = j + 1; k < n; k++) {
				c.multiplications++;
				c.additions++;
			}
		}
	}
	return c;
}

static struct counted cholesky(int n)
{
	struct counted c = { 0, 0 };

	for (int j = 0; j < n; j++) {
		c.multiplications++; /* the root */
		for (int i = j + 1; i < n; i++) {
			c.multiplications++;
			for (int k = j + 1; k <= i; k++) {
				c.multiplications++;
				c.additions++;
			}
		}
	}
	return c;
}

static struct counted invert_triangle(int n)
{
	struct counted c = { 0, 0 };

	for (int j = 0; j < n; j++) {
		c.multiplications++; /* the reciprocal */
		for (int i = 0; i < j; i++) {
			c.multiplications += 2; /* the diagonal's, and the scaling */
			for (int k = i + 1; k < j; k++) {
				c.multiplications++;
				c.additions++;
			}
		}
	}
	return c;
}

static struct counted solve_triangle(int n, int rhs)
{
	struct counted c = { 0, 0 };

	for (int r = 0; r < rhs; r++)
		for (int i = 0; i < n; i++) {
			c.multiplications++;
			for (int k = 0; k < i; k++) {
				c.multiplications++;
				c.additions++;
			}
		}
	return c;
}

/* Within the band of k diagonals. */
static struct counted band_cholesky(int n, int band)
{
	struct counted c = { 0, 0 };

	for (int j = 0; j < n; j++) {
		c.multiplications++; /* the root */
		for (int i = j + 1; i < n && i <= j + band; i++) {
			c.multiplications++;
			for (int k = j + 1; k <= i; k++) {
				c.multiplications++;
				c.additions++;
			}
		}
	}
	return c;
}

/* Of a triangle with `band` diagonals beside the main one, by which nothing is divided if it is of ones. */
static void add_band_solve(struct counted *c, int n, int band, bool ones, int rhs)
{
	for (int i = 0; i < n * rhs; i++) {
		c->multiplications += !ones;
		for (int k = i % n; k-- && k >= i % n - band;) {
			c->multiplications++;
			c->additions++;
		}
	}
}

/* Both parts apart: of a complex matrix they weigh differently. */
static void compare(struct tpa_work real, struct counted c)
{
	struct tpa_work complex = real;

	complex.dtype = TPROF_DTYPE_C64;
	assert_int_equal(flop(real), c.multiplications + c.additions);
	assert_int_equal(flop(complex), 6 * c.multiplications + 2 * c.additions);
}

static void loops(void **state)
{
	(void)state;
	for (int m = 0; m <= 9; m++)
		for (int n = 0; n <= 9; n++) {
			uint64_t a = (uint64_t)m, b = (uint64_t)n;
			struct counted right = solve_triangle(n, m);

			compare(WORK(GETRF, F64, a, b), lu(m, n));
			compare(WORK(TRSM, F64, a, b), solve_triangle(m, n));
			compare(WORK(TRTRS, F64, a, b), solve_triangle(m, n));
			assert_int_equal(flop_with(WORK(TRMM, F32, a, b), TPROF_WORK_RIGHT),
					 right.multiplications + right.additions);
		}
	for (int n = 0; n <= 12; n++) {
		compare(WORK(POTRF, F64, (uint64_t)n), cholesky(n));
		compare(WORK(TRTRI, F64, (uint64_t)n), invert_triangle(n));
		compare(WORK(TRSV, F64, (uint64_t)n), solve_triangle(n, 1));
	}
}

/* Elements within the band, counted. */
static uint64_t band(int m, int n, int kl, int ku)
{
	uint64_t count = 0;

	for (int i = 0; i < m; i++)
		for (int j = 0; j < n; j++)
			count += j >= i - kl && j <= i + ku;
	return count;
}

static void bands(void **state)
{
	(void)state;
	for (int m = 1; m <= 7; m++)
		for (int n = 1; n <= 7; n++)
			for (int kl = 0; kl < 9; kl++)
				for (int ku = 0; ku < 9; ku++)
					assert_int_equal(flop(WORK(GBMV, F64, (uint64_t)m, (uint64_t)n, (uint64_t)kl,
								   (uint64_t)ku)),
							 2 * band(m, n, kl, ku));
	for (int n = 1; n <= 8; n++)
		for (int k = 0; k < n; k++) {
			assert_int_equal(flop(WORK(SBMV, F64, (uint64_t)n, (uint64_t)k)), 2 * band(n, n, k, k));
			assert_int_equal(flop(WORK(TBMV, F64, (uint64_t)n, (uint64_t)k)),
					 2 * band(n, n, 0, k) - (uint64_t)n);
		}
}

static void band_solvers(void **state)
{
	(void)state;
	for (uint64_t n = 0; n <= 9; n++)
		for (uint64_t k = 0; k <= 11; k++) {
			struct counted both = { 0, 0 }, lu_both = { 0, 0 };

			compare(WORK(PBTRF, F64, n, k), band_cholesky((int)n, (int)k));
			add_band_solve(&both, (int)n, (int)k, false, 3);
			add_band_solve(&both, (int)n, (int)k, false, 3);
			compare(WORK(PBTRS, F64, n, k, 3), both);
			assert_int_equal(flop(WORK(PBSV, F64, n, k, 3)),
					 flop(WORK(PBTRF, F64, n, k)) + flop(WORK(PBTRS, F64, n, k, 3)));
			add_band_solve(&lu_both, (int)n, (int)k, true, 3);
			add_band_solve(&lu_both, (int)n, (int)k + 2, false, 3);
			compare(WORK(GBTRS, F64, n, k, 2, 3), lu_both);
		}
	assert_int_equal(bytes(WORK(PBTRF, F64, 5, 2)), 8 * 2 * (5 + 4 + 3));
	assert_int_equal(bytes(WORK(PBSV, F64, 5, 2, 3)), 8 * 2 * (5 + 4 + 3 + 15));
	assert_int_equal(bytes(WORK(GBTRS, F64, 5, 1, 1, 3)), 8 * (5 + 4 + 4 + 3 + 2 * 15));
}

static void triangles(void **state)
{
	uint64_t elements = 0;

	(void)state;
	for (int i = 0; i < 7; i++)
		for (int j = 0; j <= i; j++)
			elements++;
	assert_int_equal(flop(WORK(SYRK, F64, 7, 5)), elements * 5 * 2);
	assert_int_equal(flop(WORK(SYR2K, F64, 7, 5)), elements * 5 * 4);
	assert_int_equal(flop(WORK(GEMMT, F64, 7, 5)), elements * 5 * 2);
	assert_int_equal(flop(WORK(SYR, F64, 7)), elements * 2);
	assert_int_equal(flop(WORK(SYR2, F64, 7)), elements * 4);
	assert_int_equal(bytes(WORK(SYMM, F32, 7, 2)), 4 * (elements + 2 * 14));
	assert_int_equal(flop(WORK(SYMM, F32, 7, 2)), 2 * 7 * 7 * 2);
	assert_int_equal(flop_with(WORK(SYMM, F32, 7, 2), TPROF_WORK_RIGHT), 2 * 7 * 2 * 2);
}

/* A convolution, each product of it counted: 2 images, 3 groups, 6 to 9 channels, 5x7 to 3x5 by 3x3. */
static void convolution(void **state)
{
	uint64_t products = 0;

	(void)state;
	for (int image = 0; image < 2; image++)
		for (int oc = 0; oc < 9; oc++)
			for (int at = 0; at < 3 * 5; at++)
				for (int ic = 0; ic < 6 / 3; ic++)
					for (int k = 0; k < 3 * 3; k++)
						products++;
	assert_int_equal(flop(WORK(CONV, F32, 2, 3, 6, 9, 1, 5, 7, 1, 3, 5, 1, 3, 3)), 2 * products);
	assert_int_equal(bytes(WORK(CONV, F32, 2, 3, 6, 9, 1, 5, 7, 1, 3, 5, 1, 3, 3)),
			 4 * (2 * 6 * 35 + 2 * 9 * 15 + 2 * 9 * 9));
	assert_int_equal(flop(WORK(POOL, F32, 2, 3, 1, 8, 8, 1, 4, 4, 1, 2, 2)), 2 * 3 * 16 * 4);
}

/* What both backward passes of a convolution multiply: each weight's gradient, each input's gradient, by loops. */
static void backward(void **state)
{
	uint64_t data = 0, weights = 0;

	(void)state;
	for (int image = 0; image < 2; image++)
		for (int oc = 0; oc < 8; oc++)
			for (int at = 0; at < 4 * 4; at++)
				for (int ic = 0; ic < 3; ic++)
					for (int k = 0; k < 3 * 3; k++) {
						data++;	   /* dx[ic, at + k] += w[oc, ic, k] dy[oc, at] */
						weights++; /* dw[oc, ic, k] += x[ic, at + k] dy[oc, at] */
					}
	assert_int_equal(flop_with(WORK(CONV, F32, 2, 1, 3, 8, 1, 6, 6, 1, 4, 4, 1, 3, 3), TPROF_WORK_BACKWARD),
			 2 * data);
	assert_int_equal(flop_with(WORK(CONV, F32, 2, 1, 3, 8, 1, 6, 6, 1, 4, 4, 1, 3, 3), TPROF_WORK_WEIGHTS),
			 2 * weights);
	assert_int_equal(flop(WORK(NORM, F32, 600, 3)), 8 * 600);
	assert_int_equal(bytes(WORK(NORM, F32, 600, 3)), 4 * (2 * 600 + 2 * 3));
	assert_int_equal(flop_with(WORK(NORM, F32, 600, 3), TPROF_WORK_BACKWARD), 9 * 600);
}

/* Attention of B = 2, H = 3, S = 5, d = 7: scores Q K^T and weighting P V, each 2 B H S^2 d, by loops. */
static void attention(void **state)
{
	uint64_t scores = 0, weighting = 0;

	(void)state;
	for (int head = 0; head < 2 * 3; head++)
		for (int query = 0; query < 5; query++)
			for (int key = 0; key < 5; key++)
				for (int at = 0; at < 7; at++) {
					scores += 2;	/* s[query, key] += q[query, at] k[key, at] */
					weighting += 2; /* o[query, at] += p[query, key] v[key, at] */
				}
	assert_int_equal(scores, 2 * 2 * 3 * 5 * 5 * 7);
	assert_int_equal(flop(WORK(MATMUL, BF16, 2 * 3, 5, 5, 7)), scores);
	assert_int_equal(flop(WORK(MATMUL, BF16, 2 * 3, 5, 7, 5)), weighting);
	assert_int_equal(bytes(WORK(MATMUL, BF16, 2 * 3, 5, 5, 7)), 2 * 6 * (5 * 7 + 7 * 5 + 5 * 5));
}

/* Of exponentials and iterations there is no count; what they move is known where each element is met once. */
static void no_count(void **state)
{
	const struct tpa_work none[] = { WORK(SOFTMAX, F32, 100),    WORK(ACTIVATION, F32, 100, 0),
					 WORK(GESVD, F64, 10, 10),   WORK(GELSD, F64, 10, 10, 1),
					 WORK(SYEV, F64, 10),	     WORK(GEEV, F64, 10),
					 WORK(GEHRD, F64, 10, 3, 9), WORK(GBTRF, F64, 9, 9, 1, 1),
					 WORK(GBSV, F64, 9, 1, 1, 1) };
	struct tpa_work softmax = WORK(SOFTMAX, F32, 100);

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct tpa_work_amount amount = tpa_work_amount(&none[i]);

		assert_false(amount.flop_known);
		assert_int_equal(amount.flop, 0);
		assert_int_equal(amount.bytes_known, i < 2);
	}
	assert_int_equal(bytes(WORK(SOFTMAX, F32, 100)), 800);
	softmax.flags = TPROF_WORK_BACKWARD; /* its result and the gradient are read, a gradient is written */
	assert_int_equal(bytes(softmax), 1200);
	assert_int_equal(flop(WORK(ACTIVATION, F32, 100, 1)), 100); /* relu */
	assert_int_equal(flop(WORK(ACTIVATION, F32, 100, 2)), 200); /* a x + b */
	assert_int_equal(bytes(WORK(ACTIVATION, BF16, 100, 1)), 400);
}

static void precisions(void **state)
{
	static const struct {
		uint8_t dtype;
		enum tpa_precision precision;
	} expected[] = { { TPROF_DTYPE_F32, TPA_SINGLE }, { TPROF_DTYPE_C32, TPA_SINGLE },
			 { TPROF_DTYPE_F64, TPA_DOUBLE }, { TPROF_DTYPE_C64, TPA_DOUBLE },
			 { TPROF_DTYPE_BF16, TPA_BF16 },  { TPROF_DTYPE_F16, TPA_HALF },
			 { TPROF_DTYPE_S8, TPA_INT8 },	  { TPROF_DTYPE_U8, TPA_INT8 },
			 { TPROF_DTYPE_S32, TPA_UNSAID }, { 99, TPA_UNSAID } };

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct tpa_work work = WORK(GEMM, F32, 2, 3, 4);

		work.dtype = expected[i].dtype;
		assert_int_equal(tpa_work_amount(&work).precision, expected[i].precision);
	}
}

/* Many at once are as many one by one. */
static void many(void **state)
{
	struct tpa_histogram *one = calloc(1, sizeof(*one)), *all = calloc(1, sizeof(*all));
	struct tpa_moments each = { 0 }, together = { 0 };

	(void)state;
	assert_true(one && all);
	for (uint64_t value = 10; value < 4000; value = value * 5 / 4) {
		for (uint64_t i = 0; i < value; i++) {
			tpa_histogram_add(one, value);
			tpa_moments_add(&each, (double)value);
		}
		tpa_histogram_add_many(all, value, value);
		tpa_moments_add_many(&together, (double)value, value);
	}
	assert_int_equal(one->count, all->count);
	for (int percent = 0; percent <= 100; percent++)
		assert_int_equal(tpa_histogram_percentile(one, percent / 100.0),
				 tpa_histogram_percentile(all, percent / 100.0));
	assert_int_equal(each.count, together.count);
	assert_true(fabs(each.mean - together.mean) < 1e-9 * each.mean);
	assert_true(fabs(each.squares - together.squares) < 1e-9 * each.squares);
	tpa_histogram_free(one);
	tpa_histogram_free(all);
	free(one);
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_several_types),
		cmocka_unit_test(by_hand),
		cmocka_unit_test(totals),
		cmocka_unit_test(more_totals),
		cmocka_unit_test(band_solvers),
		cmocka_unit_test(loops),
		cmocka_unit_test(bands),
		cmocka_unit_test(triangles),
		cmocka_unit_test(convolution),
		cmocka_unit_test(backward),
		cmocka_unit_test(attention),
		cmocka_unit_test(no_count),
		cmocka_unit_test(precisions),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
