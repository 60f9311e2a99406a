/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gaps SECONDS: four threads that allocate and free, each of which looks at the clock after each block. Prints, for the last
 * two thirds of the time, in milliseconds, the longest gap of any thread, and the longest time in which no thread went on:
 * {"longest": ..., "all": ...}.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS 4

static uint64_t begin, end, last_of_all, longest_of_all, longest[THREADS];

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void note(uint64_t *most, uint64_t gap)
{
	uint64_t before = __atomic_load_n(most, __ATOMIC_RELAXED);

	while (gap > before && !__atomic_compare_exchange_n(most, &before, gap, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void *work(void *argument)
{
	uint64_t *mine = argument, before = now();

	for (uint64_t time = before; time < end; before = time) {
		uint64_t others;

		free(malloc(100));
		time = now();
		others = __atomic_exchange_n(&last_of_all, time, __ATOMIC_RELAXED);
		if (time < begin)
			continue;
		note(mine, time - before);
		if (time > others)
			note(&longest_of_all, time - others);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	pthread_t threads[THREADS];
	uint64_t most = 0;

	begin = now() + (uint64_t)(seconds / 3 * 1e9);
	end = now() + (uint64_t)(seconds * 1e9);
	last_of_all = begin;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &longest[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		most = longest[i] > most ? longest[i] : most;
	printf("{\"longest\": %.3f, \"all\": %.3f}\n", (double)most / 1e6, (double)longest_of_all / 1e6);
	return 0;
}
