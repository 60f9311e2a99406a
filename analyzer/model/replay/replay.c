/* SPDX-License-Identifier: Apache-2.0 */
#include "model/replay/replay_impl.h"

#include <string.h>

/*
 * The parts, in the order in which they are saved and looked at: a part may be checked against those before it, and may use
 * what their looks have put into the result.
 */
static const struct tp_part *const parts[] = {
	&tp_part_time, &tp_part_order, &tp_part_heap,	&tp_part_pools,	 &tp_part_maps,	   &tp_part_cpu,
	&tp_part_ops,  &tp_part_steps, &tp_part_growth, &tp_part_memory, &tp_part_threads,
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

void tp_replay_prepare(struct tp_replay *replay, struct tp_trace *trace, const struct tp_replay_options *options,
		       uint64_t start_ns)
{
	uint64_t from = options->from_ns > start_ns ? options->from_ns - start_ns : 0;

	memset(replay, 0, sizeof(*replay));
	replay->trace = trace;
	replay->options = options;
	replay->start_ns = start_ns;
	replay->sampled = trace->header->sample_bytes != 0;
	replay->from = from ? tp_trace_time(trace, from) : 0;
	replay->to = UINT64_MAX;
	if (options->to_ns)
		replay->to = options->to_ns < start_ns ? 0 : tp_trace_time(trace, options->to_ns - start_ns + 1) - 1;
	for (size_t i = 0; i < PARTS; i++)
		if (parts[i]->init)
			parts[i]->init(replay);
	replay->events = tp_events_open(trace);
}

void tp_replay_init(struct tp_replay *replay, struct tp_trace *trace, const struct tp_replay_options *options,
		    uint64_t start_ns)
{
	tp_replay_prepare(replay, trace, options, start_ns);
	replay->event = tp_events_next(replay->events);
	if (replay->event)
		replay->first = replay->last = replay->event->time;
}

void tp_replay_archive_parts(struct tp_archive *archive, struct tp_replay *replay)
{
	for (size_t i = 0; i < PARTS && !archive->failed; i++)
		if (parts[i]->archive)
			parts[i]->archive(archive, replay);
}

void tp_replay_result(struct tp_replay *replay, struct tp_process *process)
{
	if (!replay->inside)
		tp_replay_begin(replay, replay->last);
	for (size_t i = 0; i < PARTS; i++)
		if (parts[i]->look)
			parts[i]->look(replay, process);
}

void tp_replay_free(struct tp_replay *replay)
{
	tp_events_close(replay->events);
	for (size_t i = 0; i < PARTS; i++)
		if (parts[i]->free)
			parts[i]->free(replay);
}

void tp_replay_begin(struct tp_replay *replay, uint64_t time)
{
	struct tp_step_moment moment;

	replay->inside = true;
	tp_replay_heap_begin(replay, time);
	tp_maps_begin(&replay->maps);
	moment = tp_replay_step_moment(replay, replay->from ? tp_replay_ns(replay, time) : replay->start_ns);
	tp_steps_start(&replay->steps.steps, &moment);
	tp_replay_growth_begin(replay, time);
}

static void only_thread(struct tp_replay *replay, const struct tp_event *event)
{
	tp_replay_thread(replay, event);
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

static inline void dispatch(struct tp_replay *replay, const struct tp_event *event, bool sampled)
{
	if (!sampled && event->kind == TP_EVENT_ALLOC)
		tp_replay_alloc(replay, event);
	else if (!sampled && event->kind == TP_EVENT_FREE)
		tp_replay_free_block(replay, event);
	else
		(handlers[event->kind] ? handlers[event->kind] : only_thread)(replay, event);
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
		__builtin_prefetch(&replay->heap.live.blocks[tp_live_slot(&replay->heap.live, far->block.address)]);
	if (!near)
		return;
	if (near->kind == TP_EVENT_FREE)
		site = replay->heap.live.blocks[tp_live_slot(&replay->heap.live, near->free.address)].site;
	else if (near->kind == TP_EVENT_ALLOC && replay->heap.sites.of_node && near->node < replay->trace->node_count)
		site = replay->heap.sites.of_node[near->node];
	__builtin_prefetch(&replay->heap.sites.list[site]);
}

static inline void step(struct tp_replay *replay, bool sampled)
{
	const struct tp_event *event = replay->event;

	if (__builtin_expect(!replay->inside, 0) && event->time >= replay->from)
		tp_replay_begin(replay, replay->from > replay->first ? replay->from : event->time);
	if (replay->inside)
		tp_timeline_advance(&replay->timeline, event->time, &replay->now);
	if (__builtin_expect(event->time >= replay->growth.of_time.due, 0))
		tp_replay_growth_due(replay, event->time);
	replay->last = event->time;
	replay->heap.counts.events++;
	look_ahead(replay);
	dispatch(replay, event, sampled);
	tp_replay_fetch(replay);
}

static inline void steps(struct tp_replay *replay, size_t count, bool sampled)
{
	while (count-- && replay->event)
		step(replay, sampled);
}

void tp_replay_step(struct tp_replay *replay)
{
	tp_replay_steps(replay, 1);
}

void tp_replay_steps(struct tp_replay *replay, size_t count)
{
	if (replay->sampled)
		steps(replay, count, true);
	else
		steps(replay, count, false);
}
