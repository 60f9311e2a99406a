/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools: memory that the program's own allocator hands out in blocks of its own, as it names them. Here is only which
 * blocks there are and in which pool each lies; what they count is the replay's business (replay_pools.c).
 *
 * A heap block that turns out to be a pool is left out of the heap's numbers from its allocation on, or the peak could be
 * one that never was. Which ones these are is found out beforehand, by a reading of its own of traces that have pools.
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
	bool any;	   /* the trace has pools; all else is empty if not */
	uint64_t *backing; /* numbers of the allocations of pools: which event of the trace, from 1 on; in order */
	size_t backing_count, backing_room, backing_next;
	struct tpa_live places; /* pools by address: `site` is an index into `list` + 1 */
	struct tpa_pool *list;
	size_t list_count, list_room;
	uint32_t list_spare;	/* index + 1 of the first unused one */
	struct tpa_live blocks; /* of pools, by address: `slack` is an index into `links` */
	struct tpa_pool_link *links;
	size_t link_count, link_room;
	uint32_t link_spare;
	uint64_t
		ended; /* the last block that was all of its pool, and ended with it; 0: none, or said to have ended since */
	struct tpa_pool_counts counts;
};

void tpa_pools_init(struct tpa_pools *pools, const struct tpa_trace *trace);

/*
 * Finds the allocations of pools among the events that are still to be replayed: reads all of `events` and closes it.
 * `number` events were before.
 */
void tpa_pools_find(struct tpa_pools *pools, struct tpa_events *events, uint64_t number);
void tpa_pools_free(struct tpa_pools *pools);

/* Saves, or loads into pools that were just initialized. Whoever loads checks the blocks' sites. */
void tpa_pools_archive(struct tpa_archive *archive, struct tpa_pools *pools);

/* Is the allocation that is event number `event` one of a pool? To be asked for each, in order. */
static inline bool tpa_pools_backs(struct tpa_pools *pools, uint64_t event)
{
	while (pools->backing_next < pools->backing_count && pools->backing[pools->backing_next] < event)
		pools->backing_next++;
	return pools->backing_next < pools->backing_count && pools->backing[pools->backing_next] == event;
}

/* A heap block that is a pool begins or ends to live. */
void tpa_pools_open(struct tpa_pools *pools, uint64_t address, uint64_t size);
void tpa_pools_close(struct tpa_pools *pools, uint64_t address);

/* Is there a heap block at that address that is a pool? */
bool tpa_pools_has(const struct tpa_pools *pools, uint64_t address);

/* A block of the pool at `pool` (0: of none); there is none at its address. Its slack is 0. */
void tpa_pools_add(struct tpa_pools *pools, uint64_t pool, const struct tpa_block *block);

/* Takes out the block at an address, or any one of a pool. False: there is none. */
bool tpa_pools_take(struct tpa_pools *pools, uint64_t address, struct tpa_block *block);
bool tpa_pools_take_of(struct tpa_pools *pools, uint64_t pool, struct tpa_block *block);

#endif
