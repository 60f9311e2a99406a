/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model/replay.h"
#include "model/stats.h"
#include "trace/impl.h"

/*
 * A free is stamped before the real call and an allocation after it, so an address is free in the trace before it is
 * allocated again, unless the two stamps are equal or the cores' clocks differ a little: this much is repaired.
 */
#define STRAY_NS 100000

/*
 * What every allocation and free goes through is made twice, for exact and for sampled runs, so that exact ones pay
 * nothing for the others: `sampled` is a constant there.
 */
#define HOT __attribute__((always_inline)) static inline

/* ---- threads ---- */

static struct tp_thread_state *new_thread(struct tp_replay *replay, uint32_t number)
{
	size_t need = (size_t)number + 1;
	struct tp_thread_state *thread;

	if (need > replay->index_count) {
		if (!tp_reserve(&replay->thread_index, &replay->index_room, need, sizeof(*replay->thread_index)))
			return NULL;
		memset(replay->thread_index + replay->index_count, 0,
		       (need - replay->index_count) * sizeof(*replay->thread_index));
		replay->index_count = need;
	}
	if (!tp_reserve(&replay->threads, &replay->thread_room, replay->thread_count + 1, sizeof(*replay->threads)))
		return NULL;
	thread = &replay->threads[replay->thread_count++];
	memset(thread, 0, sizeof(*thread));
	thread->stats.thread = number;
	thread->stats.tid = replay->event->tid;
	thread->first = replay->event->time;
	thread->newest = TP_NO_ADDRESS;
	replay->thread_index[number] = (uint32_t)replay->thread_count;
	return thread;
}

/* NULL: no memory. Valid until the next call. */
static inline struct tp_thread_state *thread_of(struct tp_replay *replay, const struct tp_event *event)
{
	uint32_t index = event->thread < replay->index_count ? replay->thread_index[event->thread] : 0;
	struct tp_thread_state *thread;

	thread = __builtin_expect(index != 0, 1) ? &replay->threads[index - 1] : new_thread(replay, event->thread);
	if (thread)
		thread->last = event->time;
	return thread;
}

