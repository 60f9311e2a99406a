/* SPDX-License-Identifier: Apache-2.0 */
/* Pools: their blocks count as any other's, the heap blocks that they are made of do not. */
#include "model/replay/replay_impl.h"

static void end_block(struct tp_replay *replay, const struct tp_event *event, const struct tp_block *block)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);

	replay->pools.counts.frees += replay->inside;
	tp_replay_end_block(replay, thread, block, event->time);
}

/* All blocks of a pool. */
static void end_blocks(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_block block;

	while (tp_pools_take_of(&replay->pools, event->block.address, &block))
		end_block(replay, event, &block);
}

void tp_replay_pool_begins(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_pool_counts *counts = &replay->pools.counts;

	counts->pools += replay->inside;
	counts->bytes += replay->inside ? event->alloc.bytes : 0;
	end_blocks(replay, event);
	tp_pools_open(&replay->pools, event->alloc.address, event->alloc.bytes);
}

void tp_replay_pool_ends(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_block block;

	if (tp_pools_take(&replay->pools, event->free.address, &block)) {
		replay->pools.ended = event->free.address;
		end_block(replay, event, &block);
	}
	end_blocks(replay, event);
	tp_pools_close(&replay->pools, event->free.address);
}

void tp_replay_pool_alloc(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_block block, old;

	tp_replay_thread(replay, event);
	if (!replay->pools.any) /* a damaged header */
		return;
	if (tp_pools_take(&replay->pools, event->pool_alloc.address, &old)) {
		replay->heap.counts.implied_frees += replay->inside;
		end_block(replay, event, &old);
	}
	replay->pools.counts.allocations += replay->inside;
	tp_replay_begin_block(replay, event, &block);
	tp_pools_add(&replay->pools, event->pool_alloc.pool, &block);
}

void tp_replay_pool_free(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_block block;

	if (event->pool_free.whole)
		return end_blocks(replay, event);
	if (tp_pools_take(&replay->pools, event->pool_free.address, &block))
		return end_block(replay, event, &block);
	if (replay->pools.ended == event->pool_free.address) { /* numpy says so of a buffer that realloc has moved */
		replay->pools.ended = 0;
		tp_replay_thread(replay, event);
		return;
	}
	tp_replay_unmatched(replay, event);
}

static void init(struct tp_replay *replay)
{
	tp_pools_init(&replay->pools, replay->trace);
}

static void archive(struct tp_archive *to, struct tp_replay *replay)
{
	tp_pools_archive(to, &replay->pools);
	tp_archive_check(to, tp_replay_blocks_have_sites(&replay->pools.blocks, replay->heap.sites.count),
			 "a block is of no site");
}

static void look(struct tp_replay *replay, struct tp_process *process)
{
	process->pools = replay->pools.counts;
}

static void free_part(struct tp_replay *replay)
{
	tp_pools_free(&replay->pools);
}

const struct tp_part tp_part_pools = { .init = init, .archive = archive, .look = look, .free = free_part };
