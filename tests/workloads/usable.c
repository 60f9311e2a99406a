/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usable: blocks of all kinds and sizes, from fresh memory and from what others left, in the main thread's arena and in
 * another's. Prints of each, in the order of allocation: address, bytes requested, and what malloc_usable_size() says.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 50000, LIVE = 500 };

static struct {
	void *p;
	size_t size, usable;
} blocks[MOST];
static int count;

static void *note(void *p, size_t size)
{
	if (!p || count == MOST)
		abort();
	blocks[count].p = p;
	blocks[count].size = size;
	blocks[count++].usable = malloc_usable_size(p);
	return p;
}

static void every_small_size(void)
{
	for (size_t size = 1; size < 3000; size++) {
		free(note(malloc(size), size));
		free(note(calloc(1, size), size));
		free(note(memalign(64, size), size));
	}
}

/* Splits and joins what is free: a block may be larger than it had to be. */
static void holes(void)
{
	static void *live[LIVE];
	uint64_t random = 1;

	for (int i = 0; i < 12000; i++) {
		void **slot;
		size_t size;

		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		slot = &live[(random >> 33) % LIVE];
		size = (random >> 45) % (i % 7 ? 300 : 6000);
		if (i % 3 == 0 && *slot) {
			*slot = note(realloc(*slot, size + 1), size + 1);
			continue;
		}
		free(*slot);
		*slot = note(malloc(size), size);
	}
	for (int i = 0; i < LIVE; i++) {
		free(live[i]);
		live[i] = NULL;
	}
}

/* Mapped each for itself: until the first is freed, and then some of the arena's. */
static void large(void)
{
	for (size_t size = 100000; size < 3000000; size += 99991) {
		void *p = note(malloc(size), size);

		p = note(realloc(p, size + 5000), size + 5000);
		free(p);
	}
}

static void *work(void *unused)
{
	every_small_size();
	holes();
	large();
	return unused;
}

int main(void)
{
	pthread_t thread;

	mallopt(M_MMAP_THRESHOLD, 200000);
	large();
	mallopt(M_TRIM_THRESHOLD, 128 * 1024);
	work(NULL);
	if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
		abort();
	for (int i = 0; i < count; i++)
		printf("%p %zu %zu\n", blocks[i].p, blocks[i].size, blocks[i].usable);
	return 0;
}
