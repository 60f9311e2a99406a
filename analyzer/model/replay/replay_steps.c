/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: by STEP events, by the calls of torch's autograd engine, or by the op that shows the period of the calls. */
#include <stdlib.h>
#include <string.h>

#include "model/replay/replay_impl.h"
#include "trace/chunks.h"

#define SEQUENCES_MAX 16u    /* threads */
#define USAGE_MOST_NS 20000u /* reading takes less: a longer time was something else */
#define AUTOGRAD "torch::autograd::Engine::execute"

/* ---- what ends a step ---- */

/* Number of the op with that name; 0: there is none. */
static uint32_t op_named(const struct tpa_trace *trace, const char *name)
{
	for (uint32_t i = 1; i < trace->op_count; i++)
		if (trace->ops[i].name && strcmp(trace->ops[i].name, name) == 0)
			return i;
	return 0;
}

/* Whether there is a STEP before the third backward pass: a program that marks its steps does so once in each. */
static bool marks_steps(struct tpa_trace *trace, uint32_t engine, uint64_t *passes)
{
	struct tpa_events *events = tpa_events_open(trace);
	const struct tpa_event *event;
	bool marked = false;

	for (*passes = 0; !marked && *passes < 3 && (event = tpa_events_next(events)) != NULL;) {
		marked = event->kind == TPA_EVENT_STEP;
		*passes += event->kind == TPA_EVENT_OP_BEGIN && event->op_begin.op == engine;
	}
	tpa_events_close(events);
	return marked;
}

static void count_passes(struct tpa_replay *replay)
{
	replay->steps.anchor = (struct tpa_anchor){ .source = TPA_STEPS_AUTOGRAD, .op = replay->steps.engine };
}

/* What ends a step, as far as that is known beforehand: an op of the torch preset. */
static void find_anchor(struct tpa_replay *replay)
{
	uint32_t engine = op_named(replay->trace, AUTOGRAD);
	uint64_t passes = 0;

	/* Once chunks are gone, the events from the begin can't be looked through. */
	if (!engine ||
	    (tpa_chunks_are_whole(tpa_trace_chunks(replay->trace)) && marks_steps(replay->trace, engine, &passes)))
		return;
	replay->steps.engine = replay->ops.calls.same[engine];
	if (passes)
		count_passes(replay);
}

static uint32_t symbol_of(const struct tpa_op_call *call)
{
	return call->op << TPA_SYMBOL_SHAPE_BITS | (call->shape < TPA_SYMBOL_SHAPES ? call->shape : TPA_SYMBOL_SHAPES);
}

/* Remembers the calls of the first threads that call ops: one of them is probably the one that trains. */
static void remember(struct tpa_replay *replay, struct tpa_thread_state *thread)
{
	if (!replay->options->find_steps || replay->steps.anchor.source || replay->steps.steps.ended)
		return;
	if (!thread->calls.count && replay->steps.sequences++ >= SEQUENCES_MAX)
		return;
	tpa_sequence_add(&thread->calls, symbol_of(&replay->ops.calls.last));
}

/* The thread with the most calls; NULL: no thread called an op. */
static const struct tpa_thread_state *busiest(const struct tpa_replay *replay)
{
	const struct tpa_thread_state *busy = NULL;

	for (size_t i = 0; i < replay->threads.count; i++)
		if (replay->threads.list[i].calls.count > (busy ? busy->calls.count : 0))
			busy = &replay->threads.list[i];
	return busy;
}

void tpa_replay_period(struct tpa_replay *replay, struct tpa_anchor *anchor)
{
	const struct tpa_thread_state *thread = busiest(replay);
	uint32_t *symbols;
	size_t count;

	*anchor = (struct tpa_anchor){ .source = TPA_STEPS_NONE };
	if (replay->steps.anchor.source || replay->steps.steps.ended || !thread)
		return;
	symbols = tpa_sequence_list(&thread->calls, &count);
	anchor->period = tpa_period_find(symbols, count);
	if (!anchor->period.found) { /* shapes may vary from step to step */
		for (size_t i = 0; i < count; i++)
			symbols[i] &= ~TPA_SYMBOL_SHAPES;
		anchor->period = tpa_period_find(symbols, count);
	}
	free(symbols);
	if (!anchor->period.found)
		return;
	anchor->source = TPA_STEPS_PERIOD;
	anchor->op = anchor->period.symbol >> TPA_SYMBOL_SHAPE_BITS;
	anchor->shape = anchor->period.symbol & TPA_SYMBOL_SHAPES;
	anchor->thread = thread->stats.thread;
}

/* ---- steps ---- */

void tpa_replay_usage(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_thread_state *thread = tpa_replay_thread(replay, event);

	if (!event->usage)
		return;
	replay->usage.last = *event->usage;
	thread->cpu_ns = replay->usage.last.own_cpu_ns;
	thread->usage_ticks = tpa_replay_ticks(replay, event->time);
	replay->usage.ticks = thread->usage_ticks;
	replay->usage.known = true;
}

struct tpa_step_moment tpa_replay_step_moment(const struct tpa_replay *replay, uint64_t ticks)
{
	struct tpa_step_moment moment = { .ns = ticks,
					  .flop = replay->ops.calls.counts.self_flop,
					  .matrix_flop = replay->ops.calls.counts.matrix_flop };
	struct tpa_step_totals *totals = &moment.totals;

	totals->allocations = replay->heap.counts.allocations;
	totals->allocated_bytes = replay->heap.counts.bytes;
	totals->live_bytes = replay->now.live_bytes;
	totals->cpu_periods = replay->cpu.periods;
	totals->usage = replay->usage.last;
	totals->usage_age_ns = !replay->usage.known	     ? UINT64_MAX
			       : ticks > replay->usage.ticks ? ticks - replay->usage.ticks
							     : 0;
	return moment;
}

