/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segments DEPTH: built with -fsplit-stack. Four threads go DEPTH calls down, and each call takes a new segment of stack. The frames
 * differ in size, so that what is left of a segment does. Each fourth call allocates. Prints how often and how much.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4

struct totals {
	unsigned long allocations, bytes;
};

typedef void down(unsigned int depth, struct totals *totals);

static down *const downs[16];
static unsigned int deepest;

static __attribute__((noinline)) void go_on(unsigned int depth, struct totals *totals, volatile char *frame)
{
	void *block = NULL;

	frame[0] = 1;
	if (depth % 4 == 0) {
		block = malloc(depth);
		totals->allocations++;
		totals->bytes += depth;
	}
	for (int i = 0; i < 3000; i++) /* time for samples to come */
		frame[1]++;
	if (depth < deepest)
		downs[depth % 16](depth + 1, totals);
	free(block);
}

#define DOWN(n)                                                                                                        \
	static __attribute__((noinline)) void down_##n(unsigned int depth, struct totals *totals)                      \
	{                                                                                                              \
		volatile char frame[11900 + 64 * (n)];                                                                 \
                                                                                                                       \
		go_on(depth, totals, frame);                                                                           \
		frame[0] = 0;                                                                                          \
	}

DOWN(0)
DOWN(1)
DOWN(2)
DOWN(3)
DOWN(4)
DOWN(5)
DOWN(6)
DOWN(7)
DOWN(8)
DOWN(9)
DOWN(10)
DOWN(11)
DOWN(12)
DOWN(13)
DOWN(14)
DOWN(15)

static down *const downs[16] = { down_0, down_1, down_2,  down_3,  down_4,  down_5,  down_6,  down_7,
				 down_8, down_9, down_10, down_11, down_12, down_13, down_14, down_15 };

static void *run(void *totals)
{
	downs[0](1, totals);
	return NULL;
}

int main(int argc, char **argv)
{
	struct totals totals[THREADS] = { 0 }, all = { 0 };
	pthread_t threads[THREADS];

	deepest = argc > 1 ? (unsigned int)atoi(argv[1]) : 100;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, &totals[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		all.allocations += totals[i].allocations;
		all.bytes += totals[i].bytes;
	}
	printf("%lu allocations, %lu bytes\n", all.allocations, all.bytes);
	return 0;
}
