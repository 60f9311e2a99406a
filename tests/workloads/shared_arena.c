/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_arena OPS: four threads malloc, realloc and free at random in one pool of blocks, on one arena
 * (MALLOC_ARENA_MAX=1), so that an address freed by one thread is at once another's. Whoever records a free behind the
 * real call sees blocks that never go and a peak that grows with the run. Nothing is leaked; the peak is forced at a
 * barrier, closely above what the random part can ever have.
 */
#include "truth.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, POOL = 512, SMALL = 400, BIG = 800, EXTRA = 8 };

struct header { /* at the start of each block */
	size_t size;
};

struct worker {
	pthread_t thread;
	uint64_t random;
	struct truth truth;
	int index;
};

static _Atomic(struct header *) pool[POOL];
static struct worker workers[THREADS];
static pthread_barrier_t barrier;
static long ops;

static struct header *allocate(struct worker *w, size_t size)
{
	struct header *h = malloc(size);

	if (!h)
		truth_die("malloc");
	truth_alloc(&w->truth, size);
	h->size = size;
	return h;
}

static struct header *resize(struct worker *w, struct header *h, size_t size)
{
	truth_free(&w->truth, h->size);
	h = realloc(h, size);
	if (!h)
		truth_die("realloc");
	truth_alloc(&w->truth, size);
	h->size = size;
	return h;
}

static void release(struct worker *w, struct header *h)
{
	truth_free(&w->truth, h->size);
	free(h);
}

/* Takes whatever is in a slot, changes it, and leaves the result in another slot; what lies there is taken on. So a
 * thread holds one block at most, and all together never more than POOL + THREADS. */
static void random_ops(struct worker *w)
{
	struct header *mine = NULL;

	for (long i = 0; i < ops; i++) {
		size_t size = truth_between(&w->random, sizeof(struct header), SMALL);

		if (!mine)
			mine = allocate(w, size);
		else if (truth_random(&w->random) % 3)
			mine = resize(w, mine, size);
		else {
			release(w, mine);
			mine = NULL;
		}
		mine = atomic_exchange(&pool[truth_between(&w->random, 0, POOL - 1)], mine);
	}
	if (mine)
		release(w, mine);
}

/* Each thread fills its part of the pool with blocks of BIG and EXTRA more than the pool has room for. */
static void *work(void *argument)
{
	struct worker *w = argument;
	struct header *more[EXTRA];

	pthread_barrier_wait(&barrier);
	random_ops(w);
	pthread_barrier_wait(&barrier);
	for (int i = w->index; i < POOL; i += THREADS) {
		struct header *h = atomic_exchange(&pool[i], NULL);

		atomic_store(&pool[i], h ? resize(w, h, BIG) : allocate(w, BIG));
	}
	for (int i = 0; i < EXTRA; i++)
		more[i] = allocate(w, BIG);
	pthread_barrier_wait(&barrier); /* the peak: POOL + THREADS * EXTRA blocks of BIG */
	for (int i = 0; i < EXTRA; i++)
		release(w, more[i]);
	pthread_barrier_wait(&barrier);
	random_ops(w);
	pthread_barrier_wait(&barrier);
	for (int i = w->index; i < POOL; i += THREADS) {
		struct header *h = atomic_exchange(&pool[i], NULL);

		if (h)
			release(w, h);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct truth sum = { 0 };

	if (argc < 2)
		truth_die("usage: shared_arena OPS");
	ops = atol(argv[1]);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		workers[i].index = i;
		workers[i].random = (uint64_t)i;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			truth_die("pthread_create");
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		truth_add(&sum, &workers[i].truth);
	}
	truth_peak_sum(&sum, (uint64_t)(POOL + THREADS * EXTRA) * BIG, POOL + THREADS * EXTRA);
	truth_write(&sum);
	TRUTH_SAY("shared_arena: done\n");
	return 0;
}
