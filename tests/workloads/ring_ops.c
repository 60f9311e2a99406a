/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_ops THREADS CALLS BURST PAUSE_US: each thread makes CALLS calls of libtinyblas.so's cblas_sdot, which are so short that
 * they are folded, and sleeps PAUSE_US microseconds after each BURST of them. Each four bursts are an op "bursts". The first
 * thread allocates meanwhile, twice as often as it calls.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tprof.h>
#include <unistd.h>

#include "tinyblas.h"

#define THREADS 64
#define LENGTH 10
#define BURSTS 4

static unsigned long calls, burst;
static unsigned pause_us;

static void *run(void *first)
{
	float x[LENGTH] = { 1 }, y[LENGTH] = { 2 }, sum = 0;

	for (unsigned long i = 1; i <= calls; i++) {
		if (i % (BURSTS * burst) == 1)
			tprof_op_begin("bursts", "");
		sum += cblas_sdot(LENGTH, x, 1, y, 1);
		for (int k = 0; first && k < 2; k++) {
			void *block = malloc(100);

			__asm__ volatile("" ::"r"(block) : "memory"); /* it is not left out */
			free(block);
		}
		if (i % burst == 0)
			usleep(pause_us);
		if (i % (BURSTS * burst) == 0 || i == calls)
			tprof_op_end();
	}
	return sum > 0 ? NULL : first;
}

int main(int argc, char **argv)
{
	int threads = argc > 4 ? atoi(argv[1]) : 0;
	pthread_t started[THREADS];

	if (threads < 1 || threads > THREADS)
		return 2;
	calls = strtoul(argv[2], NULL, 10);
	burst = strtoul(argv[3], NULL, 10);
	pause_us = (unsigned)atoi(argv[4]);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&started[i], NULL, run, i ? NULL : started) != 0)
			return 2;
	for (int i = 0; i < threads; i++)
		pthread_join(started[i], NULL);
	return puts("done") < 0;
}
