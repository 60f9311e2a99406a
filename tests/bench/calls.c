/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls op|kernel SECONDS: nanoseconds of a call of a function of another object that does nothing: one without a known
 * signature, or one that goes by the name of a BLAS kernel. Prints {"ns": ..., "calls": ...}.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void bench_op(int n);
void sgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const float *alpha,
	    const float *a, const int *lda, const float *b, const int *ldb, const float *beta, float *c,
	    const int *ldc);

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void kernel(void)
{
	static const int n = 64;
	static const float one = 1;
	static float matrix[64 * 64];

	sgemm_("N", "N", &n, &n, &n, &one, matrix, &n, matrix, &n, &one, matrix, &n);
}

int main(int argc, char **argv)
{
	double start, end;
	uint64_t calls = 0;
	int is_kernel;

	if (argc != 3) {
		fprintf(stderr, "usage: calls op|kernel SECONDS\n");
		return 2;
	}
	is_kernel = strcmp(argv[1], "kernel") == 0;
	start = now();
	end = start + atof(argv[2]) * 1e9;
	do {
		for (int i = 0; i < 1000; i++) {
			if (is_kernel)
				kernel();
			else
				bench_op(i);
		}
		calls += 1000;
	} while (now() < end);
	printf("{\"ns\": %.2f, \"calls\": %lu}\n", (now() - start) / (double)calls, calls);
	return 0;
}