/* ---- blocks ---- */

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

	tp_site_touch(site, replay->peak_number);
	tp_amount_add(&site->live, block->size, usable);
	tp_amount_add(&replay->amount, block->size, usable);
	if (__builtin_expect(block->time < replay->from, 0)) {
		tp_amount_add(&site->before, block->size, usable);
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

	tp_site_touch(site, replay->peak_number);
	tp_amount_sub(&site->live, block->size, usable);
	tp_amount_sub(&replay->amount, block->size, usable);
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

static inline uint32_t site_of(struct tp_replay *replay, const struct tp_event *event, uint32_t op)
{
	const struct tp_replay_options *options = replay->options;

	if (options->thread && event->thread != options->thread)
		return TP_SITE_IGNORED;
	switch (options->group) {
	case TP_GROUP_THREAD:
		return tp_sites_enter_key(&replay->sites, event->node, event->thread, 0);
	case TP_GROUP_SIZE:
		return tp_sites_enter_key(&replay->sites, event->node, event->size, 0);
	case TP_GROUP_STEP:
		return tp_sites_enter_key(&replay->sites, event->node, tp_steps_key(&replay->steps), 0);
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

/* ---- order ---- */

static void remember(struct tp_stray *strays, unsigned *next, const struct tp_event *event)
{
	strays[*next % TP_STRAYS] = (struct tp_stray){ event->address, event->time, event->thread };
	++*next;
}

/* An allocation at an address that is live: the block there must have ended. Its free may be on its way. */
static void close_block(struct tp_replay *replay, struct tp_thread_state *thread, const struct tp_block *block,
			const struct tp_event *event)
{
	struct tp_undo undo;

	end_block(replay, thread, block, event->time, false, &undo, replay->sampled);
	if (undo.counted)
		replay->heap.implied_frees++;
	remember(replay->late, &replay->late_next, event);
	if (replay->late_count < TP_STRAYS)
		replay->late_count++;
}

/*
 * Whether a free is the late one of a block that close_block() ended: it comes soon, and not from the thread whose
 * allocation took the address (that one's own events are in order).
 */
static bool was_closed(struct tp_replay *replay, const struct tp_event *event)
{
	bool waiting = false, found = false;
	unsigned i;

	for (i = 0; i < replay->late_count; i++) {
		struct tp_stray *stray = &replay->late[(replay->late_next - 1 - i) % TP_STRAYS];

		if (event->time - stray->time > replay->stray_time)
			break;
		waiting = true;
		if (!found && stray->address == event->address && stray->thread != event->thread) {
			found = true;
			stray->address = TP_NO_ADDRESS;
		}
	}
	if (!waiting)
		replay->late_count = 0;
	if (found && replay->inside) {
		replay->heap.reordered++;
		replay->heap.implied_frees -= replay->heap.implied_frees != 0;
	}
	return found;
}

/*
 * Whether an allocation's own free stands before it: by another thread, at the very same time. Not in a forked process,
 * where such a free is that of an inherited block.
 */
static bool is_freed_already(struct tp_replay *replay, const struct tp_event *event)
{
	unsigned i;

	if (replay->trace->header->origin == TPROF_ORIGIN_FORK)
		return false;
	for (i = 1; i <= TP_STRAYS && i <= replay->early_next; i++) {
		struct tp_stray *stray = &replay->early[(replay->early_next - i) % TP_STRAYS];

		if (stray->time != event->time)
			break;
		if (stray->address == event->address && stray->thread != event->thread) {
			stray->address = TP_NO_ADDRESS;
			return true;
		}
	}
	return false;
}

/* ---- events of the heap ---- */

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
	struct tp_thread_state *thread = thread_of(replay, event);
	struct tp_block *block = tp_live_place(&replay->live, event->address);
	struct tp_undo undo;
	uint32_t site;

	if (!thread || !block)
		return false;
	site = site_of(replay, event, tp_op_current(&thread->open));
	if (site == TP_SITE_NONE)
		return false;
	if (__builtin_expect(thread->open.count, 0))
		tp_op_allocated(&thread->open, op_bytes(replay, event->size));
	if (sampled && !tp_estimates_reserve(&replay->estimates, replay->sites.count))
		return false;
	if (__builtin_expect(block->site != TP_SITE_NONE, 0))
		close_block(replay, thread, block, event);
	else
		replay->live.count++;
	*block = (struct tp_block){ event->address, event->size, event->time, site,
				    tp_slack_pack(event->size, event->usable) };
	thread->newest = event->address;
	thread->newest_time = event->time;
	if (site == TP_SITE_IGNORED)
		return true;
	raise(replay, block, event->time, sampled);
	if (replay->inside)
		count_alloc(replay, thread, block, sampled);
	if (replay->now.live_bytes > replay->steps.high)
		replay->steps.high = replay->now.live_bytes;
	tp_timeline_record(&replay->timeline, event->time, &replay->now);
	if (__builtin_expect(replay->early_next && is_freed_already(replay, event), 0)) {
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

	remember(replay->early, &replay->early_next, event);
	undo->what = TP_UNDO_UNMATCHED;
	undo->counted = replay->inside && (!replay->options->thread || replay->options->thread == event->thread);
	if (undo->counted && inherited)
		replay->heap.inherited_frees++;
	else if (undo->counted)
		replay->heap.unmatched_frees++;
}

HOT bool on_free(struct tp_replay *replay, const struct tp_event *event, bool sampled)
{
	struct tp_thread_state *thread = thread_of(replay, event);
	struct tp_block *block;
	uint64_t newest;

	if (!thread)
		return false;
	if (__builtin_expect(event->cancelled, 0)) {
		replay->heap.failed_reallocs += replay->inside;
		thread->undo.what = TP_UNDO_NOTHING;
		return true;
	}
	newest = thread->newest;
	thread->newest = TP_NO_ADDRESS;
	thread->undo.what = TP_UNDO_NOTHING;
	if (__builtin_expect(replay->late_count, 0) && was_closed(replay, event))
		return true;
	block = tp_live_find(&replay->live, event->address);
	if (__builtin_expect(block->site == TP_SITE_NONE, 0)) {
		on_unmatched(replay, &thread->undo, event);
		return true;
	}
	if (__builtin_expect(thread->open.count, 0))
		tp_op_freed(&thread->open, op_bytes(replay, block->size));
	/* The time too: another thread may have got the address since. */
	end_block(replay, thread, block, event->time, newest == event->address && thread->newest_time == block->time,
		  &thread->undo, sampled);
	tp_live_remove(&replay->live, block);
	return true;
}

/* The block lives on as it was, and nothing was counted. */
static bool restore_block(struct tp_replay *replay, struct tp_thread_state *thread, uint64_t time)
{
	const struct tp_undo *undo = &thread->undo;
	struct tp_block *block = tp_live_place(&replay->live, undo->block.address);
	struct tp_site_state *site = &replay->sites.list[undo->block.site];

	if (!block)
		return false;
	if (block->site != TP_SITE_NONE)
		return true; /* damaged: its address has an owner already */
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
	return true;
}

static bool on_cancel(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = thread_of(replay, event);
	struct tp_undo *undo;
	bool good = true;

	if (!thread)
		return false;
	undo = &thread->undo;
	if (undo->what == TP_UNDO_FREE) {
		good = restore_block(replay, thread, event->time);
	} else if (undo->what == TP_UNDO_UNMATCHED && undo->counted) {
		if (replay->trace->header->origin == TPROF_ORIGIN_FORK)
			replay->heap.inherited_frees--;
		else
			replay->heap.unmatched_frees--;
		replay->heap.failed_reallocs++;
	} else if (undo->what == TP_UNDO_UNMAP) {
		good = tp_maps_restore(&replay->maps, undo->ranges.list, undo->ranges.count);
		replay->heap.unmaps -= undo->counted;
		replay->now.mapped_bytes = replay->maps.live;
	}
	undo->what = TP_UNDO_NOTHING;
	return good;
}

/* ---- events of the mappings ---- */

/* Whole pages; a range that goes beyond the address space ends there. */
static uint64_t range_end(uint64_t start, uint64_t length)
{
	uint64_t end = start + length;

	if (end < start || end > UINT64_MAX - 4095)
		return UINT64_MAX - 4095;
	return (end + 4095) & ~UINT64_C(4095);
}

static bool on_map(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = thread_of(replay, event);
	bool file = event->remap ? thread && thread->remapped_file : !(event->usable & MAP_ANONYMOUS);

	if (!thread ||
	    !tp_maps_add(&replay->maps, event->address, range_end(event->address, event->size), event->node, file))
		return false;
	replay->heap.maps += replay->inside;
	replay->now.mapped_bytes = replay->maps.live;
	return true;
}

static bool on_unmap(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = thread_of(replay, event);
	struct tp_maps *maps = &replay->maps;
	struct tp_ranges removed;
	struct tp_undo *undo;

	if (!thread)
		return false;
	undo = &thread->undo;
	undo->what = TP_UNDO_NOTHING;
	if (event->cancelled)
		return true;
	if (!tp_maps_remove(maps, event->address, range_end(event->address, event->size)))
		return false;
	thread->remapped_file = maps->removed.count && maps->sites[maps->removed.list[0].site].file;
	undo->what = TP_UNDO_UNMAP;
	undo->counted = replay->inside;
	/* The thread keeps the list, and its old one is used next. */
	removed = maps->removed;
	maps->removed = undo->ranges;
	undo->ranges = removed;
	replay->heap.unmaps += replay->inside;
	replay->now.mapped_bytes = maps->live;
	return true;
}

static void on_memory(struct tp_replay *replay, const struct tp_event *event)
{
	replay->now.rss = event->size;
	replay->now.vms = event->usable;
	if (replay->inside && event->size > replay->heap.rss_peak)
		replay->heap.rss_peak = event->size;
}

static bool on_name(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = thread_of(replay, event);
	size_t length = event->name_length;

	if (!thread)
		return false;
	if (length >= sizeof(thread->stats.name))
		length = sizeof(thread->stats.name) - 1;
	memcpy(thread->stats.name, event->name, length);
	thread->stats.name[length] = 0;
	return true;
}

static bool on_sample(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_cpu one = { 1, event->size, (double)event->size * (double)event->size };
	struct tp_thread_state *thread = thread_of(replay, event);

	if (!thread)
		return false;
	if (!replay->inside || (replay->options->thread && event->thread != replay->options->thread))
		return true;
	tp_cpu_add(&thread->stats.cpu, &one);
	return tp_cpu_count(&replay->cpu, tp_trace_node(replay->trace, event->node), event->thread, event->size);
}

/* ---- ops and steps ---- */

/* Begins, ends and details of ops. */
static bool on_op(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = thread_of(replay, event);
	bool counted = replay->inside && (!replay->options->thread || replay->options->thread == event->thread);
	uint64_t now = tp_replay_ns(replay, event->time);

	if (!thread)
		return false;
	switch (event->kind) {
	case TP_EVENT_OP_BEGIN:
		return tp_ops_begin(&replay->ops, &thread->open, event->size, now, counted);
	case TP_EVENT_OP_END:
		return tp_ops_end(&replay->ops, &thread->open, event->unwound, now, counted);
	default:
		return tp_ops_detail(&replay->ops, &thread->open, event->size, event->usable, event->name,
				     event->name_length);
	}
}

static bool on_step(struct tp_replay *replay, const struct tp_event *event)
{
	if (!thread_of(replay, event))
		return false;
	return !replay->inside ||
	       tp_steps_end(&replay->steps, tp_replay_ns(replay, event->time), replay->now.live_bytes, event->size);
}

/* ---- the replay ---- */

bool tp_replay_init(struct tp_replay *replay, struct tp_trace *trace, const struct tp_replay_options *options,
		    uint64_t start_ns)
{
	uint64_t from = options->from_ns > start_ns ? options->from_ns - start_ns : 0;

	memset(replay, 0, sizeof(*replay));
	replay->trace = trace;
	replay->options = options;
	replay->start_ns = start_ns;
	replay->estimates.mean = (double)trace->header->sample_bytes;
	replay->sampled = trace->header->sample_bytes != 0;
	replay->from = from ? tp_trace_time(trace, from) : 0;
	replay->to = UINT64_MAX;
	if (options->to_ns)
		replay->to = options->to_ns < start_ns ? 0 : tp_trace_time(trace, options->to_ns - start_ns + 1) - 1;
	replay->short_time = tp_trace_time(trace, TP_SHORT_LIVED_NS) - tp_trace_time(trace, 1);
	replay->stray_time = tp_trace_time(trace, STRAY_NS) - tp_trace_time(trace, 1);
	replay->events = tp_events_open(trace);
	if (!replay->events || !tp_live_init(&replay->live) || !tp_sites_init(&replay->sites, trace, options->group) ||
	    !tp_maps_init(&replay->maps, trace) || !tp_cpu_init(&replay->cpu) || !tp_ops_init(&replay->ops, trace) ||
	    !tp_timeline_init(&replay->timeline, options->timeline_points))
		return false;
	replay->event = tp_events_next(replay->events);
	if (replay->event)
		replay->first = replay->last = replay->event->time;
	return replay->event || !tp_events_failed(replay->events);
}

void tp_replay_free(struct tp_replay *replay)
{
	size_t i;

	tp_events_close(replay->events);
	tp_live_free(&replay->live);
	tp_sites_free(&replay->sites);
	tp_maps_free(&replay->maps);
	tp_cpu_free(&replay->cpu);
	tp_ops_free(&replay->ops);
	tp_steps_free(&replay->steps);
	tp_estimates_free(&replay->estimates);
	free(replay->timeline.points);
	for (i = 0; i < replay->thread_count; i++)
		free(replay->threads[i].undo.ranges.list), free(replay->threads[i].open.frames);
	free(replay->threads);
	free(replay->thread_index);
}

/* The time that is looked at begins: what is live counts towards the peak, not towards the rest. */
static void begin(struct tp_replay *replay, uint64_t time)
{
	replay->inside = true;
	replay->heap.peak_bytes = replay->amount.bytes;
	replay->heap.peak_blocks = replay->amount.blocks;
	replay->heap.peak_usable = replay->amount.usable;
	if (replay->sampled) {
		replay->heap.peak_bytes = replay->now.live_bytes;
		tp_estimates_peak(&replay->estimates);
	}
	replay->heap.rss_peak = replay->now.rss;
	replay->peak_time = time;
	replay->peak_number++;
	tp_maps_begin(&replay->maps);
	tp_steps_start(&replay->steps, replay->from ? tp_replay_ns(replay, time) : replay->start_ns,
		       replay->now.live_bytes);
}

HOT bool dispatch(struct tp_replay *replay, const struct tp_event *event, bool sampled)
{
	switch ((enum tp_event_kind)event->kind) {
	case TP_EVENT_ALLOC:
		return on_alloc(replay, event, sampled);
	case TP_EVENT_FREE:
		return on_free(replay, event, sampled);
	case TP_EVENT_CANCEL:
		return on_cancel(replay, event);
	case TP_EVENT_MAP:
		return on_map(replay, event);
	case TP_EVENT_UNMAP:
		return on_unmap(replay, event);
	case TP_EVENT_MEMORY:
		on_memory(replay, event);
		return true;
	case TP_EVENT_NAME:
		return on_name(replay, event);
	case TP_EVENT_SAMPLE:
		return on_sample(replay, event);
	case TP_EVENT_OP_BEGIN:
	case TP_EVENT_OP_END:
	case TP_EVENT_DETAIL:
		return on_op(replay, event);
	case TP_EVENT_STEP:
		return on_step(replay, event);
	default:
		return thread_of(replay, event) != NULL;
	}
}

/*
 * Has the memory fetched that the events to come will touch: blocks first, then, when these are there, their sites. It
 * is a guess (the block may be behind its first slot), and nothing but speed depends on it.
 */
static inline void look_ahead(const struct tp_replay *replay)
{
	const struct tp_event *far = tp_events_ahead(replay->events, 7), *near = tp_events_ahead(replay->events, 3);
	uint32_t site = TP_SITE_NONE;

	if (far)
		__builtin_prefetch(&replay->live.blocks[tp_live_slot(&replay->live, far->address)]);
	if (!near)
		return;
	if (near->kind == TP_EVENT_FREE)
		site = replay->live.blocks[tp_live_slot(&replay->live, near->address)].site;
	else if (near->kind == TP_EVENT_ALLOC && replay->sites.of_node && near->node < replay->trace->node_count)
		site = replay->sites.of_node[near->node];
	__builtin_prefetch(&replay->sites.list[site]);
}

HOT bool step(struct tp_replay *replay, bool sampled)
{
	const struct tp_event *event = replay->event;

	if (__builtin_expect(!replay->inside, 0) && event->time >= replay->from)
		begin(replay, replay->from > replay->first ? replay->from : event->time);
	if (replay->inside)
		tp_timeline_advance(&replay->timeline, event->time, &replay->now);
	replay->last = event->time;
	replay->heap.events++;
	look_ahead(replay);
	if (__builtin_expect(!dispatch(replay, event, sampled), 0))
		return false;
	replay->event = tp_events_next(replay->events);
	if (__builtin_expect(!replay->event, 0))
		return !tp_events_failed(replay->events);
	if (__builtin_expect(replay->event->time > replay->to, 0))
		replay->event = NULL;
	return true;
}

HOT bool steps(struct tp_replay *replay, size_t count, bool sampled)
{
	while (count-- && replay->event)
		if (__builtin_expect(!step(replay, sampled), 0))
			return false;
	return true;
}

bool tp_replay_step(struct tp_replay *replay)
{
	return tp_replay_steps(replay, 1);
}

bool tp_replay_steps(struct tp_replay *replay, size_t count)
{
	return replay->sampled ? steps(replay, count, true) : steps(replay, count, false);
}

uint64_t tp_replay_ns(const struct tp_replay *replay, uint64_t time)
{
	return replay->start_ns + tp_trace_ns(replay->trace, time << replay->trace->header->tick_shift);
}

static void estimate_thread(const struct tp_thread_state *thread, struct tp_thread_stats *stats)
{
	stats->allocations = tp_round(thread->allocations.value);
	stats->frees = tp_round(thread->frees.value);
	stats->bytes = tp_round(thread->bytes.value);
	stats->allocations_variance = thread->allocations.variance;
	stats->frees_variance = thread->frees.variance;
	stats->bytes_variance = thread->bytes.variance;
}

static bool result_threads(struct tp_replay *replay, struct tp_process *process)
{
	size_t i;

	process->threads = calloc(replay->thread_count + 1, sizeof(*process->threads));
	process->thread_count = replay->thread_count;
	for (i = 0; process->threads && i < replay->thread_count; i++) {
		struct tp_thread_state *thread = &replay->threads[i];

		process->threads[i] = thread->stats;
		if (replay->sampled)
			estimate_thread(thread, &process->threads[i]);
		process->threads[i].first_ns = tp_replay_ns(replay, thread->first);
		process->threads[i].last_ns = tp_replay_ns(replay, thread->last);
		tp_cpu_add(&process->cpu, &thread->stats.cpu);
	}
	return process->threads != NULL;
}

static bool result_ops(struct tp_replay *replay, struct tp_process *process)
{
	bool good = true;
	size_t i;

	for (i = 0; good && i < replay->thread_count; i++)
		good = tp_ops_left_open(&replay->ops, &replay->threads[i].open);
	process->ops = good ? tp_ops_result(&replay->ops, &process->op_count) : NULL;
	process->op_counts = replay->ops.counts;
	tp_steps_result(&replay->steps, &process->steps);
	return process->ops != NULL;
}

static void result_heap(struct tp_replay *replay, struct tp_heap *heap)
{
	uint64_t header_peak = replay->trace->header->rss_peak;
	bool whole = !replay->options->from_ns && !replay->options->to_ns;

	*heap = replay->heap;
	heap->peak_time_ns = tp_replay_ns(replay, replay->peak_time);
	heap->end_bytes = replay->amount.bytes - replay->before.bytes;
	heap->end_blocks = replay->amount.blocks - replay->before.blocks;
	heap->end_usable = replay->amount.usable - replay->before.usable;
	heap->recorded_allocations = heap->allocations;
	heap->recorded_frees = heap->frees;
	if (replay->sampled)
		tp_estimates_heap(&replay->estimates, heap);
	heap->mapped_peak = replay->maps.peak;
	heap->mapped_end = replay->maps.live;
	if (whole && header_peak > heap->rss_peak)
		heap->rss_peak = header_peak;
}

bool tp_replay_result(struct tp_replay *replay, struct tp_process *process)
{
	const struct tprof_header *header = replay->trace->header;
	uint64_t overhead = replay->trace->overhead_ticks, end;
	size_t i;

	if (!replay->inside)
		begin(replay, replay->last);
	process->trace = replay->trace;
	process->start_ns = replay->start_ns;
	end = header->finish.ticks ? tp_trace_ns(replay->trace, header->finish.ticks) : 0;
	process->duration_ns = tp_replay_ns(replay, replay->last) - replay->start_ns;
	if (header->end != TPROF_END_NONE && end > process->duration_ns)
		process->duration_ns = end;
	process->overhead_ns = tp_trace_ns(replay->trace, header->start.ticks + overhead);
	process->combined_peak_bytes = replay->combined_peak;
	process->combined_peak_variance = replay->combined_variance;
	process->estimated = replay->sampled;
	result_heap(replay, &process->heap);
	process->timeline = tp_timeline_finish(&replay->timeline, replay->last, &replay->now, &process->point_count);
	for (i = 0; i < process->point_count; i++)
		process->timeline[i].time_ns = tp_replay_ns(replay, process->timeline[i].time_ns);
	process->sites = tp_sites_result(&replay->sites, replay->peak_number,
					 replay->sampled ? &replay->estimates : NULL, &process->site_count);
	process->cpu_sites = tp_cpu_result(&replay->cpu, &process->cpu_site_count);
	process->map_sites = tp_maps_result(&replay->maps, &process->map_site_count);
	return process->sites && process->map_sites && result_threads(replay, process) && result_ops(replay, process);
}
