/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks: what allocations and frees do to what is live, to the peak and to the counts. */
#include <stdlib.h>

#include "base/memory.h"
#include "model/replay/replay_impl.h"
#include "model/stats/stats.h"

/*
 * The functions that every allocation and free goes through are compiled twice, for exact and for sampled runs: `sampled` is a
 * constant in them, so that exact runs pay nothing for sampled ones.
 */
#define HOT __attribute__((always_inline)) static inline

static inline void note_peak(struct tpa_replay *replay, uint64_t time)
{
	if (replay->heap.amount.bytes > replay->heap.counts.peak_bytes && replay->inside) {
		replay->heap.counts.peak_bytes = replay->heap.amount.bytes;
		replay->heap.counts.peak_blocks = replay->heap.amount.blocks;
		replay->heap.counts.peak_usable = replay->heap.amount.usable;
		replay->heap.peak_time = time;
		replay->heap.peak_number++;
	}
}

/* The same for a sampled run, where the peak is that of the estimate. */
__attribute__((noinline)) static void move_estimate(struct tpa_replay *replay, const struct tpa_block *block,
						    double sign, uint64_t time)
{
	struct tpa_amount_estimate *live = &replay->heap.estimates.all.live;
	struct tpa_heap *counts = &replay->heap.counts;

	tpa_estimates_live(&replay->heap.estimates, block, sign, block->time < replay->from, replay->heap.peak_number);
	replay->now.live_bytes = tpa_round(live->bytes.value);
	replay->now.live_blocks = tpa_round(live->blocks.value);
	replay->now.bytes_variance = live->bytes.variance;
	replay->now.blocks_variance = live->blocks.variance;
	if (replay->now.live_bytes > counts->peak_bytes && replay->inside) {
		counts->peak_bytes = replay->now.live_bytes;
		counts->peak_blocks = replay->heap.amount.blocks; /* shown while these are not estimates */
		counts->peak_usable = replay->heap.amount.usable;
		tpa_estimates_peak(&replay->heap.estimates);
		replay->heap.peak_time = time;
		replay->heap.peak_number++;
	}
}

static inline void show_live(struct tpa_replay *replay)
{
	replay->now.live_bytes = replay->heap.amount.bytes;
	replay->now.live_blocks = replay->heap.amount.blocks;
}

/* A block becomes live, or stays live after a free that is taken back. */
HOT void raise(struct tpa_replay *replay, const struct tpa_block *block, uint64_t time, bool sampled)
{
	struct tpa_site_state *site = &replay->heap.sites.list[block->site];
	uint64_t usable = tpa_slack_usable(block->size, block->slack);

	tpa_sites_changed(&replay->heap.sites, block->site);
	tpa_site_touch(site, replay->heap.peak_number);
	tpa_site_born(site, block->time);
	tpa_amount_add(&site->live, block->size, usable);
	tpa_amount_add(&replay->heap.amount, block->size, usable);
	if (__builtin_expect(block->time < replay->from, 0)) {
		tpa_amount_add(&site->before, block->size, usable);
		if (block->size > site->before_largest)
			site->before_largest = block->size;
		tpa_amount_add(&replay->heap.before, block->size, usable);
	}
	if (sampled) {
		move_estimate(replay, block, 1, time);
		return;
	}
	show_live(replay);
	note_peak(replay, time);
}

HOT void lower(struct tpa_replay *replay, const struct tpa_block *block, bool sampled)
{
	struct tpa_site_state *site = &replay->heap.sites.list[block->site];
	uint64_t usable = tpa_slack_usable(block->size, block->slack);

	tpa_sites_changed(&replay->heap.sites, block->site);
	tpa_site_touch(site, replay->heap.peak_number);
	tpa_amount_sub(&site->live, block->size, usable);
	tpa_amount_sub(&replay->heap.amount, block->size, usable);
	if (__builtin_expect(block->time < replay->heap.outlived.step_ended, 0))
		tpa_outlived_add(&replay->heap.outlived, block);
	if (__builtin_expect(block->time < replay->from, 0)) {
		tpa_amount_sub(&site->before, block->size, usable);
		tpa_amount_sub(&replay->heap.before, block->size, usable);
	}
	if (sampled) {
		move_estimate(replay, block, -1, 0);
		return;
	}
	show_live(replay);
}

