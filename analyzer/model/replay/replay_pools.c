/* SPDX-License-Identifier: Apache-2.0 */
/* Pools: their blocks count like others; the heap blocks that back the pools do not. */
#include "model/replay/replay_impl.h"

static void end_block(struct tpa_replay *replay, const struct tpa_event *event, const struct tpa_block *block)
{
	struct tpa_thread_state *thread = tpa_replay_thread(replay, event);

	replay->pools.counts.frees += replay->inside;
	tpa_replay_end_block(replay, thread, block, event->time);
}

/* All blocks of a pool. */
static void end_blocks(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_block block;

	while (tpa_pools_take_of(&replay->pools, event->block.address, &block))
		end_block(replay, event, &block);
}

void tpa_replay_pool_begins(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_pool_counts *counts = &replay->pools.counts;

	counts->pools += replay->inside;
	counts->bytes += replay->inside ? event->alloc.bytes : 0;
	end_blocks(replay, event);
	tpa_pools_open(&replay->pools, event->alloc.address, event->alloc.bytes);
}

void tpa_replay_pool_ends(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_block block;

	if (tpa_pools_take(&replay->pools, event->free.address, &block)) {
		replay->pools.ended = event->free.address;
		end_block(replay, event, &block);
	}
	end_blocks(replay, event);
	tpa_pools_close(&replay->pools, event->free.address);
}

/*
 * A heap block that was not known to be a pool when it was allocated, because the event that shows it was not yet in the file.
 * It becomes one here, as if it had just been allocated.
 */
static void become_pool(struct tpa_replay *replay, const struct tpa_event *event, uint64_t pool)
{
	struct tpa_block *block = tpa_live_find(&replay->heap.live, pool), old = *block;

	if (old.site == TPA_SITE_NONE || tpa_pools_has(&replay->pools, old.address))
		return;
	tpa_replay_end_block(replay, tpa_replay_thread(replay, event), &old, event->time);
	tpa_live_remove(&replay->heap.live, block);
	replay->pools.counts.pools += replay->inside;
	replay->pools.counts.bytes += replay->inside ? old.size : 0;
	tpa_pools_open(&replay->pools, old.address, old.size);
}

void tpa_replay_pool_alloc(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_block block, old;

	tpa_replay_thread(replay, event);
	if (!replay->pools.any) /* a damaged header */
		return;
	become_pool(replay, event, event->pool_alloc.pool);
	if (tpa_pools_take(&replay->pools, event->pool_alloc.address, &old)) {
		replay->heap.counts.implied_frees += replay->inside;
		end_block(replay, event, &old);
	}
	replay->pools.counts.allocations += replay->inside;
	tpa_replay_begin_block(replay, event, &block);
	tpa_pools_add(&replay->pools, event->pool_alloc.pool, &block);
}

void tpa_replay_pool_free(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_block block;

	if (event->pool_free.whole) {
		if (replay->pools.any)
			become_pool(replay, event, event->pool_free.address);
		return end_blocks(replay, event);
	}
	if (tpa_pools_take(&replay->pools, event->pool_free.address, &block))
		return end_block(replay, event, &block);
	if (replay->pools.ended ==
	    event->pool_free.address) { /* numpy reports this for a buffer that realloc has moved */
		replay->pools.ended = 0;
		tpa_replay_thread(replay, event);
		return;
	}
	tpa_replay_unmatched(replay, event);
}

void tpa_replay_find_pools(struct tpa_replay *replay)
{
	if (replay->pools.any && !replay->options->only_ops)
		tpa_pools_find(&replay->pools, tpa_events_copy(replay->events, replay->event != NULL),
			       replay->heap.counts.events);
}

static void init(struct tpa_replay *replay)
{
	tpa_pools_init(&replay->pools, replay->trace);
}

static void archive(struct tpa_archive *to, struct tpa_replay *replay)
{
	tpa_pools_archive(to, &replay->pools);
	tpa_archive_check(to, tpa_replay_blocks_have_sites(&replay->pools.blocks, replay->heap.sites.count),
			  "a block is of no site");
}

static void look(struct tpa_replay *replay, struct tpa_process *process)
{
	process->pools = replay->pools.counts;
}

static void free_part(struct tpa_replay *replay)
{
	tpa_pools_free(&replay->pools);
}

const struct tpa_part tpa_part_pools = { .init = init, .archive = archive, .look = look, .free = free_part };
