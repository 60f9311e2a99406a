/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: by STEP events, by the calls of torch's autograd engine, by the op that the period of the calls is found in. */
#include <stdlib.h>
#include <string.h>

#include "model/replay/replay_impl.h"

#define SEQUENCES_MAX 16u    /* threads */
#define USAGE_MOST_NS 20000u /* that reading takes: more was something else */
#define AUTOGRAD "torch::autograd::Engine::execute"

/* ---- what ends a step ---- */

/* Number of the op with that name; 0: there is none. */
static uint32_t op_named(const struct tp_trace *trace, const char *name)
{
	for (uint32_t i = 1; i < trace->op_count; i++)
		if (trace->ops[i].name && strcmp(trace->ops[i].name, name) == 0)
			return i;
	return 0;
}

/*
 * Whether there are backward passes, and no STEP before the third: a program that marks its steps does so once in each.
 */
static bool steps_by_passes(struct tp_trace *trace, uint32_t engine)
{
	struct tp_events *events = tp_events_open(trace);
	const struct tp_event *event;
	uint64_t passes = 0;
	bool marked = false;

	while (events && !marked && passes < 3 && (event = tp_events_next(events)) != NULL) {
		marked = event->kind == TP_EVENT_STEP;
		passes += event->kind == TP_EVENT_OP_BEGIN && event->op_begin.op == engine;
	}
	tp_events_close(events);
	return passes && !marked;
}

/* What ends a step, as far as that is known beforehand: an op of the torch preset. */
static void find_anchor(struct tp_replay *replay)
{
	uint32_t engine = op_named(replay->trace, AUTOGRAD);

	if (engine && steps_by_passes(replay->trace, engine))
		replay->steps.anchor =
			(struct tp_anchor){ .source = TP_STEPS_AUTOGRAD, .op = replay->ops.calls.same[engine] };
}

static uint32_t symbol_of(const struct tp_op_call *call)
{
	return call->op << TP_SYMBOL_SHAPE_BITS | (call->shape < TP_SYMBOL_SHAPES ? call->shape : TP_SYMBOL_SHAPES);
}

/* Of the first threads that call ops: one of them will be the one that trains. */
static void remember(struct tp_replay *replay, struct tp_thread_state *thread)
{
	if (!replay->options->find_steps || replay->steps.anchor.source || replay->steps.steps.ended)
		return;
	if (!thread->calls.count && replay->steps.sequences++ >= SEQUENCES_MAX)
		return;
	tp_sequence_add(&thread->calls, symbol_of(&replay->ops.calls.last));
}

/* The one with the most calls; NULL: nobody called any. */
static const struct tp_thread_state *busiest(const struct tp_replay *replay)
{
	const struct tp_thread_state *busy = NULL;

	for (size_t i = 0; i < replay->threads.count; i++)
		if (replay->threads.list[i].calls.count > (busy ? busy->calls.count : 0))
			busy = &replay->threads.list[i];
	return busy;
}

void tp_replay_period(struct tp_replay *replay, struct tp_anchor *anchor)
{
	const struct tp_thread_state *thread = busiest(replay);
	uint32_t *symbols;
	size_t count;

	*anchor = (struct tp_anchor){ .source = TP_STEPS_NONE };
	if (replay->steps.anchor.source || replay->steps.steps.ended || !thread)
		return;
	symbols = tp_sequence_list(&thread->calls, &count);
	anchor->period = tp_period_find(symbols, count);
	if (!anchor->period.found) { /* shapes may vary from step to step */
		for (size_t i = 0; i < count; i++)
			symbols[i] &= ~TP_SYMBOL_SHAPES;
		anchor->period = tp_period_find(symbols, count);
	}
	free(symbols);
	if (!anchor->period.found)
		return;
	anchor->source = TP_STEPS_PERIOD;
	anchor->op = anchor->period.symbol >> TP_SYMBOL_SHAPE_BITS;
	anchor->shape = anchor->period.symbol & TP_SYMBOL_SHAPES;
	anchor->thread = thread->stats.thread;
}

/* ---- steps ---- */

void tp_replay_usage(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);

	if (!event->usage)
		return;
	replay->usage.last = *event->usage;
	thread->cpu_ns = replay->usage.last.own_cpu_ns;
	thread->usage_ns = tp_replay_ns(replay, event->time);
	replay->usage.ns = thread->usage_ns;
	replay->usage.known = true;
}

struct tp_step_moment tp_replay_step_moment(const struct tp_replay *replay, uint64_t ns)
{
	struct tp_step_moment moment = { .ns = ns,
					 .flop = replay->ops.calls.counts.self_flop,
					 .matrix_flop = replay->ops.calls.counts.matrix_flop };
	struct tp_step_totals *totals = &moment.totals;

