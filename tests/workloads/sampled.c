/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampled: a few thousand blocks of sizes from 16 bytes to 100 KB, some freed, some kept, for allocations that are
 * sampled. Always the same, so that one truth serves all runs.
 */
#include "truth.h"

enum { BLOCKS = 8000 };

static void *blocks[BLOCKS];
static size_t sizes[BLOCKS];
static struct truth truth;

static size_t pick_size(uint64_t *seed)
{
	uint64_t kind = truth_random(seed) % 100;

	return kind < 90   ? truth_between(seed, 16, 1000)
	       : kind < 99 ? truth_between(seed, 1000, 20000)
			   : truth_between(seed, 50000, 100000);
}

static void release(int i)
{
	truth_free(&truth, sizes[i]);
	free(blocks[i]);
	blocks[i] = NULL;
}

__attribute__((noinline)) static void kept_one(int i)
{
	blocks[i] = malloc(sizes[i]);
}

__attribute__((noinline)) static void freed_one(int i)
{
	blocks[i] = malloc(sizes[i]);
}

int main(void)
{
	uint64_t seed = 7;

	for (int i = 0; i < BLOCKS; i++) {
		sizes[i] = pick_size(&seed);
		if (i % 4)
			freed_one(i);
		else
			kept_one(i);
		if (!blocks[i])
			truth_die("malloc");
		truth_alloc(&truth, sizes[i]);
		if (i >= 1000 && i % 4 != 3 && (i - 1000) % 4)
			release(i - 1000);
	}
	for (int i = 0; i < BLOCKS; i++)
		if (blocks[i] && i % 4)
			release(i);
	truth_write(&truth);
	return 0;
}
