/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tprof-analyze says this machine can do, beside what known programs reach on it in the same run: OpenBLAS's gemm for
 * the multiply-adds, the triad of STREAM (McCalpin 1995; 32 bytes an element with the write's own read) for the memory. On
 * one core; they should come within 10%, and never above.
 */
#define _GNU_SOURCE
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "machine/machine.h"

enum { N = 1536, ELEMENTS = 32 << 20, RUNS = 10 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A program that has the machine to itself is timed by its best run. */
static double best(void (*run)(double *, double *, double *), double *a, double *b, double *c, double work)
{
	double most = 0;

	for (int i = 0; i < RUNS; i++) {
		double begin = now(), took;

		run(a, b, c);
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

static void triad(double *a, double *b, double *c)
{
	for (int i = 0; i < ELEMENTS; i++)
		a[i] = b[i] + 3.0 * c[i];
	__asm__ volatile("" ::: "memory");
}

static void row(const char *what, double ours, double theirs, const char *unit)
{
	printf("%-28s %8.1f %8.1f %s   %.2f\n", what, ours, theirs, unit, theirs / ours);
}

int main(void)
{
	double *a = calloc(ELEMENTS, 8), *b = calloc(ELEMENTS, 8), *c = calloc(ELEMENTS, 8);
	struct tp_machine machine;

	if (!a || !b || !c)
		return 1;
	triad(a, b, c); /* all pages are there */
	triad(b, c, a);
	triad(c, a, b);
	openblas_set_num_threads(1);
	tp_machine_identify(&machine);
	if (!tp_machine_measure(&machine, NULL))
		return 1;
	printf("%-28s %8s %8s\n", "one core", "tprof", "reached");
	row("double: OpenBLAS dgemm", tp_machine_peak(&machine, TP_DOUBLE).one, best(dgemm, a, b, c, 2.0 * N * N * N),
	    "GFLOP/s");
	row("single: OpenBLAS sgemm", tp_machine_peak(&machine, TP_SINGLE).one, best(sgemm, a, b, c, 2.0 * N * N * N),
	    "GFLOP/s");
	row("memory: STREAM triad", machine.bandwidth[TP_LEVEL_MEMORY].one, best(triad, a, b, c, 32.0 * ELEMENTS),
	    "GB/s");
	free(a);
	free(b);
	free(c);
	return 0;
}
