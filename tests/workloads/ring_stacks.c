/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_stacks CALLS [THREADS]: each thread allocates and frees CALLS times, below stacks of 40 frames that are drawn at random, so
 * that each is new. All threads live until the last is done.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define DEPTH 40
#define THREADS 64

static _Thread_local uint32_t state;
static long calls;
static pthread_barrier_t done;

static uint32_t draw(void)
{
	state = state * 1103515245u + 12345u;
	return state >> 16;
}

static void go(int depth);

#define WAY(name)                                                                                                      \
	static __attribute__((noinline)) void name(int depth)                                                          \
	{                                                                                                              \
		go(depth);                                                                                             \
		__asm__ volatile("");                                                                                  \
	}
WAY(way0)
WAY(way1)
WAY(way2)
WAY(way3)
WAY(way4)
WAY(way5)
WAY(way6)
WAY(way7)

static __attribute__((noinline)) void go(int depth)
{
	static void (*const ways[])(int) = { way0, way1, way2, way3, way4, way5, way6, way7 };

	if (depth)
		ways[draw() % 8](depth - 1);
	else
		free(malloc(100));
	__asm__ volatile("");
}

static void *run(void *seed)
{
	state = (uint32_t)(uintptr_t)seed;
	for (long i = 0; i < calls; i++)
		go(DEPTH / 2);
	pthread_barrier_wait(&done);
	return NULL;
}

int main(int argc, char **argv)
{
	uintptr_t threads = argc > 2 ? (uintptr_t)atoi(argv[2]) : 1;
	pthread_t started[THREADS];

	calls = argc > 1 ? atol(argv[1]) : 0;
	if (threads > THREADS || pthread_barrier_init(&done, NULL, (unsigned)threads) != 0)
		return 2;
	for (uintptr_t i = 1; i < threads; i++)
		if (pthread_create(&started[i], NULL, run, (void *)(i * 77777 + 1)) != 0)
			return 2;
	run((void *)1);
	for (uintptr_t i = 1; i < threads; i++)
		pthread_join(started[i], NULL);
	return printf("%ld\n", calls) < 0;
}