/* The site of a layer's call also has the call's place in the tree of calls, which tells the layers around it. */
static uint32_t site_of_layer(struct tpa_replay *replay, uint32_t node, const struct tpa_op_stack *open)
{
	const struct tpa_op_frame *layer = tpa_op_current_layer(&replay->ops.calls, open);

	return tpa_sites_enter(&replay->heap.sites, node, layer ? layer->node : TPA_OP_NODE_ROOT,
			       layer ? layer->op : 0);
}

static uint32_t site_of_labels(struct tpa_replay *replay, uint32_t node, uint32_t thread,
			       const struct tpa_op_stack *open)
{
	const struct tpa_op_frame *layer = tpa_op_current_layer(&replay->ops.calls, open);

	return tpa_sites_enter(&replay->heap.sites, node, tpa_label_key(thread, layer ? layer->op : 0),
			       tpa_op_current(open));
}

__attribute__((noinline)) static uint32_t site_of_key(struct tpa_replay *replay, const struct tpa_event *event,
						      const struct tpa_op_stack *open)
{
	struct tpa_sites *sites = &replay->heap.sites;
	uint32_t node = tpa_event_node(replay->trace, event);

	switch (replay->options->group) {
	case TPA_GROUP_THREAD:
		return tpa_sites_enter(sites, node, event->thread, 0);
	case TPA_GROUP_SIZE:
		return tpa_sites_enter(sites, node, event->block.bytes, 0);
	case TPA_GROUP_STEP:
		return tpa_sites_enter(sites, node, tpa_steps_key(&replay->steps.steps), 0);
	case TPA_GROUP_LABELS:
		return site_of_labels(replay, node, event->thread, open);
	default:
		return site_of_layer(replay, node, open);
	}
}

static inline uint32_t site_of(struct tpa_replay *replay, const struct tpa_event *event,
			       const struct tpa_op_stack *open)
{
	const struct tpa_replay_options *options = replay->options;
	struct tpa_sites *sites = &replay->heap.sites;
	uint32_t op = tpa_op_current(open);

	if (options->thread && event->thread != options->thread)
		return TPA_SITE_IGNORED;
	if (options->group != TPA_GROUP_STACK && options->group != TPA_GROUP_NONE)
		return site_of_key(replay, event, open);
	if (__builtin_expect(op && !sites->totals, 0))
		return tpa_sites_enter(sites, tpa_event_node(replay->trace, event), 0, op);
	return tpa_sites_of_stack(sites, event);
}

__attribute__((noinline)) static void estimate_alloc(struct tpa_replay *replay, struct tpa_thread_state *thread,
						     const struct tpa_block *block)
{
	double p = tpa_estimates_chance(&replay->heap.estimates, block->size, block->mean);

	tpa_estimates_allocated(&replay->heap.estimates, block);
	tpa_estimate_add(&thread->allocations, p, 1);
	tpa_estimate_add(&thread->bytes, p, (double)block->size);
}

__attribute__((noinline)) static void estimate_free(struct tpa_replay *replay, struct tpa_thread_state *thread,
						    const struct tpa_block *block, bool short_lived, double sign)
{
	tpa_estimates_freed(&replay->heap.estimates, block, short_lived, sign);
	tpa_estimate_add(&thread->frees, tpa_estimates_chance(&replay->heap.estimates, block->size, block->mean), sign);
}

HOT void count_alloc(struct tpa_replay *replay, struct tpa_thread_state *thread, const struct tpa_block *block,
		     bool sampled)
{
	struct tpa_site_state *site = &replay->heap.sites.list[block->site];

	site->allocations++;
	site->bytes += block->size;
	if (block->size > site->largest)
		site->largest = block->size;
	replay->heap.counts.allocations++;
	replay->heap.counts.bytes += block->size;
	replay->heap.counts.usable += tpa_slack_usable(block->size, block->slack);
	thread->stats.allocations++;
	thread->stats.bytes += block->size;
	if (sampled)
		estimate_alloc(replay, thread, block);
}

