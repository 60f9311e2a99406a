/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks: what allocations and frees do to what is live, to the peak and to the counts. */
#include "model/replay/replay_impl.h"
#include "model/stats/stats.h"

/*
 * What every allocation and free goes through is made twice, for exact and for sampled runs, so that exact ones pay
 * nothing for the others: `sampled` is a constant there.
 */
#define HOT __attribute__((always_inline)) static inline

static inline void note_peak(struct tp_replay *replay, uint64_t time)
{
	if (replay->amount.bytes > replay->heap.peak_bytes && replay->inside) {
		replay->heap.peak_bytes = replay->amount.bytes;
		replay->heap.peak_blocks = replay->amount.blocks;
		replay->heap.peak_usable = replay->amount.usable;
		replay->peak_time = time;
		replay->peak_number++;
	}
}

/* The same of a sampled run: the peak is that of the estimate. */
__attribute__((noinline)) static void move_estimate(struct tp_replay *replay, const struct tp_block *block, double sign,
						    uint64_t time)
{
	struct tp_amount_estimate *live = &replay->estimates.all.live;

	tp_estimates_live(&replay->estimates, block, sign, block->time < replay->from, replay->peak_number);
	replay->now.live_bytes = tp_round(live->bytes.value);
	replay->now.live_blocks = tp_round(live->blocks.value);
	replay->now.bytes_variance = live->bytes.variance;
	replay->now.blocks_variance = live->blocks.variance;
	if (replay->now.live_bytes > replay->heap.peak_bytes && replay->inside) {
		replay->heap.peak_bytes = replay->now.live_bytes;
		tp_estimates_peak(&replay->estimates);
		replay->peak_time = time;
		replay->peak_number++;
	}
}

static inline void show_live(struct tp_replay *replay)
{
	replay->now.live_bytes = replay->amount.bytes;
	replay->now.live_blocks = replay->amount.blocks;
}

/* A block begins (or goes on) to live. */
HOT void raise(struct tp_replay *replay, const struct tp_block *block, uint64_t time, bool sampled)
{
	struct tp_site_state *site = &replay->sites.list[block->site];
	uint64_t usable = tp_slack_usable(block->size, block->slack);

	tp_sites_changed(&replay->sites, block->site);
	tp_site_touch(site, replay->peak_number);
	tp_site_born(site, block->time);
	tp_amount_add(&site->live, block->size, usable);
	tp_amount_add(&replay->amount, block->size, usable);
	if (__builtin_expect(block->time < replay->from, 0)) {
		tp_amount_add(&site->before, block->size, usable);
		if (block->size > site->before_largest)
			site->before_largest = block->size;
		tp_amount_add(&replay->before, block->size, usable);
	}
	if (sampled) {
		move_estimate(replay, block, 1, time);
		return;
	}
	show_live(replay);
	note_peak(replay, time);
}

HOT void lower(struct tp_replay *replay, const struct tp_block *block, bool sampled)
{
	struct tp_site_state *site = &replay->sites.list[block->site];
	uint64_t usable = tp_slack_usable(block->size, block->slack);

	tp_sites_changed(&replay->sites, block->site);
	tp_site_touch(site, replay->peak_number);
	tp_amount_sub(&site->live, block->size, usable);
	tp_amount_sub(&replay->amount, block->size, usable);
	if (__builtin_expect(block->time < replay->outlived.step_ended, 0))
		tp_outlived_add(&replay->outlived, block);
	if (__builtin_expect(block->time < replay->from, 0)) {
		tp_amount_sub(&site->before, block->size, usable);
		tp_amount_sub(&replay->before, block->size, usable);
	}
	if (sampled) {
		move_estimate(replay, block, -1, 0);
		return;
	}
	show_live(replay);
}

/* With the place of the layer's call in the tree: there are the layers around it. */
__attribute__((noinline)) static uint32_t site_of_layer(struct tp_replay *replay, const struct tp_event *event,
							const struct tp_op_stack *open)
{
	const struct tp_op_frame *layer = tp_op_current_layer(&replay->ops, open);

	return tp_sites_enter_key(&replay->sites, event->node, layer ? layer->node : TP_OP_NODE_ROOT,
				  layer ? layer->op : 0);
}

