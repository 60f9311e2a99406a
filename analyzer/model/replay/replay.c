/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "model/replay/replay_impl.h"

/*
 * A free is stamped before the real call and an allocation after it, so an address is free in the trace before it is
 * allocated again, unless the two stamps are equal or the cores' clocks differ a little: this much is repaired.
 */
#define STRAY_NS 100000

/*
 * A processor reads the counter for a free while it still waits for the block itself to come from the core of the thread that
 * allocated it (no rdtsc waits for the loads before it): the free's stamp can precede the allocation's by what a contended
 * cache line takes. 3 to 43 ns were seen.
 */
#define EARLY_NS 1000

#define SLICE_NS 10000 /* the first slices of time, where there are no steps */

bool tp_replay_prepare(struct tp_replay *replay, struct tp_trace *trace, const struct tp_replay_options *options,
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
	replay->ops.batches = options->batches;
	replay->stray_time = tp_trace_time(trace, STRAY_NS) - tp_trace_time(trace, 1);
	replay->early_time = tp_trace_time(trace, EARLY_NS) - tp_trace_time(trace, 1);
	tp_live_init(&replay->live);
	tp_sites_init(&replay->sites, trace, options->group);
	tp_maps_init(&replay->maps, trace);
	tp_pools_init(&replay->pools, trace);
	tp_cpu_init(&replay->cpu);
	tp_timeline_init(&replay->timeline, options->timeline_points);
	tp_cost_init(&replay->cost, trace);
	tp_ops_init(&replay->ops, trace, &replay->cost);
	tp_replay_find_anchor(replay);
	replay->events = tp_events_open(trace);
	if (!replay->events)
		return false;
	replay->in_pause = trace->header->flags & TPROF_FLAG_WAITED;
	replay->pause_began = trace->header->start.ticks >> trace->header->tick_shift;
	replay->of_time.due = UINT64_MAX; /* until the time that is looked at begins */
	return true;
}

bool tp_replay_init(struct tp_replay *replay, struct tp_trace *trace, const struct tp_replay_options *options,
		    uint64_t start_ns)
{
	if (!tp_replay_prepare(replay, trace, options, start_ns))
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
	tp_pools_free(&replay->pools);
	tp_sites_free(&replay->sites);
	tp_maps_free(&replay->maps);
	tp_cpu_free(&replay->cpu);
	tp_ops_free(&replay->ops);
	tp_cost_free(&replay->cost);
	tp_steps_free(&replay->steps);
	tp_growth_free(&replay->of_steps);
	tp_growth_free(&replay->of_time);
	tp_estimates_free(&replay->estimates);
	free(replay->timeline.points);
	tp_marks_free(&replay->marks);
	tp_allocator_free(&replay->allocator);
	tp_makeup_state_free(&replay->makeup);
	free(replay->outlived.list);
	for (i = 0; i < replay->thread_count; i++)
		free(replay->threads[i].undo.ranges.list), free(replay->threads[i].open.frames),
			free(replay->threads[i].calls.ring);
	free(replay->threads);
	free(replay->thread_index);
}

struct tp_growth_inputs tp_replay_growth_inputs(struct tp_replay *replay)
{
	return (struct tp_growth_inputs){ .trace = replay->trace,
					  .options = replay->options,
					  .start_ns = replay->start_ns,
					  .last = replay->last,
					  .sites = &replay->sites,
					  .estimates = replay->sampled ? &replay->estimates : NULL,
					  .maps = &replay->maps,
					  .live = &replay->live,
					  .outlived = &replay->outlived,
					  .makeup = &replay->makeup.result,
					  .now = &replay->now,
					  .parts = &replay->parts,
					  .allocator = &replay->allocator.last,
					  .allocator_live = replay->allocator_live };
}

static void look_at_growth(struct tp_replay *replay, uint64_t time)
{
	struct tp_growth_inputs in = tp_replay_growth_inputs(replay);

	tp_growth_look_back(&replay->of_time, &in, time);
	tp_growth_look(&replay->of_time, &in, time);
}

/* Slices of time become longer as the run goes on: how long it will be is not known while its trace grows. */
static void begin_growth(struct tp_replay *replay, uint64_t time)
{
	uint64_t slice = tp_trace_time(replay->trace, SLICE_NS) - tp_trace_time(replay->trace, 1);

	tp_growth_init(&replay->of_steps, 1, 1);
	tp_growth_init(&replay->of_time, slice, 2);
	replay->of_time.due = time + replay->of_time.stride;
	if (replay->options->group == TP_GROUP_STACK)
		return;
	tp_growth_drop(&replay->of_steps);
	tp_growth_drop(&replay->of_time);
}