/* Ends a block's life by a free of that thread at that time; `undo` receives what was counted. */
HOT void end_block(struct tpa_replay *replay, struct tpa_thread_state *thread, const struct tpa_block *block,
		   uint64_t time, bool temporary, struct tpa_undo *undo, bool sampled)
{
	struct tpa_site_state *site = &replay->heap.sites.list[block->site];
	bool short_lived = time - block->time <= replay->heap.short_time;

	undo->what = TPA_UNDO_FREE;
	undo->block = *block;
	undo->counted = replay->inside && block->site != TPA_SITE_IGNORED;
	undo->temporary = temporary;
	undo->short_lived = short_lived;
	if (block->site == TPA_SITE_IGNORED)
		return;
	lower(replay, block, sampled);
	if (!replay->inside)
		return;
	site->frees++;
	site->temporary += temporary;
	site->short_lived += short_lived;
	replay->heap.counts.frees++;
	replay->heap.counts.temporary += temporary;
	replay->heap.counts.short_lived += short_lived;
	thread->stats.frees++;
	if (sampled)
		estimate_free(replay, thread, block, short_lived, 1);
}

/* An allocation at the address of a live block: that block must have ended, and its free may follow. */
static void close_block(struct tpa_replay *replay, struct tpa_thread_state *thread, const struct tpa_block *block,
			const struct tpa_event *event)
{
	struct tpa_undo undo;

	end_block(replay, thread, block, event->time, false, &undo, replay->sampled);
	if (undo.counted)
		replay->heap.counts.implied_frees++;
	tpa_order_closed(replay, event);
}

/* Bytes of a block as its op counts them: in a sampled run, the bytes that the block stands for. */
static uint64_t op_bytes(const struct tpa_replay *replay, uint64_t size, unsigned mean)
{
	if (!replay->sampled)
		return size;
	return tpa_round((double)size / tpa_estimates_chance(&replay->heap.estimates, size, mean));
}

/* In a sampled run: a block was recorded. */
static void note_sampled(struct tpa_replay *replay, unsigned mean)
{
	tpa_estimates_reserve(&replay->heap.estimates, replay->heap.sites.count);
	if (mean)
		tpa_estimates_sampled(&replay->heap.estimates, mean);
}

HOT void on_alloc(struct tpa_replay *replay, const struct tpa_event *event, bool sampled)
{
	struct tpa_thread_state *thread = tpa_replay_thread(replay, event);
	struct tpa_block *block = tpa_live_place(&replay->heap.live, event->alloc.address);
	struct tpa_undo undo;
	uint32_t site;

	if (__builtin_expect(replay->pools.any, 0) && tpa_pools_backs(&replay->pools, replay->heap.counts.events))
		return tpa_replay_pool_begins(replay, event);
	if (__builtin_expect(replay->pause.on, 0) && tpa_replay_began_in_pause(replay, thread, event->alloc.fn))
		return;
	site = site_of(replay, event, &thread->open);
	if (__builtin_expect(thread->open.count, 0)) {
		tpa_op_allocated(&thread->open, op_bytes(replay, event->alloc.bytes, event->alloc.mean));
		tpa_replay_charge(replay, thread, event);
	}
	if (sampled)
		note_sampled(replay, event->alloc.mean);
	if (__builtin_expect(block->site != TPA_SITE_NONE, 0))
		close_block(replay, thread, block, event);
	else
		replay->heap.live.count++;
	*block = (struct tpa_block){ .address = event->alloc.address,
				     .size = tpa_block_size(event->alloc.bytes) & TPA_BLOCK_MOST,
				     .mean = sampled ? event->alloc.mean & TPA_MEAN_UNSAID : 0,
				     .time = event->time,
				     .site = site,
				     .slack = tpa_slack_pack(event->alloc.bytes, event->alloc.usable) };
	thread->newest = event->alloc.address;
	thread->newest_time = event->time;
	if (site == TPA_SITE_IGNORED)
		return;
	raise(replay, block, event->time, sampled);
	if (replay->inside)
		count_alloc(replay, thread, block, sampled);
	if (replay->now.live_bytes > replay->steps.steps.high)
		replay->steps.steps.high = replay->now.live_bytes;
	tpa_timeline_record(&replay->timeline, event->time, &replay->now);
	if (__builtin_expect(replay->order.early_next && tpa_order_is_freed_already(replay, event), 0)) {
		end_block(replay, thread, block, event->time, false, &undo, sampled);
		tpa_live_remove(&replay->heap.live, block);
		replay->heap.counts.unmatched_frees -= replay->heap.counts.unmatched_frees != 0;
		replay->heap.counts.reordered += replay->inside;
	}
}

