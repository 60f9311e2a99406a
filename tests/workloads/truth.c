/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truth THREADS OPS SEED [OPTIONS]: random calls of every C entry point of malloc, and their exact truth.
 *
 * One thread: the peak is whatever it comes to. More: between two barriers each thread only allocates, until it has
 * more live than it ever has elsewhere (SMALL_LIVE), so that the peak is the sum of what all have at the barrier,
 * whatever the schedule. Behind it each thread first frees what its neighbour allocated for the peak.
 */
#include "blocks.h"

#include <pthread.h>

enum { MAX_THREADS = 64, SLOTS = 200, BIG_BLOCKS = 40, KEPT = 3 };
enum { SMALL_LIVE = 256 * 1024, BIG_LOW = 16 * 1024, BIG_HIGH = 32 * 1024 };
_Static_assert(BIG_BLOCKS *BIG_LOW > 2 * SMALL_LIVE, "a thread's peak must be above what it has elsewhere");

struct worker {
	pthread_t thread;
	int index;
	uint64_t random;
	struct truth truth;
	uint64_t peak_bytes, peak_blocks;
	struct block slots[SLOTS];
	struct block big[BIG_BLOCKS];
};

static struct worker workers[MAX_THREADS];
static pthread_barrier_t barrier;
static int thread_count;
static long ops;

static size_t random_size(uint64_t *random)
{
	switch (truth_between(random, 0, 15)) {
	case 0:
		return 0;
	case 1:
		return truth_between(random, 0, 20000);
	default:
		return truth_between(random, 1, 600);
	}
}

static uint64_t live_of(const struct worker *w)
{
	uint64_t sum = 0;

	for (int i = 0; i < SLOTS; i++)
		sum += w->slots[i].size;
	return sum;
}

static void random_ops(struct worker *w, long count)
{
	uint64_t live = live_of(w);

	for (long i = 0; i < count; i++) {
		struct block *b = &w->slots[truth_between(&w->random, 0, SLOTS - 1)];
		size_t size = random_size(&w->random);

		if (i % 64 == 0)
			block_failures(b);
		live -= b->size;
		if (!b->p && live + size <= SMALL_LIVE)
			block_allocate(b, size, &w->random, &w->truth);
		else if (b->p && live + size <= SMALL_LIVE && truth_random(&w->random) % 3 == 0)
			block_resize(b, size, &w->random, &w->truth);
		else if (b->p)
			block_free(b, &w->random, &w->truth);
		live += b->size;
	}
}

static void grow_to_peak(struct worker *w)
{
	for (int i = 0; i < BIG_BLOCKS; i++) {
		block_allocate(&w->big[i], truth_between(&w->random, BIG_LOW, BIG_HIGH), &w->random, &w->truth);
		if (i % 4 == 0)
			block_resize(&w->big[i], BIG_HIGH, &w->random, &w->truth);
	}
	w->peak_bytes = w->truth.live_bytes;
	w->peak_blocks = w->truth.live_blocks;
}

static void free_all_but_kept(struct worker *w)
{
	int kept = 0;

	for (int i = 0; i < SLOTS; i++) {
		if (!w->slots[i].p || (w->slots[i].size && kept++ < KEPT))
			continue;
		block_free(&w->slots[i], &w->random, &w->truth);
	}
}

static void *work(void *argument)
{
	struct worker *w = argument;
	struct worker *neighbour = &workers[(w->index + 1) % thread_count];

	pthread_barrier_wait(&barrier); /* every thread is there: what pthread_create allocates is live from here on */
	random_ops(w, ops / 2);
	pthread_barrier_wait(&barrier);
	if (ops)
		grow_to_peak(w);
	pthread_barrier_wait(&barrier);
	for (int i = 0; ops && i < BIG_BLOCKS; i++)
		block_free(&neighbour->big[i], &w->random, &w->truth);
	random_ops(w, ops / 2);
	free_all_but_kept(w);
	return NULL;
}

static void run_one(struct truth *sum)
{
	struct worker *w = &workers[0];

	random_ops(w, ops);
	free_all_but_kept(w);
	*sum = w->truth;
}

static void run_threads(struct truth *sum)
{
	pthread_barrier_init(&barrier, NULL, (unsigned int)thread_count);
	for (int i = 0; i < thread_count; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			truth_die("pthread_create");
	for (int i = 0; i < thread_count; i++) {
		pthread_join(workers[i].thread, NULL);
		truth_add(sum, &workers[i].truth);
		truth_peak_sum(sum, workers[i].peak_bytes, workers[i].peak_blocks);
	}
}

int main(int argc, char **argv)
{
	struct truth sum = { 0 };

	if (argc < 4 || (thread_count = atoi(argv[1])) < 1 || thread_count > MAX_THREADS)
		truth_die("usage: truth THREADS OPS SEED [OPTIONS]");
	ops = atol(argv[2]);
	blocks_options(argc > 4 ? argv[4] : "");
	for (int i = 0; i < thread_count; i++) {
		workers[i].index = i;
		workers[i].random = (uint64_t)(atol(argv[3]) * MAX_THREADS + i);
	}
	if (thread_count == 1)
		run_one(&sum);
	else
		run_threads(&sum);
	truth_write(&sum);
	TRUTH_SAY("truth: done\n");
	return 0;
}