void tp_replay_begin(struct tp_replay *replay, uint64_t time)
{
	struct tp_step_moment moment;

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
	moment = tp_replay_step_moment(replay, replay->from ? tp_replay_ns(replay, time) : replay->start_ns);
	tp_steps_start(&replay->steps, &moment);
	begin_growth(replay, time);
}

static bool only_thread(struct tp_replay *replay, const struct tp_event *event)
{
	return tp_replay_thread(replay, event) != NULL;
}

/*
 * What each kind of event does; kinds without a line say no more than that their thread was there. Allocations and frees
 * of exact runs go past the table: they are nearly all there is.
 */
/* clang-format off: a line each */
static tp_replay_handler *const handlers[TP_EVENT_KINDS] = {
	[TP_EVENT_ALLOC] = tp_replay_sampled_alloc,
	[TP_EVENT_FREE] = tp_replay_sampled_free_block,
	[TP_EVENT_CANCEL] = tp_replay_cancel,
	[TP_EVENT_MAP] = tp_replay_map,
	[TP_EVENT_UNMAP] = tp_replay_unmap,
	[TP_EVENT_MEMORY] = tp_replay_memory,
	[TP_EVENT_NAME] = tp_replay_name,
	[TP_EVENT_SAMPLE] = tp_replay_sample,
	[TP_EVENT_OP_BEGIN] = tp_replay_op,
	[TP_EVENT_OP_END] = tp_replay_op,
	[TP_EVENT_SHAPE] = tp_replay_op,
	[TP_EVENT_DETAIL] = tp_replay_op,
	[TP_EVENT_STEP] = tp_replay_step_end,
	[TP_EVENT_MARK] = tp_replay_mark,
	[TP_EVENT_PAUSE] = tp_replay_pause,
	[TP_EVENT_RESUME] = tp_replay_pause,
	[TP_EVENT_POOL_ALLOC] = tp_replay_pool_alloc,
	[TP_EVENT_POOL_FREE] = tp_replay_pool_free,
	[TP_EVENT_COUNTERS] = tp_replay_counters,
	[TP_EVENT_WORK] = tp_replay_op,
	[TP_EVENT_FOLD] = tp_replay_op,
	[TP_EVENT_USAGE] = tp_replay_usage,
	[TP_EVENT_ALLOCATOR] = tp_replay_allocator,
	[TP_EVENT_REGION] = tp_replay_region,
};
/* clang-format on */

static inline bool dispatch(struct tp_replay *replay, const struct tp_event *event, bool sampled)
{
	if (!sampled && event->kind == TP_EVENT_ALLOC)
		return tp_replay_alloc(replay, event);
	if (!sampled && event->kind == TP_EVENT_FREE)
		return tp_replay_free_block(replay, event);
	return (handlers[event->kind] ? handlers[event->kind] : only_thread)(replay, event);
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
		__builtin_prefetch(&replay->live.blocks[tp_live_slot(&replay->live, far->block.address)]);
	if (!near)
		return;
	if (near->kind == TP_EVENT_FREE)
		site = replay->live.blocks[tp_live_slot(&replay->live, near->free.address)].site;
	else if (near->kind == TP_EVENT_ALLOC && replay->sites.of_node && near->node < replay->trace->node_count)
		site = replay->sites.of_node[near->node];
	__builtin_prefetch(&replay->sites.list[site]);
}

static inline bool step(struct tp_replay *replay, bool sampled)
{
	const struct tp_event *event = replay->event;

	if (__builtin_expect(!replay->inside, 0) && event->time >= replay->from)
		tp_replay_begin(replay, replay->from > replay->first ? replay->from : event->time);
	if (replay->inside)
		tp_timeline_advance(&replay->timeline, event->time, &replay->now);
	if (__builtin_expect(event->time >= replay->of_time.due, 0))
		look_at_growth(replay, event->time);
	replay->last = event->time;
	replay->heap.events++;
	look_ahead(replay);
	if (__builtin_expect(!dispatch(replay, event, sampled), 0))
		return false;
	return tp_replay_fetch(replay);
}

static inline bool steps(struct tp_replay *replay, size_t count, bool sampled)
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

uint64_t tp_replay_end_ns(const struct tp_replay *replay)
{
	uint64_t last = tp_replay_ns(replay, replay->last);
	uint64_t end = replay->start_ns + tp_trace_ns(replay->trace, tp_trace_last(replay->trace));

	return end > last ? end : last;
}
