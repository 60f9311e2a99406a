/* SPDX-License-Identifier: Apache-2.0 */
/* Trains with BLAS, marks no steps, and keeps a block of 48 bytes of each step. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 16, STEPS = 600 };

static void **kept;

static __attribute__((noinline, noclone)) void keep(void)
{
	void **record = malloc(48); /* LEAK */

	*record = kept;
	kept = record;
}

int main(void)
{
	static double weights[N * N], input[N * N], sum[N * N];

	for (int i = 0; i < N * N; i++) {
		weights[i] = i % 7;
		input[i] = i % 5;
	}
	for (int step = 0; step < STEPS; step++) {
		double *output = malloc(sizeof(weights));

		cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1, weights, N, input, N, 0, output, N);
		cblas_daxpy(N * N, 1e-3, output, 1, sum, 1);
		keep();
		free(output);
	}
	printf("%g %d\n", sum[5], kept != NULL);
	return 0;
}
