/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What known programs reach on this machine: OpenBLAS's gemm for the multiply-adds, its ddot for reading from the last cache and
 * from memory, and for the memory the triad of STREAM (McCalpin 1995), of which an element loads 24 bytes: two vectors, and the
 * third before it is written.
 *
 * reached [THREADS]: of OpenBLAS; the triad has one. Prints the best of many short runs, GFLOP/s and GB/s, as JSON.
 */
#define _GNU_SOURCE
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "machine/machine.h"

/* Under load no long run is left alone: each of these takes some milliseconds. */
enum { N = 768, WINDOW = 512 << 10, RUNS = 160, CACHED = 512 << 10 };

/* Of each vector: two are four times the last cache, or what is left of them would be read from it. */
static size_t elements;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

typedef void kernel(double *a, double *b, double *c);

/* Of RUNS, each a `step` behind the one before: they go round all elements, or the same would stay in the last cache. */
static double best(kernel *run, double *a, double *b, double *c, double work, size_t step)
{
	double most = 0;
	size_t at = 0;

	for (size_t i = 0; i < RUNS; i++) {
		double begin = now(), took;

		run(a + at, b + at, c + at);
		took = now() - begin;
		most = work / took > most ? work / took : most;
		at = step && at + 2 * step <= elements ? at + step : 0;
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

static void triad(double *a, double *b, double *c)
{
	for (int i = 0; i < WINDOW; i++)
		a[i] = b[i] + 3.0 * c[i];
	__asm__ volatile("" ::: "memory");
}

static volatile double product;

static void ddot(double *a, double *b, double *c)
{
	(void)c;
	product = cblas_ddot(WINDOW, a, 1, b, 1);
}

/* Twice CACHED are read: 8 MiB, or what is a quarter of a smaller last cache. */
static int cached = CACHED;

static void cached_ddot(double *a, double *b, double *c)
{
	(void)c;
	for (int i = 0; i < 8; i++)
		product = cblas_ddot(cached, a, 1, b, 1);
}

int main(int argc, char **argv)
{
	const double work = 2.0 * N * N * N;
	struct tpa_machine machine;
	double *a, *b, *c;

	tpa_machine_identify(&machine);
	elements = machine.cache_bytes[TPA_LEVEL_L3] / 4;
	elements = elements > 4 * WINDOW ? elements : 4 * WINDOW;
	if (machine.cache_bytes[TPA_LEVEL_L3] / 64 < CACHED)
		cached = (int)(machine.cache_bytes[TPA_LEVEL_L3] / 64);
	a = calloc(elements, 8), b = calloc(elements, 8), c = calloc(elements, 8);
	if (!a || !b || !c)
		return 1;
	for (size_t i = 0; i < elements; i += 512) /* all pages are there */
		a[i] = b[i] = c[i] = 1;
	openblas_set_num_threads(argc > 1 ? atoi(argv[1]) : 1);
	/* Memory first: what the others leave in the last cache would be read from there. */
	printf("{\"triad\": %.2f, ", best(triad, a, b, c, 24.0 * WINDOW, WINDOW));
	printf("\"ddot\": %.2f, ", best(ddot, a, b, c, 16.0 * WINDOW, WINDOW));
	printf("\"dgemm\": %.2f, ", best(dgemm, a, b, c, work, 0));
	printf("\"sgemm\": %.2f, ", best(sgemm, a, b, c, work, 0));
	printf("\"ddot_cached\": %.2f}\n", best(cached_ddot, a, b, c, 8 * 16.0 * cached, 0));
	free(a);
	free(b);
	free(c);
	return 0;
}
