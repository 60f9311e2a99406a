/* SPDX-License-Identifier: Apache-2.0 */
/* openmp: allocations in parallel regions, nested functions of gcc's, tasks and a loop's body. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t sink;

static __attribute__((noinline)) uint64_t allocate(uint64_t n)
{
	volatile char *p = malloc(n + 1);
	uint64_t value;

	p[n] = (char)n;
	value = (uint64_t)(unsigned char)p[n];
	free((void *)p);
	return value;
}

static uint64_t tree(int depth)
{
	uint64_t left = 0, right = 0;

	if (depth == 0)
		return allocate(7);
#pragma omp task shared(left)
	left = tree(depth - 1);
#pragma omp task shared(right)
	right = tree(depth - 1);
#pragma omp taskwait
	return left + right + allocate((uint64_t)depth);
}

int main(void)
{
	uint64_t sum = 0;

#pragma omp parallel for reduction(+ : sum) num_threads(3) schedule(dynamic, 10)
	for (int i = 0; i < 2000; i++)
		sum += allocate((uint64_t)i % 100);
#pragma omp parallel num_threads(3)
#pragma omp single
	sum += tree(7);
	sink = sum;
	printf("openmp: %lu\n", sink);
	return 0;
}