/* A free without its allocation is only counted. */
static void on_unmatched(struct tpa_replay *replay, struct tpa_undo *undo, const struct tpa_event *event)
{
	bool inherited = replay->trace->header->origin == TPROF_ORIGIN_FORK;

	tpa_order_unmatched(replay, event);
	undo->what = TPA_UNDO_UNMATCHED;
	/* most likely of a block that was allocated in the pause, or while not all were recorded */
	undo->counted = tpa_replay_counts(replay, event) && !replay->pause.on &&
			!(replay->trace->header->max_overhead && tpa_replay_estimated(replay));
	if (undo->counted && inherited)
		replay->heap.counts.inherited_frees++;
	else if (undo->counted)
		replay->heap.counts.unmatched_frees++;
}

HOT void on_free(struct tpa_replay *replay, const struct tpa_event *event, bool sampled)
{
	struct tpa_thread_state *thread = tpa_replay_thread(replay, event);
	struct tpa_block *block;
	uint64_t newest;

	tpa_replay_charge(replay, thread, event);
	if (__builtin_expect(event->cancelled, 0)) {
		replay->heap.counts.failed_reallocs += replay->inside;
		thread->undo.what = TPA_UNDO_NOTHING;
		return;
	}
	newest = thread->newest;
	thread->newest = TPA_NO_ADDRESS;
	thread->undo.what = TPA_UNDO_NOTHING;
	if (__builtin_expect(replay->pools.any, 0) && tpa_pools_has(&replay->pools, event->free.address))
		return tpa_replay_pool_ends(replay, event);
	if (__builtin_expect(replay->order.late_count, 0) && tpa_order_was_closed(replay, event))
		return;
	block = tpa_live_find(&replay->heap.live, event->free.address);
	if (__builtin_expect(block->site == TPA_SITE_NONE, 0)) {
		on_unmatched(replay, &thread->undo, event);
		return;
	}
	if (__builtin_expect(thread->open.count, 0))
		tpa_op_freed(&thread->open, op_bytes(replay, block->size, block->mean));
	/* restores the time too: another thread may have allocated the address since */
	end_block(replay, thread, block, event->time,
		  newest == event->free.address && thread->newest_time == block->time, &thread->undo, sampled);
	tpa_live_remove(&replay->heap.live, block);
}

/* The block lives on as it was, and nothing was counted. */
static void restore_block(struct tpa_replay *replay, struct tpa_thread_state *thread, uint64_t time)
{
	const struct tpa_undo *undo = &thread->undo;
	struct tpa_block *block = tpa_live_place(&replay->heap.live, undo->block.address);
	struct tpa_site_state *site = &replay->heap.sites.list[undo->block.site];

	if (block->site != TPA_SITE_NONE)
		return; /* damage: the address has a live block already */
	*block = undo->block;
	replay->heap.live.count++;
	if (thread->open.count)
		tpa_op_freed(&thread->open, 0 - op_bytes(replay, block->size, block->mean));
	if (block->site != TPA_SITE_IGNORED)
		raise(replay, block, time, replay->sampled);
	if (undo->counted) {
		site->frees--;
		site->temporary -= undo->temporary;
		site->short_lived -= undo->short_lived;
		replay->heap.counts.frees--;
		replay->heap.counts.temporary -= undo->temporary;
		replay->heap.counts.short_lived -= undo->short_lived;
		replay->heap.counts.failed_reallocs++;
		thread->stats.frees--;
		if (replay->sampled && block->site != TPA_SITE_IGNORED)
			estimate_free(replay, thread, block, undo->short_lived, -1);
	}
	tpa_timeline_record(&replay->timeline, time, &replay->now);
}