	totals->allocations = replay->heap.counts.allocations;
	totals->allocated_bytes = replay->heap.counts.bytes;
	totals->live_bytes = replay->now.live_bytes;
	totals->cpu_periods = replay->cpu.periods;
	totals->usage = replay->usage.last;
	totals->usage_age_ns = !replay->usage.known ? UINT64_MAX : ns > replay->usage.ns ? ns - replay->usage.ns : 0;
	return moment;
}

static void look_at_growth(struct tp_replay *replay)
{
	struct tp_growth_inputs in = tp_replay_growth_inputs(replay);
	uint64_t ended = replay->steps.steps.ended;

	if (ended == TP_TREND_LEAST)
		tp_growth_drop(&replay->growth.of_time);
	if (ended >= replay->growth.of_steps.due)
		tp_growth_look(&replay->growth.of_steps, &in, ended);
}

/* Exact, where the list of steps may have put neighbours together; by the event's time, as --from and --to are. */
static void note_end(struct tp_replay *replay)
{
	for (int i = 0; i < 2; i++)
		if (replay->options->step_ends[i] == replay->steps.steps.ended)
			replay->steps.steps.ends_ns[i] = tp_replay_ns(replay, replay->last);
}

static void end_step(struct tp_replay *replay, const struct tp_thread_state *thread, uint64_t ns, uint64_t items)
{
	struct tp_step_moment moment = tp_replay_step_moment(replay, ns);

	tp_outlived_begin(&replay->heap.outlived, replay->last);
	moment.totals.thread = thread->stats.thread;
	moment.totals.usage.own_cpu_ns = thread->cpu_ns;
	tp_steps_end(&replay->steps.steps, &moment, items);
	note_end(replay);
	look_at_growth(replay);
}

/* What is right before a STEP was read for it, and the times say how long that took. */
static void charge_usage(struct tp_thread_state *thread, uint64_t ns)
{
	if (thread->usage_ns && ns > thread->usage_ns && ns - thread->usage_ns < USAGE_MOST_NS)
		tp_op_charge(&thread->open, (double)(ns - thread->usage_ns));
	thread->usage_ns = 0;
}

void tp_replay_step_end(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);

	tp_replay_charge(replay, thread, event);
	charge_usage(thread, tp_replay_ns(replay, event->time));
	if (!replay->inside || replay->steps.anchor.source)
		return;
	end_step(replay, thread, tp_replay_ns(replay, event->time), event->step.items);
}

void tp_replay_call_ended(struct tp_replay *replay, struct tp_thread_state *thread)
{
	const struct tp_op_call *call = &replay->ops.calls.last;
	const struct tp_anchor *anchor = &replay->steps.anchor;

	if (!call->op)
		return;
	tp_step_ops_add(&replay->steps.steps.ops, replay->ops.calls.count, call->op, call->self_ns);
	remember(replay, thread);
	if (!anchor->source || call->op != anchor->op || (anchor->thread && thread->stats.thread != anchor->thread) ||
	    (anchor->shape && symbol_of(call) != anchor->period.symbol) || call->recursive)
		return;
	end_step(replay, thread, call->end_ns, 0);
}

/* Event times to steps. */
static void to_steps(const struct tp_replay *replay, const struct tp_step_stats *stats, struct tp_born *born)
{
	born->first = tp_steps_at(stats, tp_replay_ns(replay, born->first)).first;
	born->last = tp_steps_at(stats, tp_replay_ns(replay, born->last)).last;
}

static void look(struct tp_replay *replay, struct tp_process *process)
{
	struct tp_step_stats *stats = &process->steps;

	tp_steps_result(&replay->steps.steps, stats);
	stats->source = replay->steps.anchor.source ? replay->steps.anchor.source : TP_STEPS_MARKED;
	stats->source = stats->count ? stats->source : TP_STEPS_NONE;
	stats->anchor = replay->steps.anchor.op;
	stats->confidence = replay->steps.anchor.period.confidence;
	stats->calls = replay->steps.anchor.period.calls;
	for (size_t i = 0; i < process->site_count; i++) {
		to_steps(replay, stats, &process->sites[i].peak_born);
		to_steps(replay, stats, &process->sites[i].live_born);
	}
}

static void archive(struct tp_archive *to, struct tp_replay *replay)
{
	TP_ARCHIVE(to, replay->usage);
	TP_ARCHIVE(to, replay->steps.anchor);
	tp_archive_op(to, &replay->steps.anchor.op);
	TP_ARCHIVE(to, replay->steps.sequences);
	tp_steps_archive(to, &replay->steps.steps);
}

static void free_part(struct tp_replay *replay)
{
	tp_steps_free(&replay->steps.steps);
}

const struct tp_part tp_part_steps = { .init = find_anchor, .archive = archive, .look = look, .free = free_part };
