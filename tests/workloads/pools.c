/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator of the program's own on blocks of malloc, which it names to tprof; and the truth of what its blocks and
 * those of malloc beside them hold. What the pools are made of is not in it.
 *
 *     pools ROUNDS    each round: allocations and frees at random in two arenas, of which one is freed with what is in
 *                     it and the other is reset; and in memory that is not the heap's
 */
#include <string.h>
#include <sys/mman.h>

#include <tprof.h>

#include "truth.h"

#define ARENA_BYTES 65536
#define BLOCKS 500

static struct truth truth;
static uint64_t seed = 42;

struct arena {
	char *memory;
	size_t used;
	struct {
		char *block;
		size_t size;
	} blocks[BLOCKS];
	size_t count;
};

static void *take(struct arena *arena, size_t size)
{
	char *block = arena->memory + arena->used;

	if (arena->used + size > ARENA_BYTES || arena->count == BLOCKS)
		return NULL;
	arena->used += (size + 15) & ~(size_t)15;
	arena->blocks[arena->count].block = block;
	arena->blocks[arena->count++].size = size;
	tprof_pool_alloc(arena->memory, block, size);
	truth_alloc(&truth, size);
	return block;
}

static void give_back(struct arena *arena, size_t index)
{
	tprof_pool_free(arena->blocks[index].block);
	truth_free(&truth, arena->blocks[index].size);
	arena->blocks[index] = arena->blocks[--arena->count];
}

static void all_end(struct arena *arena)
{
	for (size_t i = 0; i < arena->count; i++)
		truth_free(&truth, arena->blocks[i].size);
	arena->count = arena->used = 0;
}

static void churn(struct arena *arena, int times)
{
	for (int i = 0; i < times; i++) {
		size_t size = truth_between(&seed, 1, 700);
		char *block;

		if (truth_random(&seed) % 3 && (block = take(arena, size)))
			memset(block, 1, size);
		else if (arena->count)
			give_back(arena, truth_random(&seed) % arena->count);
	}
}

static void *heap(size_t size)
{
	void *block = malloc(size);

	if (!block)
		truth_die("malloc");
	truth_alloc(&truth, size);
	return block;
}

static void heap_free(void *block, size_t size)
{
	truth_free(&truth, size);
	free(block);
}

/* The arena is larger than all else together: were it counted for a moment, the peak would be wrong. */
static void round_of(struct arena *resident, struct arena *device)
{
	static struct arena passing;
	void *beside = heap(1000);

	passing.memory = malloc(ARENA_BYTES);
	if (!passing.memory)
		truth_die("malloc");
	churn(&passing, 200);
	heap_free(beside, 1000);
	churn(resident, 300);
	churn(device, 300);
	tprof_pool_reset(resident->memory);
	all_end(resident);
	tprof_pool_reset(device->memory);
	all_end(device);
	all_end(&passing);
	free(passing.memory);
}

int main(int argc, char **argv)
{
	static struct arena resident, device;
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	void *kept = heap(3000), *unfreed, *single = heap(64);

	resident.memory = malloc(ARENA_BYTES);
	device.memory = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!resident.memory || device.memory == MAP_FAILED)
		truth_die("malloc");
	for (int i = 0; i < rounds; i++)
		round_of(&resident, &device);
	tprof_pool_alloc(NULL, (char *)single + 8, 16); /* of no pool: `single` is a block like others */
	truth_alloc(&truth, 16);
	take(&resident, 77); /* unfreed, as its arena is */
	unfreed = take(&device, 99);
	heap_free(kept, 3000);
	truth_write(&truth);
	return unfreed ? 0 : 1;
}
