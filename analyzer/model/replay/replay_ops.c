/* SPDX-License-Identifier: Apache-2.0 */
/* Ops and steps. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
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
	tp_op_charge(&thread->open, replay->ops.cost.work);
	tp_ops_detail(&replay->ops.calls, &thread->open, tp_op_work_of(event->work, &amount), shape, strlen(shape));
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
	tp_ops_fold(&replay->ops.calls, &thread->open, &fold);
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
	replay->ops.counters_cost_ns += thread->counters_cost_ns;
	tp_op_charge(&thread->open, thread->counters_cost_ns);
}

static void replay_op(struct tp_replay *replay, struct tp_thread_state *thread, const struct tp_event *event)
{
	struct tp_op_moment moment = { .ns = tp_replay_ns(replay, event->time),
				       .cost = tp_cost_event(&replay->ops.cost, event->offset),
				       .counted = tp_replay_counts(replay, event) };
	struct tp_op_work work = { .precision = TP_UNSAID };

	thread->usage_ns = 0;
	switch (event->kind) {
	case TP_EVENT_OP_BEGIN:
		charge_counters(replay, thread, event);
		tp_ops_begin(&replay->ops.calls, &thread->open, event->op_begin.op, &moment);
		tp_ops_shape(&replay->ops.calls, &thread->open, event->op_begin.op);
		break;
	case TP_EVENT_OP_END:
		tp_ops_end(&replay->ops.calls, &thread->open, event->op_end.kept, event->op_end.unwound, &moment);
		charge_counters(replay, thread, event);
		tp_replay_call_ended(replay, thread);
		break;
	case TP_EVENT_SHAPE:
		tp_ops_shape(&replay->ops.calls, &thread->open, event->shape.op);
		break;
	case TP_EVENT_WORK:
		add_work(replay, thread, event);
		break;
	case TP_EVENT_FOLD:
		add_folded(replay, thread, event);
		break;
	default:
		tp_replay_charge(replay, thread, event);
		work.flop = work.matrix_flop = event->detail.flop;
		work.bytes = event->detail.bytes;
		tp_ops_detail(&replay->ops.calls, &thread->open, work, event->detail.shape.text,
			      event->detail.shape.length);
	}
}

/* Begins, ends and details of ops. */
void tp_replay_op(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);
	uint64_t before = replay->ops.calls.outermost_ns;

	replay_op(replay, thread, event);
	thread->stats.op_ns += replay->ops.calls.outermost_ns - before;
}

/* What the ops' own blocks were, as the sites know it. */
static void add_blocks(const struct tp_replay *replay, struct tp_process *process)
{
	struct tp_op_stats **by_op = tp_zalloc(replay->ops.calls.count, sizeof(struct tp_op_stats *));

	for (size_t i = 0; i < process->op_count; i++)
		by_op[process->ops[i].op] = &process->ops[i];
	for (size_t i = 0; i < process->site_count; i++) {
		const struct tp_site *site = &process->sites[i];

		if (replay->options->group != TP_GROUP_STACK || !site->op || !by_op[site->op])
			continue;
		by_op[site->op]->self_allocations += site->allocations;
		by_op[site->op]->self_temporary += site->temporary;
	}
	free(by_op);
}

void tp_replay_counters(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);

	if (tp_replay_counts(replay, event))
		tp_counters_add(&replay->ops.counters, event->counters);
	tp_op_counted(&thread->open, event->counters);
	thread->counters_time = event->time;
}

static void look(struct tp_replay *replay, struct tp_process *process)
{
	size_t i;

	for (i = 0; i < replay->threads.count; i++)
		tp_ops_left_open(&replay->ops.calls, &replay->threads.list[i].open);
	process->ops = tp_ops_result(&replay->ops.calls, &process->op_count);
	process->op_counts = replay->ops.calls.counts;
	process->counters = replay->ops.counters;
	process->op_nodes = replay->ops.calls.tree.nodes;
	process->op_node_count = replay->ops.calls.tree.count;
	replay->ops.calls.tree.nodes = NULL;
	add_blocks(replay, process);
}

static void init(struct tp_replay *replay)
{
	replay->ops.calls.batches = replay->options->batches;
	tp_cost_init(&replay->ops.cost, replay->trace);
	tp_ops_init(&replay->ops.calls, replay->trace, &replay->ops.cost);
}

static void archive(struct tp_archive *to, struct tp_replay *replay)
{
	TP_ARCHIVE(to, replay->ops.counters);
	TP_ARCHIVE(to, replay->ops.counters_cost_ns);
	tp_ops_archive(to, &replay->ops.calls);
}

static void free_part(struct tp_replay *replay)
{
	tp_ops_free(&replay->ops.calls);
	tp_cost_free(&replay->ops.cost);
}

const struct tp_part tp_part_ops = { .init = init, .archive = archive, .look = look, .free = free_part };
