/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads BATCHES: batches of seven short threads, as programs make them that start a thread for each small job. Each
 * allocates and frees, and leaves one block to main, which frees it at the end. The peak is at the last batch's barrier.
 */
#include "truth.h"

#include <pthread.h>

enum { BATCH = 7, MAX_BATCHES = 100, BLOCKS = 20, SIZE = 1000, LEFT = 24 };

static void *left[MAX_BATCHES * BATCH];
static pthread_barrier_t barrier;
static int idle;

static void *work(void *argument)
{
	void *blocks[BLOCKS];

	for (int i = 0; i < BLOCKS && !idle; i++)
		blocks[i] = malloc(SIZE);
	if (!idle)
		*(void **)argument = malloc(LEFT);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < BLOCKS && !idle; i++)
		free(blocks[i]);
	return NULL;
}

static void run_batch(void **slots)
{
	pthread_t threads[BATCH];

	for (int i = 0; i < BATCH; i++)
		if (pthread_create(&threads[i], NULL, work, &slots[i]))
			truth_die("pthread_create");
	for (int i = 0; i < BATCH; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	int batches = argc > 1 ? atoi(argv[1]) : 0;
	struct truth truth = { 0 };
	uint64_t count;

	if (batches < 1 || batches > MAX_BATCHES)
		truth_die("usage: threads BATCHES [idle]");
	idle = argc > 2;
	pthread_barrier_init(&barrier, NULL, BATCH);
	for (int i = 0; i < batches; i++)
		run_batch(left + i * BATCH);
	for (int i = 0; i < batches * BATCH && !idle; i++)
		free(left[i]);
	count = idle ? 0 : (uint64_t)batches * BATCH;
	truth.allocations = truth.frees = count * (BLOCKS + 1);
	truth.bytes = count * (BLOCKS * SIZE + LEFT);
	truth.peak_blocks = idle ? 0 : count + BATCH * BLOCKS;
	truth.peak_bytes = idle ? 0 : count * LEFT + BATCH * BLOCKS * SIZE;
	truth_write(&truth);
	TRUTH_SAY("threads: done\n");
	return 0;
}
