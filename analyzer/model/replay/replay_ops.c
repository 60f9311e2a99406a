/* SPDX-License-Identifier: Apache-2.0 */
/* Ops and steps. */
#include <stdlib.h>
#include <string.h>

#include "model/replay/replay_impl.h"

/* A typed kernel says what it works on. */
static void add_work(struct tp_replay *replay, struct tp_thread_state *thread, const struct tp_event *event)
{
	struct tp_work_amount amount;
	char shape[256];

	if (!event->work)
		return;
	amount = tp_work_amount(event->work);
	tp_work_shape(event->work, shape, sizeof(shape));
	tp_op_charge(&thread->open, replay->cost.work);
	tp_ops_detail(&replay->ops, &thread->open, tp_op_work_of(event->work, &amount), shape, strlen(shape));
}

static void add_folded(struct tp_replay *replay, struct tp_thread_state *thread, const struct tp_event *event)
{
	uint64_t span = UINT64_C(1) << 32; /* ticks: long enough to be exact */
	struct tp_op_fold fold = { .number = event->fold.op, .counted = tp_replay_counts(replay, event) };
	double ns = (double)tp_trace_ns(replay->trace, replay->trace->header->start.ticks + span) / (double)span;

	if (!event->fold.calls)
		return;
	fold.folded = event->fold.calls;
	fold.ns_per_tick = ns;
	tp_ops_fold(&replay->ops, &thread->open, &fold);
}

/*
 * Before a begin the op around it paid for reading the counters, as the two times say; after an end about as much, which
 * no time says.
 */
static void charge_counters(struct tp_replay *replay, struct tp_thread_state *thread, const struct tp_event *event)
{
	if (!thread->counters_time)
		return;
	if (event->kind == TP_EVENT_OP_BEGIN)
		thread->counters_cost_ns =
			(double)(tp_replay_ns(replay, event->time) - tp_replay_ns(replay, thread->counters_time));
	thread->counters_time = 0;
	replay->counters_cost_ns += thread->counters_cost_ns;
	tp_op_charge(&thread->open, thread->counters_cost_ns);
}

static bool replay_op(struct tp_replay *replay, struct tp_thread_state *thread, const struct tp_event *event)
{
	struct tp_op_moment moment = { .ns = tp_replay_ns(replay, event->time),
				       .cost = tp_cost_event(&replay->cost, event->offset),
				       .counted = tp_replay_counts(replay, event) };
	struct tp_op_work work = { .precision = TP_UNSAID };

	thread->usage_ns = 0;
	switch (event->kind) {
	case TP_EVENT_OP_BEGIN:
		charge_counters(replay, thread, event);
		tp_ops_begin(&replay->ops, &thread->open, event->op_begin.op, &moment);
		tp_ops_shape(&replay->ops, &thread->open, event->op_begin.op);
		return true;
	case TP_EVENT_OP_END:
		tp_ops_end(&replay->ops, &thread->open, event->op_end.kept, event->op_end.unwound, &moment);
		charge_counters(replay, thread, event);
		tp_replay_call_ended(replay, thread);
		return true;
	case TP_EVENT_SHAPE:
		tp_ops_shape(&replay->ops, &thread->open, event->shape.op);
		return true;
	case TP_EVENT_WORK:
		add_work(replay, thread, event);
		return true;
	case TP_EVENT_FOLD:
		add_folded(replay, thread, event);
		return true;
	default:
		tp_replay_charge(replay, thread, event);
		work.flop = work.matrix_flop = event->detail.flop;
		work.bytes = event->detail.bytes;
		tp_ops_detail(&replay->ops, &thread->open, work, event->detail.shape.text, event->detail.shape.length);
		return true;
	}
}

/* Begins, ends and details of ops. */
bool tp_replay_op(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);
	uint64_t before = replay->ops.outermost_ns;

	if (!thread || !replay_op(replay, thread, event))
		return false;
	thread->stats.op_ns += replay->ops.outermost_ns - before;
	return true;
}

/* What the ops' own blocks were, as the sites know it. */
static bool add_blocks(const struct tp_replay *replay, struct tp_process *process)
{
	struct tp_op_stats **by_op = calloc(replay->ops.count, sizeof(struct tp_op_stats *));

	for (size_t i = 0; by_op && i < process->op_count; i++)
		by_op[process->ops[i].op] = &process->ops[i];
	for (size_t i = 0; by_op && i < process->site_count; i++) {
		const struct tp_site *site = &process->sites[i];

		if (replay->options->group != TP_GROUP_STACK || !site->op || !by_op[site->op])
			continue;
		by_op[site->op]->self_allocations += site->allocations;
		by_op[site->op]->self_temporary += site->temporary;
	}
	free(by_op);
	return by_op != NULL;
}

bool tp_replay_counters(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);

	if (!thread)
		return false;
	if (tp_replay_counts(replay, event))
		tp_counters_add(&replay->counters, event->counters);
	tp_op_counted(&thread->open, event->counters);
	thread->counters_time = event->time;
	return true;
}

bool tp_replay_result_ops(struct tp_replay *replay, struct tp_process *process)
{
	for (size_t i = 0; i < replay->thread_count; i++)
		tp_ops_left_open(&replay->ops, &replay->threads[i].open);
	process->ops = tp_ops_result(&replay->ops, &process->op_count);
	process->op_counts = replay->ops.counts;
	process->counters = replay->counters;
	process->op_nodes = replay->ops.tree.nodes;
	process->op_node_count = replay->ops.tree.count;
	replay->ops.tree.nodes = NULL;
	return add_blocks(replay, process) && tp_replay_result_steps(replay, process);
}
