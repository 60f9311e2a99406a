/* SPDX-License-Identifier: Apache-2.0 */
/* Growth with the steps and, while there are none, with time. */
#include "model/replay/replay_impl.h"

#define KNOWN_LEAST_NS 1000000000u
#define SLICE_NS 10000 /* the first slices of time, where there are no steps */

struct tpa_growth_inputs tpa_replay_growth_inputs(struct tpa_replay *replay)
{
	return (struct tpa_growth_inputs){ .trace = replay->trace,
					   .options = replay->options,
					   .start_ns = replay->start_ns,
					   .last = replay->last,
					   .sites = &replay->heap.sites,
					   .estimates = tpa_replay_estimated(replay) ? &replay->heap.estimates : NULL,
					   .maps = &replay->maps,
					   .live = &replay->heap.live,
					   .outlived = &replay->heap.outlived,
					   .makeup = &replay->memory.makeup.result,
					   .now = &replay->now,
					   .parts = &replay->memory.parts,
					   .allocator = &replay->memory.allocator.last,
					   .allocator_live = replay->memory.allocator_live };
}

void tpa_replay_growth_due(struct tpa_replay *replay, uint64_t time)
{
	struct tpa_growth_inputs in = tpa_replay_growth_inputs(replay);

	tpa_growth_look_back(&replay->growth.of_time, &in, time);
	tpa_growth_look(&replay->growth.of_time, &in, time);
}

/* Slices of time become longer as the run goes on: how long it will be is not known while its trace grows. */
void tpa_replay_growth_begin(struct tpa_replay *replay, uint64_t time)
{
	uint64_t slice = tpa_trace_about(replay->trace, SLICE_NS);

	tpa_growth_init(&replay->growth.of_steps, 1, 1);
	tpa_growth_init(&replay->growth.of_time, slice, 2);
	replay->growth.of_time.due = time + replay->growth.of_time.stride;
	if (replay->options->group == TPA_GROUP_STACK)
		return;
	tpa_growth_drop(&replay->growth.of_steps);
	tpa_growth_drop(&replay->growth.of_time);
}

/* ---- the part ---- */

static void init(struct tpa_replay *replay)
{
	replay->growth.of_time.due = UINT64_MAX; /* until `from` is reached */
}

static void archive(struct tpa_archive *to, struct tpa_replay *replay)
{
	struct tpa_part_growth *growth = &replay->growth;
	size_t sites = replay->heap.sites.count, maps = replay->maps.site_count;

	tpa_growth_archive(to, &growth->of_steps);
	tpa_growth_archive(to, &growth->of_time);
	tpa_archive_check(to,
			  growth->of_steps.sites.count <= sites && growth->of_time.sites.count <= sites &&
				  growth->of_steps.maps.count <= maps && growth->of_time.maps.count <= maps,
			  "a look is of no site");
}

/*
 * After its last event nothing changes, up to the process's end or to now. If the end is not known (the process was killed, or
 * this is a copy of its trace), neither is that time, and what it did in less than a second is no rate.
 */
static void look_to_the_end(struct tpa_replay *replay, const struct tpa_growth_inputs *in)
{
	const struct tpa_trace *trace = replay->trace;
	uint64_t end = tpa_trace_last(trace) >> trace->header->tick_shift;

	bool known = trace->header->end != TPROF_END_NONE || trace->written;

	if (known && !replay->cut)
		tpa_growth_look_back(&replay->growth.of_time, in, end < replay->to ? end : replay->to);
	if (!known && tpa_replay_end_ns(replay) - replay->start_ns < KNOWN_LEAST_NS)
		tpa_growth_drop(&replay->growth.of_time);
}

/* After the steps' look. */
static void look(struct tpa_replay *replay, struct tpa_process *process)
{
	struct tpa_growth_inputs in = tpa_replay_growth_inputs(replay);
	bool seconds = process->steps.count < TPA_TREND_LEAST;

	if (seconds)
		look_to_the_end(replay, &in);
	else
		tpa_growth_survivors(&replay->growth.of_steps, &in);
	tpa_growth_result(seconds ? &replay->growth.of_time : &replay->growth.of_steps, &in, seconds, &process->growth);
	tpa_growth_births(&in, &process->steps, &process->growth);
}

static void free_part(struct tpa_replay *replay)
{
	tpa_growth_free(&replay->growth.of_steps);
	tpa_growth_free(&replay->growth.of_time);
}

const struct tpa_part tpa_part_growth = { .init = init, .archive = archive, .look = look, .free = free_part };