static inline uint32_t site_of(struct tp_replay *replay, const struct tp_event *event, const struct tp_op_stack *open)
{
	const struct tp_replay_options *options = replay->options;
	uint32_t op = tp_op_current(open);

	if (options->thread && event->thread != options->thread)
		return TP_SITE_IGNORED;
	switch (options->group) {
	case TP_GROUP_THREAD:
		return tp_sites_enter_key(&replay->sites, event->node, event->thread, 0);
	case TP_GROUP_SIZE:
		return tp_sites_enter_key(&replay->sites, event->node, event->block.bytes, 0);
	case TP_GROUP_STEP:
		return tp_sites_enter_key(&replay->sites, event->node, tp_steps_key(&replay->steps), 0);
	case TP_GROUP_LAYER:
		return site_of_layer(replay, event, open);
	default:
		if (__builtin_expect(op, 0))
			return tp_sites_enter_key(&replay->sites, event->node, 0, op);
		return tp_sites_of_node(&replay->sites, event->node);
	}
}

__attribute__((noinline)) static void estimate_alloc(struct tp_replay *replay, struct tp_thread_state *thread,
						     const struct tp_block *block)
{
	double mean = replay->estimates.mean;

	tp_estimates_allocated(&replay->estimates, block);
	tp_estimate_add(&thread->allocations, mean, block->size, 1);
	tp_estimate_add(&thread->bytes, mean, block->size, (double)block->size);
}

__attribute__((noinline)) static void estimate_free(struct tp_replay *replay, struct tp_thread_state *thread,
						    const struct tp_block *block, bool short_lived, double sign)
{
	tp_estimates_freed(&replay->estimates, block, short_lived, sign);
	tp_estimate_add(&thread->frees, replay->estimates.mean, block->size, sign);
}

HOT void count_alloc(struct tp_replay *replay, struct tp_thread_state *thread, const struct tp_block *block,
		     bool sampled)
{
	struct tp_site_state *site = &replay->sites.list[block->site];

	site->allocations++;
	site->bytes += block->size;
	if (block->size > site->largest)
		site->largest = block->size;
	replay->heap.allocations++;
	replay->heap.bytes += block->size;
	replay->heap.usable += tp_slack_usable(block->size, block->slack);
	thread->stats.allocations++;
	thread->stats.bytes += block->size;
	if (sampled)
		estimate_alloc(replay, thread, block);
}

/* The end of a block's life that a free of that thread at that time brings; `undo` learns what was counted. */
HOT void end_block(struct tp_replay *replay, struct tp_thread_state *thread, const struct tp_block *block,
		   uint64_t time, bool temporary, struct tp_undo *undo, bool sampled)
{
	struct tp_site_state *site = &replay->sites.list[block->site];
	bool short_lived = time - block->time <= replay->short_time;

	undo->what = TP_UNDO_FREE;
	undo->block = *block;
	undo->counted = replay->inside && block->site != TP_SITE_IGNORED;
	undo->temporary = temporary;
	undo->short_lived = short_lived;
	if (block->site == TP_SITE_IGNORED)
		return;
	lower(replay, block, sampled);
	if (!replay->inside)
		return;
	site->frees++;
	site->temporary += temporary;
	site->short_lived += short_lived;
	replay->heap.frees++;
	replay->heap.temporary += temporary;
	replay->heap.short_lived += short_lived;
	thread->stats.frees++;
	if (sampled)
		estimate_free(replay, thread, block, short_lived, 1);
}

/* An allocation at an address that is live: the block there must have ended. Its free may be on its way. */
static void close_block(struct tp_replay *replay, struct tp_thread_state *thread, const struct tp_block *block,
			const struct tp_event *event)
{
	struct tp_undo undo;

	end_block(replay, thread, block, event->time, false, &undo, replay->sampled);
	if (undo.counted)
		replay->heap.implied_frees++;
	tp_order_closed(replay, event);
}

/* Bytes of a block as its op sees them: of a sampled run what it stands for. */
static uint64_t op_bytes(const struct tp_replay *replay, uint64_t size)
{
	struct tp_estimate estimate = { 0, 0 };

	if (!replay->sampled)
		return size;
	tp_estimate_add(&estimate, replay->estimates.mean, size, (double)size);
	return tp_round(estimate.value);
}

