/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The price of a malloc+free pair: FRAMES frames deep, over PATHS distinct stacks (three branch points of up to ten
 * ways each), with POOL blocks live, in THREADS threads.
 *
 *     pairs FRAMES PATHS POOL THREADS SECONDS [PAIRS]
 *
 * Prints nanoseconds a pair and thread: {"ns": ..., "pairs": ...}. With PAIRS, each thread makes so many pairs (in whole
 * thousands), however long it takes: the same work in each run.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef OWN_ALLOCATOR /* tests/bench/own_allocator.c */
void *bench_own_malloc(size_t size);
void bench_own_free(void *block);
#define malloc bench_own_malloc
#define free bench_own_free
#endif

static int frames, paths, pool_size;
static double seconds;
static uint64_t pairs_wanted; /* 0: as many as go into the time */

struct work {
	uint8_t way[64]; /* at each depth: 0 no branch point, else 1 + the way to take */
	int depth;
	void **pool;
	uint64_t next;
	uint64_t pairs;
	double ns;
};

static void descend(struct work *work, int depth);

/* Distinct functions, so that each way is a distinct return address and a distinct frame. */
#define WAY(n)                                                                                                         \
	static __attribute__((noinline)) void way##n(struct work *work, int depth)                                     \
	{                                                                                                              \
		descend(work, depth);                                                                                  \
		__asm__ volatile("" ::"r"(n));                                                                         \
	}
WAY(0)
WAY(1)
WAY(2)
WAY(3)
WAY(4)
WAY(5)
WAY(6)
WAY(7)
WAY(8)
WAY(9)

static void (*const ways[])(struct work *, int) = { way0, way1, way2, way3, way4, way5, way6, way7, way8, way9 };

static __attribute__((noinline)) void leaf(struct work *work)
{
	if (pool_size) {
		void **slot = &work->pool[work->next % (uint64_t)pool_size];

		free(*slot);
		*slot = malloc(32 + work->next % 64 * 8);
	} else {
		void *p = malloc(64);

		__asm__ volatile("" : "+r"(p)::"memory");
		free(p);
	}
	work->next++;
}

static __attribute__((noinline)) void plain(struct work *work, int depth)
{
	descend(work, depth);
	__asm__ volatile("");
}

static __attribute__((noinline)) void descend(struct work *work, int depth)
{
	if (depth <= 0)
		leaf(work);
	else if (work->way[depth])
		ways[work->way[depth] - 1](work, depth - 1);
	else
		plain(work, depth - 1);
	__asm__ volatile("");
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int goes_on(const struct work *work, double end)
{
	return pairs_wanted ? work->next < pairs_wanted : now() < end;
}

/* One path: the pairs run in a loop at the bottom. Many: each pair comes down its own. */
static __attribute__((noinline)) void descend_once(struct work *work, int depth, double end)
{
	if (depth > 0) {
		descend_once(work, depth - 1, end);
		__asm__ volatile("");
		return;
	}
	while (goes_on(work, end)) {
		for (int i = 0; i < 1000; i++)
			leaf(work);
	}
}

/* Branch points at a quarter, half and three quarters of the way down, one decimal digit of the path each. */
static void choose(struct work *work, unsigned int path)
{
	for (int i = 1; i <= 3; i++, path /= 10)
		work->way[work->depth * i / 4] = (uint8_t)(1 + path % 10);
}

static void *run(void *context)
{
	struct work *work = context;
	double start = now(), end = start + seconds * 1e9;
	uint32_t random = 1;

	if (paths <= 1) {
		descend_once(work, frames, end);
	} else {
		while (goes_on(work, end)) {
			for (int i = 0; i < 1000; i++) {
				random = random * 1664525u + 1013904223u;
				choose(work, (random >> 8) % (unsigned int)paths);
				descend(work, work->depth);
			}
		}
	}
	work->pairs = work->next;
	work->ns = (now() - start) / (double)work->pairs;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	static struct work works[64];
	int count;
	double ns = 0;
	uint64_t pairs = 0;

	if (argc != 6 && argc != 7) {
		fprintf(stderr, "usage: pairs FRAMES PATHS POOL THREADS SECONDS [PAIRS]\n");
		return 2;
	}
	frames = atoi(argv[1]);
	paths = atoi(argv[2]);
	pool_size = atoi(argv[3]);
	count = atoi(argv[4]);
	seconds = atof(argv[5]);
	pairs_wanted = argc == 7 ? strtoull(argv[6], NULL, 10) : 0;
	for (int i = 0; i < count; i++) {
		/* Two functions a level, but for leaf, run and the thread's own. */
		works[i].depth = frames / 2;
		works[i].pool = calloc((size_t)pool_size + 1, sizeof(void *));
	}
	for (int i = 1; i < count; i++)
		pthread_create(&threads[i], NULL, run, &works[i]);
	run(&works[0]);
	for (int i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < count; i++) {
		ns += works[i].ns / count;
		pairs += works[i].pairs;
	}
	printf("{\"ns\": %.2f, \"pairs\": %lu}\n", ns, pairs);
	return 0;
}
