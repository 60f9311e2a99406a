/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls op|nested|kernel|annotated|static SECONDS [CALLS]: nanoseconds of a call of a function of another object that does
 * nothing: one without a known signature (`nested`: in turns with one that calls it), or one that goes by the name of a
 * BLAS kernel; or of an annotated op; or of a static function, which begins as uftrace -P needs it. For so long, or so many
 * times. Prints {"ns": ..., "best_ns": of the shortest 1000, "calls": ...}.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tprof.h>

void bench_op(int n);
void bench_outer(int n);
void sgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const float *alpha,
	    const float *a, const int *lda, const float *b, const int *ldb, const float *beta, float *c,
	    const int *ldc);

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void op(int i)
{
	bench_op(i);
}

static void nested(int i)
{
	bench_outer(i);
}

static void annotated(int i)
{
	(void)i;
	tprof_op_begin("annotated", "bench");
	tprof_op_end();
}

__attribute__((noinline, noclone, patchable_function_entry(5))) static int bench_static(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 5 + 1;
}

static void in_code(int i)
{
	bench_static(i);
}

static void kernel(int i)
{
	static const int n = 64;
	static const float one = 1;
	static float matrix[64 * 64];

	(void)i;
	sgemm_("N", "N", &n, &n, &n, &one, matrix, &n, matrix, &n, &one, matrix, &n);
}

static const struct {
	const char *name;
	void (*call)(int i);
	int calls; /* at each time */
} kinds[] = {
	{ "op", op, 1 },	  { "kernel", kernel, 1 }, { "nested", nested, 2 }, { "annotated", annotated, 1 },
	{ "static", in_code, 1 },
};

int main(int argc, char **argv)
{
	void (*call)(int i) = NULL;
	int each = 0;
	double start, end, last, best = 1e9;
	uint64_t most, calls = 0;

	for (size_t i = 0; argc >= 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(argv[1], kinds[i].name) == 0) {
			call = kinds[i].call;
			each = kinds[i].calls;
		}
	}
	if (!call) {
		fprintf(stderr, "usage: calls op|nested|kernel|annotated|static SECONDS [CALLS]\n");
		return 2;
	}
	most = argc > 3 ? strtoull(argv[3], NULL, 10) : UINT64_MAX;
	start = last = now();
	end = start + atof(argv[2]) * 1e9;
	do {
		double passed;

		for (int i = 0; i < 1000; i++)
			call(i);
		calls += 1000 * (uint64_t)each;
		passed = now() - last;
		last += passed;
		best = passed / (1000 * each) < best ? passed / (1000 * each) : best;
	} while (calls < most && (argc > 3 || last < end));
	printf("{\"ns\": %.2f, \"best_ns\": %.2f, \"calls\": %lu}\n", (last - start) / (double)calls, best, calls);
	return 0;
}
