/* SPDX-License-Identifier: Apache-2.0 */
#include "model/replay/replay_impl.h"

#include <string.h>

/*
 * The parts, in the order in which they are saved and looked at: a part may be checked against those before it, and may use
 * what their looks have put into the result.
 */
static const struct tpa_part *const parts[] = {
	&tpa_part_time,	  &tpa_part_order,   &tpa_part_heap,   &tpa_part_pools, &tpa_part_maps,
	&tpa_part_cpu,	  &tpa_part_levels,  &tpa_part_ops,    &tpa_part_steps, &tpa_part_growth,
	&tpa_part_memory, &tpa_part_threads, &tpa_part_folded, &tpa_part_ranks,
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

void tpa_replay_prepare(struct tpa_replay *replay, struct tpa_trace *trace, const struct tpa_replay_options *options,
			uint64_t start_ns)
{
	uint64_t from = options->from_ns > start_ns ? options->from_ns - start_ns : 0;

	memset(replay, 0, sizeof(*replay));
	replay->trace = trace;
	replay->options = options;
	replay->start_ns = start_ns;
	replay->sampled = trace->header->sample_bytes || trace->header->max_overhead;
	replay->from = from ? tpa_trace_time(trace, from) : 0;
	replay->to = UINT64_MAX;
	if (options->to_ns)
		replay->to = options->to_ns < start_ns ? 0 : tpa_trace_time(trace, options->to_ns - start_ns + 1) - 1;
	for (size_t i = 0; i < PARTS; i++)
		if (parts[i]->init)
			parts[i]->init(replay);
	replay->events = tpa_events_open(trace);
}

void tpa_replay_init(struct tpa_replay *replay, struct tpa_trace *trace, const struct tpa_replay_options *options,
		     uint64_t start_ns)
{
	tpa_replay_prepare(replay, trace, options, start_ns);
	replay->event = tpa_events_next(replay->events);
	if (replay->event)
		replay->first = replay->last = replay->event->time;
	tpa_replay_find_pools(replay);
}

void tpa_replay_archive_parts(struct tpa_archive *archive, struct tpa_replay *replay)
{
	for (size_t i = 0; i < PARTS && !archive->failed; i++)
		if (parts[i]->archive)
			parts[i]->archive(archive, replay);
}

void tpa_replay_result(struct tpa_replay *replay, struct tpa_process *process)
{
	if (!replay->inside)
		tpa_replay_begin(replay, replay->last);
	for (size_t i = 0; i < PARTS; i++)
		if (parts[i]->look)
			parts[i]->look(replay, process);
	for (size_t i = 0; i < PARTS; i++)
		if (parts[i]->sites)
			parts[i]->sites(replay, process);
}

void tpa_replay_free(struct tpa_replay *replay)
{
	tpa_events_close(replay->events);
	for (size_t i = 0; i < PARTS; i++)
		if (parts[i]->free)
			parts[i]->free(replay);
}

void tpa_replay_begin(struct tpa_replay *replay, uint64_t time)
{
	struct tpa_step_moment moment;

	replay->inside = true;
	tpa_replay_heap_begin(replay, time);
	tpa_maps_begin(&replay->maps);
	moment = tpa_replay_step_moment(replay, replay->from ? tpa_replay_ticks(replay, time)
							     : replay->trace->header->start.ticks);
	tpa_steps_start(&replay->steps.steps, &moment);
	tpa_replay_growth_begin(replay, time);
}

static void only_thread(struct tpa_replay *replay, const struct tpa_event *event)
{
	tpa_replay_thread(replay, event);
}

/*
 * The handler of each kind of event; kinds without one only show that their thread exists. Allocations and frees of exact runs,
 * which are nearly all events, bypass the table.
 */
/* clang-format off: a line each */
static tpa_replay_handler *const handlers[TPA_EVENT_KINDS] = {
	[TPA_EVENT_ALLOC] = tpa_replay_sampled_alloc,
	[TPA_EVENT_FREE] = tpa_replay_sampled_free_block,
	[TPA_EVENT_CANCEL] = tpa_replay_cancel,
	[TPA_EVENT_MAP] = tpa_replay_map,
	[TPA_EVENT_UNMAP] = tpa_replay_unmap,
	[TPA_EVENT_MEMORY] = tpa_replay_memory,
	[TPA_EVENT_NAME] = tpa_replay_name,
	[TPA_EVENT_SAMPLE] = tpa_replay_sample,
	[TPA_EVENT_OP_BEGIN] = tpa_replay_op,
	[TPA_EVENT_OP_END] = tpa_replay_op,
	[TPA_EVENT_SHAPE] = tpa_replay_op,
	[TPA_EVENT_DETAIL] = tpa_replay_op,
	[TPA_EVENT_STEP] = tpa_replay_step_end,
	[TPA_EVENT_MARK] = tpa_replay_mark,
	[TPA_EVENT_PAUSE] = tpa_replay_pause,
	[TPA_EVENT_RESUME] = tpa_replay_pause,
	[TPA_EVENT_POOL_ALLOC] = tpa_replay_pool_alloc,
	[TPA_EVENT_POOL_FREE] = tpa_replay_pool_free,
	[TPA_EVENT_COUNTERS] = tpa_replay_counters,
	[TPA_EVENT_WORK] = tpa_replay_op,
	[TPA_EVENT_FOLD] = tpa_replay_op,
	[TPA_EVENT_USAGE] = tpa_replay_usage,
	[TPA_EVENT_ALLOCATOR] = tpa_replay_allocator,
	[TPA_EVENT_REGION] = tpa_replay_region,
	[TPA_EVENT_LEVEL] = tpa_replay_level,
	[TPA_EVENT_COMM] = tpa_replay_comm,
	[TPA_EVENT_COMM_DONE] = tpa_replay_comm_done,
};
/* clang-format on */

static inline void dispatch(struct tpa_replay *replay, const struct tpa_event *event, bool sampled)
{
	if (!sampled && event->kind == TPA_EVENT_ALLOC)
		tpa_replay_alloc(replay, event);
	else if (!sampled && event->kind == TPA_EVENT_FREE)
		tpa_replay_free_block(replay, event);
	else
		(handlers[event->kind] ? handlers[event->kind] : only_thread)(replay, event);
}

/*
 * Prefetches the memory that the next events will touch: blocks first and then, once these are in the cache, their sites. It is
 * a guess (the block may be behind its first slot) and affects nothing but speed.
 */
static inline void look_ahead(const struct tpa_replay *replay)
{
	const struct tpa_event *far = tpa_events_ahead(replay->events, 7), *near = tpa_events_ahead(replay->events, 3);
	uint32_t site = TPA_SITE_NONE;

	if (far)
		__builtin_prefetch(&replay->heap.live.blocks[tpa_live_slot(&replay->heap.live, far->block.address)]);
	if (!near)
		return;
	if (near->kind == TPA_EVENT_FREE)
		site = replay->heap.live.blocks[tpa_live_slot(&replay->heap.live, near->free.address)].site;
	else if (near->kind == TPA_EVENT_ALLOC && near->node < replay->heap.sites.number_count)
		site = replay->heap.sites.of_number[near->node];
	__builtin_prefetch(&replay->heap.sites.list[site]);
}

static inline void step(struct tpa_replay *replay, bool sampled)
{
	const struct tpa_event *event = replay->event;

	if (__builtin_expect(!replay->inside, 0) && event->time >= replay->from)
		tpa_replay_begin(replay, replay->from > replay->first ? replay->from : event->time);
	if (replay->inside)
		tpa_timeline_advance(&replay->timeline, event->time, &replay->now);
	if (__builtin_expect(event->time >= replay->growth.of_time.due, 0))
		tpa_replay_growth_due(replay, event->time);
	replay->last = event->time;
	replay->heap.counts.events++;
	look_ahead(replay);
	dispatch(replay, event, sampled);
	tpa_replay_fetch(replay);
}

static inline void steps(struct tpa_replay *replay, size_t count, bool sampled)
{
	while (count-- && replay->event)
		step(replay, sampled);
}

void tpa_replay_step(struct tpa_replay *replay)
{
	tpa_replay_steps(replay, 1);
}

/* Events of other kinds are read, and that is all. */
static void step_ops(struct tpa_replay *replay)
{
	const struct tpa_event *event = replay->event;

	if (!replay->inside && event->time >= replay->from)
		tpa_replay_begin(replay, replay->from > replay->first ? replay->from : event->time);
	replay->last = event->time;
	if (event->kind == TPA_EVENT_OP_BEGIN || event->kind == TPA_EVENT_OP_END)
		tpa_replay_op(replay, event);
	tpa_replay_fetch(replay);
}

void tpa_replay_steps(struct tpa_replay *replay, size_t count)
{
	if (replay->options->only_ops)
		while (count-- && replay->event)
			step_ops(replay);
	else if (replay->sampled)
		steps(replay, count, true);
	else
		steps(replay, count, false);
}
