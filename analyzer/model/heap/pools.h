/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools: memory that the program's own allocator hands out in blocks, as the program reports them. This file keeps
 * which blocks exist, and in which pool each lies. The replay counts them (replay_pools.c).
 *
 * A heap block that backs a pool is left out of the heap's numbers from its allocation on. Otherwise the heap could
 * have a peak that never was. To know these blocks in advance, a trace that has pools is read once before it is
 * replayed.
 */
#ifndef TPROF_MODEL_HEAP_POOLS_H
#define TPROF_MODEL_HEAP_POOLS_H

#include "model/heap/live.h"
#include "model/heap/heap.h"
#include "trace/events.h"

struct tpa_archive;

struct tpa_pool;
struct tpa_pool_link;

struct tpa_pools {
	bool any;	   /* the trace has pools; if not, all else is empty */
	uint64_t *backing; /* event numbers (from 1 on, sorted) of the allocations that back pools */
	size_t backing_count, backing_room, backing_next;
	struct tpa_live places; /* pools by address: `site` is an index into `list` + 1 */
	struct tpa_pool *list;
	size_t list_count, list_room;
	uint32_t list_spare;	/* index + 1 of the first unused pool; 0: none */
	struct tpa_live blocks; /* the pools' blocks by address: `slack` is an index into `links` */
	struct tpa_pool_link *links;
	size_t link_count, link_room;
	uint32_t link_spare;
	/*
	 * Address of the last block that lay at the start of its pool and ended together with it. 0: none, or its own
	 * end was reported since.
	 */
	uint64_t ended;
	struct tpa_pool_counts counts;
};

void tpa_pools_init(struct tpa_pools *pools, const struct tpa_trace *trace);

/*
 * Finds the allocations that back pools among the events that are still to be replayed. Reads all of `events` and
 * closes it. `number`: how many events came before.
 */
void tpa_pools_find(struct tpa_pools *pools, struct tpa_events *events, uint64_t number);
void tpa_pools_free(struct tpa_pools *pools);

/* Saves, or loads into newly initialized pools. The caller checks the blocks' sites after loading. */
void tpa_pools_archive(struct tpa_archive *archive, struct tpa_pools *pools);

/* Does the allocation that is event number `event` back a pool? Must be called with rising event numbers. */
static inline bool tpa_pools_backs(struct tpa_pools *pools, uint64_t event)
{
	while (pools->backing_next < pools->backing_count && pools->backing[pools->backing_next] < event)
		pools->backing_next++;
	return pools->backing_next < pools->backing_count && pools->backing[pools->backing_next] == event;
}

/* A heap block that backs a pool is allocated, or freed. Take out the pool's blocks before tpa_pools_close(). */
void tpa_pools_open(struct tpa_pools *pools, uint64_t address, uint64_t size);
void tpa_pools_close(struct tpa_pools *pools, uint64_t address);

/* Is there a heap block at that address that backs a pool? */
bool tpa_pools_has(const struct tpa_pools *pools, uint64_t address);

/*
 * Adds a block of the pool at address `pool` (0: of no pool). No block may exist at its address. block->slack is not
 * kept.
 */
void tpa_pools_add(struct tpa_pools *pools, uint64_t pool, const struct tpa_block *block);

/* Takes out the block at an address, or any block of a pool; its slack is 0. False if there is none. */
bool tpa_pools_take(struct tpa_pools *pools, uint64_t address, struct tpa_block *block);
bool tpa_pools_take_of(struct tpa_pools *pools, uint64_t pool, struct tpa_block *block);

#endif
