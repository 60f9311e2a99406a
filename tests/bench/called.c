/* SPDX-License-Identifier: Apache-2.0 */
/* What calls.c calls: functions of another object that do nothing. */

void bench_op(int n);
void bench_outer(int n);

__attribute__((noinline)) void bench_op(int n)
{
	__asm__ volatile("" ::"r"(n));
}

/* One within the other, through the loader's pointer: neither is folded. */
__attribute__((noinline)) void bench_outer(int n)
{
	bench_op(n);
	__asm__ volatile("" ::"r"(n));
}

void sgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const float *alpha,
	    const float *a, const int *lda, const float *b, const int *ldb, const float *beta, float *c,
	    const int *ldc);

/* By its name it is BLAS's (www.netlib.org/blas, SGEMM): its arguments are read, and nothing is computed. */
__attribute__((noinline)) void sgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
				      const float *alpha, const float *a, const int *lda, const float *b,
				      const int *ldb, const float *beta, float *c, const int *ldc)
{
	__asm__ volatile("" ::"r"(ta), "r"(tb), "r"(m), "r"(n), "r"(k), "r"(alpha));
	__asm__ volatile("" ::"r"(a), "r"(lda), "r"(b), "r"(ldb), "r"(beta), "r"(c), "r"(ldc));
}