HOT bool on_alloc(struct tp_replay *replay, const struct tp_event *event, bool sampled)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);
	struct tp_block *block = tp_live_place(&replay->live, event->alloc.address);
	struct tp_undo undo;
	uint32_t site;

	if (!thread)
		return false;
	if (__builtin_expect(replay->pools.any, 0) && tp_pools_backs(&replay->pools, replay->heap.events))
		return tp_replay_pool_begins(replay, event);
	if (__builtin_expect(replay->in_pause, 0) && tp_replay_began_in_pause(replay, thread, event->alloc.fn))
		return true;
	site = site_of(replay, event, &thread->open);
	if (__builtin_expect(thread->open.count, 0)) {
		tp_op_allocated(&thread->open, op_bytes(replay, event->alloc.bytes));
		tp_replay_charge(replay, thread, event);
	}
	if (sampled)
		tp_estimates_reserve(&replay->estimates, replay->sites.count);
	if (__builtin_expect(block->site != TP_SITE_NONE, 0))
		close_block(replay, thread, block, event);
	else
		replay->live.count++;
	*block = (struct tp_block){ event->alloc.address, event->alloc.bytes, event->time, site,
				    tp_slack_pack(event->alloc.bytes, event->alloc.usable) };
	thread->newest = event->alloc.address;
	thread->newest_time = event->time;
	if (site == TP_SITE_IGNORED)
		return true;
	raise(replay, block, event->time, sampled);
	if (replay->inside)
		count_alloc(replay, thread, block, sampled);
	if (replay->now.live_bytes > replay->steps.high)
		replay->steps.high = replay->now.live_bytes;
	tp_timeline_record(&replay->timeline, event->time, &replay->now);
	if (__builtin_expect(replay->early_next && tp_order_is_freed_already(replay, event), 0)) {
		end_block(replay, thread, block, event->time, false, &undo, sampled);
		tp_live_remove(&replay->live, block);
		replay->heap.unmatched_frees -= replay->heap.unmatched_frees != 0;
		replay->heap.reordered += replay->inside;
	}
	return true;
}

/* A free without its allocation: counted, nothing else. */
static void on_unmatched(struct tp_replay *replay, struct tp_undo *undo, const struct tp_event *event)
{
	bool inherited = replay->trace->header->origin == TPROF_ORIGIN_FORK;

	tp_order_unmatched(replay, event);
	undo->what = TP_UNDO_UNMATCHED;
	undo->counted = tp_replay_counts(replay, event) && !replay->in_pause; /* of what began in it, most likely */
	if (undo->counted && inherited)
		replay->heap.inherited_frees++;
	else if (undo->counted)
		replay->heap.unmatched_frees++;
}

HOT bool on_free(struct tp_replay *replay, const struct tp_event *event, bool sampled)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);
	struct tp_block *block;
	uint64_t newest;

	if (!thread)
		return false;
	tp_replay_charge(replay, thread, event);
	if (__builtin_expect(event->cancelled, 0)) {
		replay->heap.failed_reallocs += replay->inside;
		thread->undo.what = TP_UNDO_NOTHING;
		return true;
	}
	newest = thread->newest;
	thread->newest = TP_NO_ADDRESS;
	thread->undo.what = TP_UNDO_NOTHING;
	if (__builtin_expect(replay->pools.any, 0) && tp_pools_has(&replay->pools, event->free.address))
		return tp_replay_pool_ends(replay, event);
	if (__builtin_expect(replay->late_count, 0) && tp_order_was_closed(replay, event))
		return true;
	block = tp_live_find(&replay->live, event->free.address);
	if (__builtin_expect(block->site == TP_SITE_NONE, 0)) {
		on_unmatched(replay, &thread->undo, event);
		return true;
	}
	if (__builtin_expect(thread->open.count, 0))
		tp_op_freed(&thread->open, op_bytes(replay, block->size));
	/* The time too: another thread may have got the address since. */
	end_block(replay, thread, block, event->time,
		  newest == event->free.address && thread->newest_time == block->time, &thread->undo, sampled);
	tp_live_remove(&replay->live, block);
	return true;
}

