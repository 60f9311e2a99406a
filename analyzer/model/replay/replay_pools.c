/* SPDX-License-Identifier: Apache-2.0 */
/* Pools: their blocks count as any other's, the heap blocks that they are made of do not. */
#include "model/replay/replay_impl.h"

static bool end_block(struct tp_replay *replay, const struct tp_event *event, const struct tp_block *block)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);

	if (!thread)
		return false;
	replay->pools.counts.frees += replay->inside;
	tp_replay_end_block(replay, thread, block, event->time);
	return true;
}

/* All blocks of a pool. */
static bool end_blocks(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_block block;

	while (tp_pools_take_of(&replay->pools, event->block.address, &block))
		if (!end_block(replay, event, &block))
			return false;
	return true;
}

bool tp_replay_pool_begins(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_pool_counts *counts = &replay->pools.counts;

	counts->pools += replay->inside;
	counts->bytes += replay->inside ? event->alloc.bytes : 0;
	if (!end_blocks(replay, event))
		return false;
	tp_pools_open(&replay->pools, event->alloc.address, event->alloc.bytes);
	return true;
}

bool tp_replay_pool_ends(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_block block;
	bool good = true;

	if (tp_pools_take(&replay->pools, event->free.address, &block)) {
		replay->pools.ended = event->free.address;
		good = end_block(replay, event, &block);
	}
	good = good && end_blocks(replay, event);
	tp_pools_close(&replay->pools, event->free.address);
	return good;
}

bool tp_replay_pool_alloc(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_block block, old;

	if (!replay->pools.any)
		return tp_replay_thread(replay, event) != NULL; /* a damaged header */
	if (tp_pools_take(&replay->pools, event->pool_alloc.address, &old)) {
		replay->heap.implied_frees += replay->inside;
		if (!end_block(replay, event, &old))
			return false;
	}
	replay->pools.counts.allocations += replay->inside;
	if (!tp_replay_begin_block(replay, event, &block))
		return false;
	tp_pools_add(&replay->pools, event->pool_alloc.pool, &block);
	return true;
}

bool tp_replay_pool_free(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_block block;

	if (event->pool_free.whole)
		return end_blocks(replay, event);
	if (tp_pools_take(&replay->pools, event->pool_free.address, &block))
		return end_block(replay, event, &block);
	if (replay->pools.ended == event->pool_free.address) { /* numpy says so of a buffer that realloc has moved */
		replay->pools.ended = 0;
		return tp_replay_thread(replay, event) != NULL;
	}
	return tp_replay_unmatched(replay, event);
}
