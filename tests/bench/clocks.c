/* SPDX-License-Identifier: Apache-2.0 */
/* clocks: what reading the time costs here, in nanoseconds: {"rdtsc": ..., "fenced": ..., "clock_gettime": ...}. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define ROUNDS 2000000

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t fenced_counter(void)
{
	_mm_lfence();
	return __rdtsc();
}

int main(void)
{
	volatile uint64_t sink;
	double start = now(), rdtsc, fenced, monotonic;

	for (int i = 0; i < ROUNDS; i++)
		sink = __rdtsc();
	rdtsc = (now() - start) / ROUNDS;
	start = now();
	for (int i = 0; i < ROUNDS; i++)
		sink = fenced_counter();
	fenced = (now() - start) / ROUNDS;
	start = now();
	for (int i = 0; i < ROUNDS; i++)
		sink = (uint64_t)now();
	monotonic = (now() - start) / ROUNDS;
	(void)sink;
	printf("{\"rdtsc\": %.1f, \"fenced\": %.1f, \"clock_gettime\": %.1f}\n", rdtsc, fenced, monotonic);
	return 0;
}
