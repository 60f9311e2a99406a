/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter's allocator for small objects (Objects/obmalloc.c). Arenas are mappings of one size, cut into pools
 * that begin at multiples of the pool size. A pool has a header, then blocks of one size. The header is so redundant
 * that no other memory looks like one. Free blocks form a list through their first words; blocks behind the last one
 * that was ever given out are not in it.
 */
#include "model/holders/python.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"

#define HEAD 48
#define CLASSES 32
#define GRAIN 16
#define SMALL_POOL 4096u /* in arenas of 256 KiB: up to 3.9, or if configured so */
#define SMALL_ARENA (UINT64_C(256) << 10)
#define LARGE_POOL 16384u
#define LARGE_ARENA (UINT64_C(1) << 20)
#define BLOCKS_MOST (LARGE_POOL / GRAIN)

struct pool {
	uint32_t used, pad;
	uint64_t free, next, previous;
	/* behind: offset of the next block that was never given out; last: the last offset for a block */
	uint32_t arena, class, behind, last;
};

struct adding {
	struct tpa_holders_python *python;
	struct tpa_holders_block *blocks; /* the old ones, then the new ones */
	size_t old, count, room;
};

static bool read_pool(struct tpa_holders_python *python, uint64_t at, uint32_t bytes, struct pool *pool)
{
	uint32_t size;

	tpa_holders_copy(python->memory, at, pool, sizeof(*pool));
	size = (pool->class + 1) * GRAIN;
	return pool->class < CLASSES && pool->last == bytes - size && pool->behind >= HEAD + size &&
	       pool->behind <= bytes && (pool->behind - HEAD) % size == 0 && pool->used &&
	       pool->used <= (pool->behind - HEAD) / size;
}

/* Sets is_free[i] for each block i of the pool that is in the list of free blocks. */
static void find_free(struct tpa_holders_python *python, uint64_t at, const struct pool *pool, uint8_t *is_free)
{
	uint32_t size = (pool->class + 1) * GRAIN;
	uint64_t next = pool->free;

	for (uint32_t i = 0; next > at && next - at < pool->behind && i < BLOCKS_MOST; i++) {
		if ((next - at - HEAD) % size)
			return;
		is_free[(next - at - HEAD) / size] = 1;
		next = tpa_holders_word(python->memory, next);
	}
}

/* Is there a block that the trace already has? */
static bool is_taken(const struct adding *adding, uint64_t low, uint64_t high)
{
	return adding->old && (tpa_holders_find(adding->blocks, adding->old, low) != SIZE_MAX ||
			       tpa_holders_find(adding->blocks, adding->old, high - 1) != SIZE_MAX);
}

static void add_pool(struct adding *adding, uint64_t at, const struct pool *pool)
{
	uint8_t is_free[BLOCKS_MOST] = { 0 };
	uint32_t size = (pool->class + 1) * GRAIN;

	find_free(adding->python, at, pool, is_free);
	for (uint32_t i = 0, from = HEAD; from + size <= pool->behind; i++, from += size) {
		if (is_free[i] || is_taken(adding, at + from, at + from + size))
			continue;
		*TPA_APPEND(adding->blocks, adding->count, adding->room) =
			(struct tpa_holders_block){ .address = at + from, .size = size, .inner = true };
	}
}

static void add_arena(struct adding *adding, const struct tprof_range *range, uint32_t bytes)
{
	struct tpa_holders_python *python = adding->python;
	bool found = false;

	for (uint64_t at = (range->low + bytes - 1) / bytes * bytes; at + bytes <= range->high; at += bytes) {
		struct pool pool;

		if (!read_pool(python, at, bytes, &pool))
			continue;
		add_pool(adding, at, &pool);
		found = true;
	}
	if (!found)
		return;
	*TPA_APPEND(python->arenas, python->arena_count, python->arena_room) = *range;
}

struct tpa_holders_block *tpa_python_add_pools(struct tpa_holders_python *python, const struct tprof_range *mapped,
					       size_t mapped_count, struct tpa_holders_block *blocks, size_t *count)
{
	struct adding adding = { .python = python, .blocks = blocks, .old = *count, .count = *count, .room = *count };

	for (size_t i = 0; i < mapped_count; i++) {
		uint64_t bytes = mapped[i].high - mapped[i].low;

		if (bytes == SMALL_ARENA || bytes == LARGE_ARENA)
			add_arena(&adding, &mapped[i], bytes == SMALL_ARENA ? SMALL_POOL : LARGE_POOL);
	}
	if (adding.count > adding.old)
		TPA_SORT(adding.blocks, adding.count, address);
	*count = adding.count;
	return adding.blocks;
}