void tpa_replay_cancel(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_thread_state *thread = tpa_replay_thread(replay, event);
	struct tpa_undo *undo;

	undo = &thread->undo;
	if (undo->what == TPA_UNDO_FREE) {
		restore_block(replay, thread, event->time);
	} else if (undo->what == TPA_UNDO_UNMATCHED && undo->counted) {
		if (replay->trace->header->origin == TPROF_ORIGIN_FORK)
			replay->heap.counts.inherited_frees--;
		else
			replay->heap.counts.unmatched_frees--;
		replay->heap.counts.failed_reallocs++;
	} else if (undo->what == TPA_UNDO_UNMAP) {
		tpa_replay_restore_map(replay, thread);
	}
	undo->what = TPA_UNDO_NOTHING;
}

/* ---- blocks of pools ---- */

void tpa_replay_begin_block(struct tpa_replay *replay, const struct tpa_event *event, struct tpa_block *block)
{
	struct tpa_thread_state *thread = tpa_replay_thread(replay, event);

	*block = (struct tpa_block){ .address = event->pool_alloc.address,
				     .size = tpa_block_size(event->pool_alloc.bytes) & TPA_BLOCK_MOST,
				     .mean = event->pool_alloc.mean & TPA_MEAN_UNSAID,
				     .time = event->time,
				     .site = site_of(replay, event, &thread->open) };
	if (replay->sampled)
		note_sampled(replay, block->mean);
	if (thread->open.count)
		tpa_op_allocated(&thread->open, op_bytes(replay, block->size, block->mean));
	thread->newest = TPA_NO_ADDRESS;
	if (block->site == TPA_SITE_IGNORED)
		return;
	raise(replay, block, event->time, replay->sampled);
	if (replay->inside)
		count_alloc(replay, thread, block, replay->sampled);
	if (replay->now.live_bytes > replay->steps.steps.high)
		replay->steps.steps.high = replay->now.live_bytes;
	tpa_timeline_record(&replay->timeline, event->time, &replay->now);
}

void tpa_replay_end_block(struct tpa_replay *replay, struct tpa_thread_state *thread, const struct tpa_block *block,
			  uint64_t time)
{
	struct tpa_undo undo;

	if (thread->open.count)
		tpa_op_freed(&thread->open, op_bytes(replay, block->size, block->mean));
	end_block(replay, thread, block, time, false, &undo, replay->sampled);
	thread->newest = TPA_NO_ADDRESS;
}

void tpa_replay_unmatched(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_undo undo;

	tpa_replay_thread(replay, event);
	on_unmatched(replay, &undo, event);
}

/* ---- handlers ---- */

void tpa_replay_alloc(struct tpa_replay *replay, const struct tpa_event *event)
{
	return on_alloc(replay, event, false);
}

void tpa_replay_sampled_alloc(struct tpa_replay *replay, const struct tpa_event *event)
{
	return on_alloc(replay, event, true);
}

void tpa_replay_free_block(struct tpa_replay *replay, const struct tpa_event *event)
{
	return on_free(replay, event, false);
}

void tpa_replay_sampled_free_block(struct tpa_replay *replay, const struct tpa_event *event)
{
	return on_free(replay, event, true);
}

/* ---- the part ---- */

static void init(struct tpa_replay *replay)
{
	tpa_live_init(&replay->heap.live);
	tpa_sites_init(&replay->heap.sites, replay->trace);
	replay->heap.sites.totals = replay->options->group == TPA_GROUP_NONE;
	replay->heap.estimates.mean = (double)replay->trace->header->sample_bytes;
	if (!replay->trace->header->max_overhead)
		replay->heap.estimates.widest = replay->heap.estimates.mean;
	replay->heap.short_time = tpa_trace_about(replay->trace, TPA_SHORT_LIVED_NS);
}

