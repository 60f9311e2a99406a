/* SPDX-License-Identifier: Apache-2.0 */
/* Parallel regions of OpenMP, in static functions. `regions N`: each N times. */
#include <stdio.h>
#include <stdlib.h>

static double sum_squares(int n)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum) num_threads(2)
	for (int i = 0; i < n; i++)
		sum += (double)i * i;
	return sum;
}

static double two_regions(int n)
{
	double sum = 0;
	void *blocks[2] = { NULL, NULL };

#pragma omp parallel num_threads(2)
	{
#pragma omp critical
		blocks[blocks[0] != NULL] = malloc(1000);
	}
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : sum) num_threads(2)
	for (int i = 0; i < n; i++)
		sum += i;
	free(blocks[0]);
	free(blocks[1]);
	return sum;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;
	double sum = 0;

	for (int i = 0; i < times; i++)
		sum += sum_squares(1000) + two_regions(1000);
	printf("%.1f\n", sum);
	return 0;
}
