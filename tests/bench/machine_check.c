/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tprof-analyze says this machine can do, beside what known programs reach on it in the same run: OpenBLAS's gemm for
 * the multiply-adds, and for the memory the triad of STREAM (McCalpin 1995), of which an element loads 24 bytes: two
 * vectors, and the third before it is written. On one core; they should come within 10%, and never above.
 */
#define _GNU_SOURCE
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "machine/machine.h"

/*
 * Under load no long run is left alone: each of these takes some milliseconds, there are many, in alternation with the
 * measuring, and of each the best counts, as tprof's own are the best of many.
 */
enum { N = 768, WINDOW = 512 << 10, RUNS = 160, ROUNDS = 4 };

/* Of each vector of the triad: all three are four times the last cache, or what is left of them would be read from it. */
static size_t elements;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

typedef void kernel(double *a, double *b, double *c);

/* In GFLOP/s or GB/s, or what was best before. */
static double best(kernel *run, double *a, double *b, double *c, double work, double most, size_t step)
{
	static size_t at; /* goes round all of them, or the same parts would stay in the last cache */

	for (size_t i = 0; i < RUNS; i++) {
		double begin, took;

		at = step && at + 2 * step <= elements ? at + step : 0;
		begin = now();
		run(a + at, b + at, c + at);
		took = now() - begin;
		most = work / took > most ? work / took : most;
	}
	return most;
}

static void dgemm(double *a, double *b, double *c)
{
	cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1, a, N, b, N, 0, c, N);
}

static void sgemm(double *a, double *b, double *c)
{
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1, (float *)a, N, (float *)b, N, 0, (float *)c,
		    N);
}

/* Part of the vectors: the next part each time, so that none is in a cache when its turn comes again. */
static void triad(double *a, double *b, double *c)
{
	for (int i = 0; i < WINDOW; i++)
		a[i] = b[i] + 3.0 * c[i];
	__asm__ volatile("" ::: "memory");
}

static void row(const char *what, double ours, double theirs, const char *unit)
{
	printf("%-28s %8.1f %8.1f %s   %.2f\n", what, ours, theirs, unit, theirs / ours);
}

int main(void)
{
	double *a, *b, *c;
	double peak[TP_PRECISIONS] = { 0 }, reached[TP_PRECISIONS] = { 0 }, memory = 0, streamed = 0;
	struct tp_machine machine;

	tp_machine_identify(&machine);
	elements = (size_t)larger(4.0 * (double)machine.cache_bytes[TP_LEVEL_L3] / 3 / 8, 4 * WINDOW);
	a = calloc(elements, 8), b = calloc(elements, 8), c = calloc(elements, 8);
	if (!a || !b || !c)
		return 1;
	for (size_t i = 0; i < elements; i += 512) /* all pages are there */
		a[i] = b[i] = c[i] = 1;
	openblas_set_num_threads(1);
	for (int round = 0; round < ROUNDS; round++) {
		tp_machine_identify(&machine);
		if (!tp_machine_measure(&machine, NULL))
			return 1;
		peak[TP_DOUBLE] = larger(peak[TP_DOUBLE], tp_machine_peak(&machine, TP_DOUBLE).one);
		peak[TP_SINGLE] = larger(peak[TP_SINGLE], tp_machine_peak(&machine, TP_SINGLE).one);
		memory = larger(memory, machine.bandwidth[TP_LEVEL_MEMORY].one);
		reached[TP_DOUBLE] = best(dgemm, a, b, c, 2.0 * N * N * N, reached[TP_DOUBLE], 0);
		reached[TP_SINGLE] = best(sgemm, a, b, c, 2.0 * N * N * N, reached[TP_SINGLE], 0);
		streamed = best(triad, a, b, c, 24.0 * WINDOW, streamed, WINDOW);
	}
	printf("%-28s %8s %8s\n", "one core, best of all", "tprof", "reached");
	row("double: OpenBLAS dgemm", peak[TP_DOUBLE], reached[TP_DOUBLE], "GFLOP/s");
	row("single: OpenBLAS sgemm", peak[TP_SINGLE], reached[TP_SINGLE], "GFLOP/s");
	row("memory: STREAM triad's loads", memory, streamed, "GB/s");
	free(a);
	free(b);
	free(c);
	return 0;
}
