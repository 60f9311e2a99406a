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

void tp_replay_find_anchor(struct tp_replay *replay)
{
	uint32_t engine = op_named(replay->trace, AUTOGRAD);

	if (engine && steps_by_passes(replay->trace, engine))
		replay->anchor = (struct tp_anchor){ .source = TP_STEPS_AUTOGRAD, .op = replay->ops.same[engine] };
}

static uint32_t symbol_of(const struct tp_op_call *call)
{
	return call->op << TP_SYMBOL_SHAPE_BITS | (call->shape < TP_SYMBOL_SHAPES ? call->shape : TP_SYMBOL_SHAPES);
}

/* Of the first threads that call ops: one of them will be the one that trains. */
static void remember(struct tp_replay *replay, struct tp_thread_state *thread)
{
	if (!replay->options->find_steps || replay->anchor.source || replay->steps.ended)
		return;
	if (!thread->calls.count && replay->sequences++ >= SEQUENCES_MAX)
		return;
	tp_sequence_add(&thread->calls, symbol_of(&replay->ops.last));
}

/* The one with the most calls; NULL: nobody called any. */
static const struct tp_thread_state *busiest(const struct tp_replay *replay)
{
	const struct tp_thread_state *busy = NULL;

	for (size_t i = 0; i < replay->thread_count; i++)
		if (replay->threads[i].calls.count > (busy ? busy->calls.count : 0))
			busy = &replay->threads[i];
	return busy;
}

bool tp_replay_period(struct tp_replay *replay, struct tp_anchor *anchor)
{
	const struct tp_thread_state *thread = busiest(replay);
	uint32_t *symbols;
	size_t count;

	*anchor = (struct tp_anchor){ .source = TP_STEPS_NONE };
	if (replay->anchor.source || replay->steps.ended || !thread)
		return true;
	symbols = tp_sequence_list(&thread->calls, &count);
	anchor->period = tp_period_find(symbols, count);
	if (!anchor->period.found) { /* shapes may vary from step to step */
		for (size_t i = 0; i < count; i++)
			symbols[i] &= ~TP_SYMBOL_SHAPES;
		anchor->period = tp_period_find(symbols, count);
	}
	free(symbols);
	if (!anchor->period.found)
		return true;
	anchor->source = TP_STEPS_PERIOD;
	anchor->op = anchor->period.symbol >> TP_SYMBOL_SHAPE_BITS;
	anchor->shape = anchor->period.symbol & TP_SYMBOL_SHAPES;
	anchor->thread = thread->stats.thread;
	return true;
}

/* ---- steps ---- */

bool tp_replay_usage(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);

	if (!thread)
		return false;
	if (!event->usage)
		return true;
	replay->usage = *event->usage;
	thread->cpu_ns = replay->usage.own_cpu_ns;
	thread->usage_ns = tp_replay_ns(replay, event->time);
	replay->usage_ns = thread->usage_ns;
	replay->usage_told = true;
	return true;
}

struct tp_step_moment tp_replay_step_moment(const struct tp_replay *replay, uint64_t ns)
{
	struct tp_step_moment moment = { .ns = ns,
					 .flop = replay->ops.counts.self_flop,
					 .matrix_flop = replay->ops.counts.matrix_flop };
	struct tp_step_totals *totals = &moment.totals;

	totals->allocations = replay->heap.allocations;
	totals->allocated_bytes = replay->heap.bytes;
	totals->live_bytes = replay->now.live_bytes;
	totals->cpu_periods = replay->cpu_periods;
	totals->usage = replay->usage;
	totals->usage_age_ns = !replay->usage_told ? UINT64_MAX : ns > replay->usage_ns ? ns - replay->usage_ns : 0;
	return moment;
}

static void look_at_growth(struct tp_replay *replay)
{
	struct tp_growth_inputs in = tp_replay_growth_inputs(replay);
	uint64_t ended = replay->steps.ended;

	if (ended == TP_TREND_LEAST)
		tp_growth_drop(&replay->of_time);
	if (ended >= replay->of_steps.due)
		tp_growth_look(&replay->of_steps, &in, ended);
}

/* Exact, where the list of steps may have put neighbours together; by the event's time, as --from and --to are. */
static void note_end(struct tp_replay *replay)
{
	for (int i = 0; i < 2; i++)
		if (replay->options->step_ends[i] == replay->steps.ended)
			replay->steps.ends_ns[i] = tp_replay_ns(replay, replay->last);
}

static void end_step(struct tp_replay *replay, const struct tp_thread_state *thread, uint64_t ns, uint64_t items)
{
	struct tp_step_moment moment = tp_replay_step_moment(replay, ns);

	tp_outlived_begin(&replay->outlived, replay->last);
	moment.totals.thread = thread->stats.thread;
	moment.totals.usage.own_cpu_ns = thread->cpu_ns;
	tp_steps_end(&replay->steps, &moment, items);
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

bool tp_replay_step_end(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);

	if (!thread)
		return false;
	tp_replay_charge(replay, thread, event);
	charge_usage(thread, tp_replay_ns(replay, event->time));
	if (!replay->inside || replay->anchor.source)
		return true;
	end_step(replay, thread, tp_replay_ns(replay, event->time), event->step.items);
	return true;
}

bool tp_replay_mark(struct tp_replay *replay, const struct tp_event *event)
{
	if (!tp_replay_thread(replay, event))
		return false;
	if (!tp_replay_counts(replay, event))
		return true;
	tp_marks_add(&replay->marks, tp_replay_ns(replay, event->time), event->thread, event->mark.text,
		     event->mark.length);
	return true;
}

void tp_replay_call_ended(struct tp_replay *replay, struct tp_thread_state *thread)
{
	const struct tp_op_call *call = &replay->ops.last;
	const struct tp_anchor *anchor = &replay->anchor;

	if (!call->op)
		return;
	tp_step_ops_add(&replay->steps.ops, replay->ops.count, call->op, call->self_ns);
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

bool tp_replay_result_steps(struct tp_replay *replay, struct tp_process *process)
{
	struct tp_step_stats *stats = &process->steps;

	tp_steps_result(&replay->steps, stats);
	stats->source = replay->anchor.source ? replay->anchor.source : TP_STEPS_MARKED;
	stats->source = stats->count ? stats->source : TP_STEPS_NONE;
	stats->anchor = replay->anchor.op;
	stats->confidence = replay->anchor.period.confidence;
	stats->calls = replay->anchor.period.calls;
	for (size_t i = 0; i < process->site_count; i++) {
		to_steps(replay, stats, &process->sites[i].peak_born);
		to_steps(replay, stats, &process->sites[i].live_born);
	}
	return true;
}