void tpa_replay_heap_begin(struct tpa_replay *replay, uint64_t time)
{
	struct tpa_heap *counts = &replay->heap.counts;

	counts->peak_bytes = replay->heap.amount.bytes;
	counts->peak_blocks = replay->heap.amount.blocks;
	counts->peak_usable = replay->heap.amount.usable;
	if (replay->sampled) {
		counts->peak_bytes = replay->now.live_bytes;
		tpa_estimates_peak(&replay->heap.estimates);
	}
	counts->rss_peak = replay->now.rss;
	replay->heap.peak_time = time;
	replay->heap.peak_number++;
}

bool tpa_replay_blocks_have_sites(const struct tpa_live *live, size_t sites)
{
	for (size_t i = 0; live->blocks && i < (size_t)1 << (64 - live->shift); i++)
		if (live->blocks[i].site >= sites)
			return false;
	return true;
}

static void archive(struct tpa_archive *to, struct tpa_replay *replay)
{
	struct tpa_part_heap *heap = &replay->heap;

	TPA_ARCHIVE(to, heap->amount);
	TPA_ARCHIVE(to, heap->before);
	TPA_ARCHIVE(to, heap->peak_number);
	TPA_ARCHIVE(to, heap->peak_time);
	TPA_ARCHIVE(to, heap->counts);
	tpa_sites_archive(to, &heap->sites);
	tpa_estimates_archive(to, &heap->estimates);
	tpa_live_archive(to, &heap->live);
	tpa_outlived_archive(to, &heap->outlived);
	for (size_t i = 0; i < heap->outlived.count; i++)
		tpa_archive_check(to, heap->outlived.list[i].site < heap->sites.count, "a block is of no site");
	tpa_archive_check(to, tpa_replay_blocks_have_sites(&heap->live, heap->sites.count), "a block is of no site");
	if (to->loading && !to->failed && replay->sampled)
		tpa_estimates_reserve(&heap->estimates, heap->sites.count);
}

static void result_heap(struct tpa_replay *replay, struct tpa_heap *heap)
{
	uint64_t header_peak = replay->trace->header->rss_peak;
	bool whole = !replay->options->from_ns && !replay->options->to_ns;

	*heap = replay->heap.counts;
	heap->peak_time_ns = tpa_replay_ns(replay, replay->heap.peak_time);
	heap->end_bytes = replay->heap.amount.bytes - replay->heap.before.bytes;
	heap->end_blocks = replay->heap.amount.blocks - replay->heap.before.blocks;
	heap->end_usable = replay->heap.amount.usable - replay->heap.before.usable;
	heap->recorded_allocations = heap->allocations;
	heap->recorded_frees = heap->frees;
	if (tpa_replay_estimated(replay))
		tpa_estimates_heap(&replay->heap.estimates, heap);
	if (whole && header_peak > heap->rss_peak)
		heap->rss_peak = header_peak;
}

static void look(struct tpa_replay *replay, struct tpa_process *process)
{
	process->estimated = tpa_replay_estimated(replay);
	result_heap(replay, &process->heap);
	if (process->estimated)
		process->unseen = tpa_estimates_unseen(&replay->heap.estimates);
}

/* The process gets the sites, which the replay has no more. */
static void give_sites(struct tpa_replay *replay, struct tpa_process *process)
{
	struct tpa_sites *sites = &replay->heap.sites;

	if (process->estimated)
		process->site_variances = tpa_zalloc(sites->count, sizeof(*process->site_variances));
	process->sites =
		tpa_sites_take(sites, replay->heap.peak_number, process->estimated ? &replay->heap.estimates : NULL,
			       process->site_variances, &process->site_count);
}

static void free_part(struct tpa_replay *replay)
{
	tpa_live_free(&replay->heap.live);
	tpa_sites_free(&replay->heap.sites);
	tpa_estimates_free(&replay->heap.estimates);
	free(replay->heap.outlived.list);
}

const struct tpa_part tpa_part_heap = {
	.init = init, .archive = archive, .look = look, .sites = give_sites, .free = free_part
};
