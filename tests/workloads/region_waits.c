/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Built as a library without symbols: two of BLAS' functions that run the same parallel region, of two threads. In the region each
 * thread allocates, and the thread that did not open it works longer, as long as the caller says. How long the opening thread waited
 * is known from outside: at least since its own part was done until the other's was; at most all of the region but its own part.
 */
#include <omp.h>
#include <stdlib.h>
#include <time.h>

double region_waited_least, region_waited_most;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void region(int bytes, double busy_ns)
{
	double begin = now(), own_begin = 0, own_end = 0, other_end = 0;

#pragma omp parallel num_threads(2)
	{
		double start = now();
		void *volatile block = malloc((size_t)bytes);

		free(block);
		if (omp_get_thread_num() == 0) {
			own_begin = start;
			own_end = now();
		} else {
			while (now() < start + busy_ns)
				;
			other_end = now();
		}
	}
	region_waited_least += other_end > own_end ? other_end - own_end : 0;
	region_waited_most += now() - begin - (own_end - own_begin);
}

void cblas_saxpy(int n, float busy_us, const float *x, int incx, float *y, int incy)
{
	(void)x, (void)incx, (void)y, (void)incy;
	region(n, 1e3 * (double)busy_us);
}

void cblas_sscal(int n, float busy_us, float *x, int incx)
{
	(void)x, (void)incx;
	region(n, 1e3 * (double)busy_us);
}
