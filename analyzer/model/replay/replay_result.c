/* SPDX-License-Identifier: Apache-2.0 */
/* What comes out of a replay. */
#include "model/replay/replay_impl.h"

#define KNOWN_LEAST_NS 1000000000u

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

/* A pause that goes on lasts to the end of the run. */
static uint64_t pause_ns(const struct tp_replay *replay, uint64_t duration_ns)
{
	const struct tp_trace *trace = replay->trace;
	uint64_t ticks = replay->paused << trace->header->tick_shift;
	uint64_t ns = tp_trace_ns(trace, trace->header->start.ticks + ticks), began;

	if (!replay->in_pause)
		return ns;
	began = tp_replay_ns(replay, replay->pause_began) - replay->start_ns;
	return ns + (duration_ns > began ? duration_ns - began : 0);
}

/*
 * From the last event on all stays as it is, to the end or to now. Of a process whose end is not known (it was killed, or this
 * is a copy of its trace) that time is not known either: what it did in less than a second is no rate.
 */
static void look_to_the_end(struct tp_replay *replay, const struct tp_growth_inputs *in)
{
	const struct tp_trace *trace = replay->trace;
	uint64_t end = tp_trace_last(trace) >> trace->header->tick_shift;

	if (trace->header->end != TPROF_END_NONE || trace->written) {
		if (!replay->cut)
			tp_growth_look_back(&replay->of_time, in, end < replay->to ? end : replay->to);
		return;
	}
	if (tp_replay_end_ns(replay) - replay->start_ns < KNOWN_LEAST_NS)
		tp_growth_drop(&replay->of_time);
}

/* After the steps' result. */
static void result_growth(struct tp_replay *replay, struct tp_process *process)
{
	struct tp_growth_inputs in = tp_replay_growth_inputs(replay);
	bool seconds = process->steps.count < TP_TREND_LEAST;

	if (!seconds)
		tp_growth_survivors(&replay->of_steps, &in);
	else
		look_to_the_end(replay, &in);
	tp_growth_result(seconds ? &replay->of_time : &replay->of_steps, &in, seconds, &process->growth);
	tp_growth_births(&in, &process->steps, &process->growth);
}

/* After the growth's result, which needs event times. */
static void result_makeup(struct tp_replay *replay, struct tp_process *process)
{
	struct tp_makeup *makeup = &process->makeup;

	*makeup = replay->makeup.result;
	replay->makeup.result = (struct tp_makeup){ .readings = 0 };
	makeup->peak.sample.time = tp_replay_ns(replay, makeup->peak.sample.time);
	makeup->end.sample.time = tp_replay_ns(replay, makeup->end.sample.time);
	for (size_t i = 0; i < makeup->count; i++)
		makeup->list[i].time = tp_replay_ns(replay, makeup->list[i].time);
}

bool tp_replay_result(struct tp_replay *replay, struct tp_process *process)
{
	const struct tprof_header *header = replay->trace->header;
	uint64_t overhead = tp_cost_recording(replay->trace);
	bool good;
	size_t i;

	if (!replay->inside)
		tp_replay_begin(replay, replay->last);
	process->trace = replay->trace;
	process->start_ns = replay->start_ns;
	process->duration_ns = tp_replay_end_ns(replay) - replay->start_ns;
	process->overhead_ns =
		tp_trace_ns(replay->trace, header->start.ticks + overhead) + tp_round(replay->counters_cost_ns);
	process->pauses = replay->pauses;
	process->off_at_start = header->flags & TPROF_FLAG_WAITED;
	process->pools = replay->pools.counts;
	process->paused_ns = pause_ns(replay, process->duration_ns);
	process->combined_peak_bytes = replay->combined_peak;
	process->combined_peak_variance = replay->combined_variance;
	process->estimated = replay->sampled;
	result_heap(replay, &process->heap);
	if (replay->sampled)
		process->unseen = tp_estimates_unseen(&replay->estimates);
	process->timeline = tp_timeline_finish(&replay->timeline, replay->last, &replay->now, &process->point_count);
	for (i = 0; i < process->point_count; i++)
		process->timeline[i].time_ns = tp_replay_ns(replay, process->timeline[i].time_ns);
	process->marks = replay->marks;
	replay->marks = (struct tp_marks){ NULL };
	process->allocator = replay->allocator;
	replay->allocator.list = NULL;
	process->sites = tp_sites_result(&replay->sites, replay->peak_number,
					 replay->sampled ? &replay->estimates : NULL, &process->site_count);
	process->cpu_outside = replay->cpu_outside;
	process->cpu_sites = tp_cpu_result(&replay->cpu, &process->cpu_site_count);
	process->map_sites = tp_maps_result(&replay->maps, &process->map_site_count);
	good = tp_replay_result_threads(replay, process) && tp_replay_result_ops(replay, process);
	result_growth(replay, process);
	result_makeup(replay, process);
	return good;
}