static void look_at_growth(struct tpa_replay *replay)
{
	struct tpa_growth_inputs in = tpa_replay_growth_inputs(replay);
	uint64_t ended = replay->steps.steps.ended;

	if (ended == TPA_TREND_LEAST)
		tpa_growth_drop(&replay->growth.of_time);
	if (ended >= replay->growth.of_steps.due)
		tpa_growth_look(&replay->growth.of_steps, &in, ended);
}

/* Exact, although the list of steps may have joined neighbours; by event time, like --from and --to. */
static void note_end(struct tpa_replay *replay)
{
	for (int i = 0; i < 2; i++)
		if (replay->options->step_ends[i] == replay->steps.steps.ended)
			replay->steps.steps.ends_ns[i] = tpa_replay_ticks(replay, replay->last);
}

static void end_step(struct tpa_replay *replay, const struct tpa_thread_state *thread, uint64_t ticks, uint64_t items)
{
	struct tpa_step_moment moment = tpa_replay_step_moment(replay, ticks);

	tpa_outlived_begin(&replay->heap.outlived, replay->last);
	moment.totals.thread = thread->stats.thread;
	moment.totals.usage.own_cpu_ns = thread->cpu_ns;
	tpa_steps_end(&replay->steps.steps, &moment, items);
	note_end(replay);
	look_at_growth(replay);
}

/* A USAGE event right before a STEP was read for it, and the two times show how long that took. */
static void charge_usage(const struct tpa_replay *replay, struct tpa_thread_state *thread, uint64_t ticks)
{
	uint64_t most = tpa_replay_ticks(replay, tpa_trace_about(replay->trace, USAGE_MOST_NS));

	if (thread->usage_ticks && ticks > thread->usage_ticks && ticks - thread->usage_ticks < most)
		tpa_op_charge(&thread->open, (double)(ticks - thread->usage_ticks));
	thread->usage_ticks = 0;
}

void tpa_replay_step_end(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_thread_state *thread = tpa_replay_thread(replay, event);

	tpa_replay_charge(replay, thread, event);
	charge_usage(replay, thread, tpa_replay_ticks(replay, event->time));
	if (!replay->inside || replay->steps.anchor.source)
		return;
	end_step(replay, thread, tpa_replay_ticks(replay, event->time), event->step.items);
}

void tpa_replay_call_ended(struct tpa_replay *replay, struct tpa_thread_state *thread)
{
	const struct tpa_op_call *call = &replay->ops.calls.last;
	const struct tpa_anchor *anchor = &replay->steps.anchor;

	if (!call->op)
		return;
	tpa_step_ops_add(&replay->steps.steps.ops, replay->ops.calls.count, call->op, call->self_ticks);
	remember(replay, thread);
	if (!anchor->source && call->op == replay->steps.engine && !replay->steps.steps.ended)
		count_passes(replay); /* the trace had no pass yet when the replay began */
	if (!anchor->source || call->op != anchor->op || (anchor->thread && thread->stats.thread != anchor->thread) ||
	    (anchor->shape && symbol_of(call) != anchor->period.symbol) || call->recursive)
		return;
	end_step(replay, thread, call->end_ticks, 0);
}

/* Event times to steps. */
static void to_steps(const struct tpa_replay *replay, const struct tpa_step_stats *stats, struct tpa_born *born)
{
	born->first = tpa_steps_at(stats, tpa_replay_ns(replay, born->first)).first;
	born->last = tpa_steps_at(stats, tpa_replay_ns(replay, born->last)).last;
}

static void look(struct tpa_replay *replay, struct tpa_process *process)
{
	struct tpa_step_stats *stats = &process->steps;

	tpa_steps_result(&replay->steps.steps, tpa_trace_tick_ns(replay->trace), stats);
	for (size_t i = 0; i < stats->list_count; i++) {
		stats->list[i].begin_ns = tpa_replay_ticks_ns(replay, stats->list[i].begin_ns);
		stats->list[i].end_ns = tpa_replay_ticks_ns(replay, stats->list[i].end_ns);
	}
	for (int i = 0; i < 2; i++)
		if (stats->ends_ns[i])
			stats->ends_ns[i] = tpa_replay_ticks_ns(replay, stats->ends_ns[i]);
	stats->source = replay->steps.anchor.source ? replay->steps.anchor.source : TPA_STEPS_MARKED;
	stats->source = stats->count ? stats->source : TPA_STEPS_NONE;
	stats->anchor = replay->steps.anchor.op;
	stats->confidence = replay->steps.anchor.period.confidence;
	stats->calls = replay->steps.anchor.period.calls;
}

static void find_births(struct tpa_replay *replay, struct tpa_process *process)
{
	for (size_t i = 0; i < process->site_count; i++) {
		to_steps(replay, &process->steps, &process->sites[i].peak_born);
		to_steps(replay, &process->steps, &process->sites[i].live_born);
	}
}

static void archive(struct tpa_archive *to, struct tpa_replay *replay)
{
	TPA_ARCHIVE(to, replay->usage);
	TPA_ARCHIVE(to, replay->steps.anchor);
	tpa_archive_op(to, &replay->steps.anchor.op);
	TPA_ARCHIVE(to, replay->steps.sequences);
	tpa_steps_archive(to, &replay->steps.steps);
}

static void free_part(struct tpa_replay *replay)
{
	tpa_steps_free(&replay->steps.steps);
}

const struct tpa_part tpa_part_steps = {
	.init = find_anchor, .archive = archive, .look = look, .sites = find_births, .free = free_part
};