/* The block lives on as it was, and nothing was counted. */
static void restore_block(struct tp_replay *replay, struct tp_thread_state *thread, uint64_t time)
{
	const struct tp_undo *undo = &thread->undo;
	struct tp_block *block = tp_live_place(&replay->live, undo->block.address);
	struct tp_site_state *site = &replay->sites.list[undo->block.site];

	if (block->site != TP_SITE_NONE)
		return; /* damaged: its address has an owner already */
	*block = undo->block;
	replay->live.count++;
	if (thread->open.count)
		tp_op_freed(&thread->open, 0 - op_bytes(replay, block->size));
	if (block->site != TP_SITE_IGNORED)
		raise(replay, block, time, replay->sampled);
	if (undo->counted) {
		site->frees--;
		site->temporary -= undo->temporary;
		site->short_lived -= undo->short_lived;
		replay->heap.frees--;
		replay->heap.temporary -= undo->temporary;
		replay->heap.short_lived -= undo->short_lived;
		replay->heap.failed_reallocs++;
		thread->stats.frees--;
		if (replay->sampled && block->site != TP_SITE_IGNORED)
			estimate_free(replay, thread, block, undo->short_lived, -1);
	}
	tp_timeline_record(&replay->timeline, time, &replay->now);
}

bool tp_replay_cancel(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);
	struct tp_undo *undo;

	if (!thread)
		return false;
	undo = &thread->undo;
	if (undo->what == TP_UNDO_FREE) {
		restore_block(replay, thread, event->time);
	} else if (undo->what == TP_UNDO_UNMATCHED && undo->counted) {
		if (replay->trace->header->origin == TPROF_ORIGIN_FORK)
			replay->heap.inherited_frees--;
		else
			replay->heap.unmatched_frees--;
		replay->heap.failed_reallocs++;
	} else if (undo->what == TP_UNDO_UNMAP) {
		tp_replay_restore_map(replay, thread);
	}
	undo->what = TP_UNDO_NOTHING;
	return true;
}

/* ---- blocks of pools ---- */

bool tp_replay_begin_block(struct tp_replay *replay, const struct tp_event *event, struct tp_block *block)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);
	uint32_t site;

	if (!thread)
		return false;
	site = site_of(replay, event, &thread->open);
	if (replay->sampled)
		tp_estimates_reserve(&replay->estimates, replay->sites.count);
	if (thread->open.count)
		tp_op_allocated(&thread->open, op_bytes(replay, event->pool_alloc.bytes));
	*block = (struct tp_block){ event->pool_alloc.address, event->pool_alloc.bytes, event->time, site, 0 };
	thread->newest = TP_NO_ADDRESS;
	if (site == TP_SITE_IGNORED)
		return true;
	raise(replay, block, event->time, replay->sampled);
	if (replay->inside)
		count_alloc(replay, thread, block, replay->sampled);
	if (replay->now.live_bytes > replay->steps.high)
		replay->steps.high = replay->now.live_bytes;
	tp_timeline_record(&replay->timeline, event->time, &replay->now);
	return true;
}

void tp_replay_end_block(struct tp_replay *replay, struct tp_thread_state *thread, const struct tp_block *block,
			 uint64_t time)
{
	struct tp_undo undo;

	if (thread->open.count)
		tp_op_freed(&thread->open, op_bytes(replay, block->size));
	end_block(replay, thread, block, time, false, &undo, replay->sampled);
	thread->newest = TP_NO_ADDRESS;
}

bool tp_replay_unmatched(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);
	struct tp_undo undo;

	if (thread)
		on_unmatched(replay, &undo, event);
	return thread != NULL;
}

/* ---- handlers ---- */

bool tp_replay_alloc(struct tp_replay *replay, const struct tp_event *event)
{
	return on_alloc(replay, event, false);
}

bool tp_replay_sampled_alloc(struct tp_replay *replay, const struct tp_event *event)
{
	return on_alloc(replay, event, true);
}

bool tp_replay_free_block(struct tp_replay *replay, const struct tp_event *event)
{
	return on_free(replay, event, false);
}

bool tp_replay_sampled_free_block(struct tp_replay *replay, const struct tp_event *event)
{
	return on_free(replay, event, true);
}
