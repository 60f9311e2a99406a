/* SPDX-License-Identifier: Apache-2.0 */
/* Ops and steps. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/replay/replay_impl.h"

/* A typed kernel says what it works on. */
static void add_work(struct tpa_replay *replay, struct tpa_thread_state *thread, const struct tpa_event *event)
{
	struct tpa_work_amount amount;
	char shape[256];

	if (!event->work)
		return;
	amount = tpa_work_amount(event->work);
	tpa_work_shape(event->work, shape, sizeof(shape));
	tpa_op_charge(&thread->open, replay->ops.cost.work);
	tpa_ops_detail(&replay->ops.calls, &thread->open, tpa_op_work_of(event->work, &amount), shape, strlen(shape));
}

static void add_folded(struct tpa_replay *replay, struct tpa_thread_state *thread, const struct tpa_event *event)
{
	struct tpa_op_fold fold = { .number = event->fold.op, .counted = tpa_replay_counts(replay, event) };

	if (!event->fold.calls)
		return;
	fold.folded = event->fold.calls;
	tpa_ops_fold(&replay->ops.calls, &thread->open, &fold);
}

/*
 * Before a begin, the op around it pays for reading the counters, which the two times show; after an end about as much, which
 * no time shows.
 */
static void charge_counters(struct tpa_replay *replay, struct tpa_thread_state *thread, const struct tpa_event *event)
{
	if (!thread->counters_time)
		return;
	if (event->kind == TPA_EVENT_OP_BEGIN)
		thread->counters_cost = (double)tpa_replay_ticks(replay, event->time - thread->counters_time);
	thread->counters_time = 0;
	replay->ops.counters_cost += thread->counters_cost;
	tpa_op_charge(&thread->open, thread->counters_cost);
}

static void replay_op(struct tpa_replay *replay, struct tpa_thread_state *thread, const struct tpa_event *event)
{
	struct tpa_op_moment moment = { .ticks = tpa_replay_ticks(replay, event->time),
					.cost = tpa_cost_event(&replay->ops.cost, event->offset, false),
					.counted = tpa_replay_counts(replay, event) };
	struct tpa_op_work work = { .precision = TPA_UNSAID };

	thread->usage_ticks = 0;
	switch (event->kind) {
	case TPA_EVENT_OP_BEGIN:
		charge_counters(replay, thread, event);
		tpa_ops_begin(&replay->ops.calls, &thread->open, event->op_begin.op, &moment);
		tpa_ops_shape(&replay->ops.calls, &thread->open, event->op_begin.op);
		break;
	case TPA_EVENT_OP_END:
		tpa_ops_end(&replay->ops.calls, &thread->open, event->op_end.kept, event->op_end.unwound, &moment);
		charge_counters(replay, thread, event);
		tpa_replay_call_ended(replay, thread);
		if (__builtin_expect(replay->ranks.open_count != 0, 0))
			tpa_replay_calls_end(replay, thread, event);
		break;
	case TPA_EVENT_SHAPE:
		tpa_ops_shape(&replay->ops.calls, &thread->open, event->shape.op);
		break;
	case TPA_EVENT_WORK:
		add_work(replay, thread, event);
		break;
	case TPA_EVENT_FOLD:
		add_folded(replay, thread, event);
		break;
	default:
		tpa_replay_charge(replay, thread, event);
		work.flop = work.matrix_flop = event->detail.flop;
		work.bytes = event->detail.bytes;
		tpa_ops_detail(&replay->ops.calls, &thread->open, work, event->detail.shape.text,
			       event->detail.shape.length);
	}
}

/* Begins, ends and details of ops. */
void tpa_replay_op(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_thread_state *thread = tpa_replay_thread(replay, event);
	uint64_t before = replay->ops.calls.outermost_ticks;

	replay_op(replay, thread, event);
	thread->stats.op_ns += replay->ops.calls.outermost_ticks - before;
}

/* Adds the ops' own allocations, as counted by the sites. */
static void add_blocks(struct tpa_replay *replay, struct tpa_process *process)
{
	struct tpa_op_stats **by_op = tpa_zalloc(replay->ops.calls.count, sizeof(struct tpa_op_stats *));

	for (size_t i = 0; i < process->op_count; i++)
		by_op[process->ops[i].op] = &process->ops[i];
	for (size_t i = 0; i < process->site_count; i++) {
		const struct tpa_site *site = &process->sites[i];

		if (replay->options->group != TPA_GROUP_STACK || !site->op || !by_op[site->op])
			continue;
		by_op[site->op]->self_allocations += site->allocations;
		by_op[site->op]->self_temporary += site->temporary;
	}
	free(by_op);
}

void tpa_replay_counters(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_thread_state *thread = tpa_replay_thread(replay, event);

	if (tpa_replay_counts(replay, event))
		tpa_counters_add(&replay->ops.counters, event->counters);
	tpa_op_counted(&thread->open, event->counters);
	thread->counters_time = event->time;
}

static void look(struct tpa_replay *replay, struct tpa_process *process)
{
	size_t i;

	for (i = 0; i < replay->threads.count; i++)
		tpa_ops_left_open(&replay->ops.calls, &replay->threads.list[i].open);
	process->op_whole = tpa_ops_whole(&replay->ops.calls, tpa_trace_tick_ns(replay->trace));
	process->ops = tpa_ops_result(&replay->ops.calls, tpa_trace_tick_ns(replay->trace), &process->op_count);
	process->op_counts = replay->ops.calls.counts;
	process->counters = replay->ops.counters;
	process->op_nodes = replay->ops.calls.tree.nodes;
	process->op_node_count = replay->ops.calls.tree.count;
	replay->ops.calls.tree.nodes = NULL;
}

static void init(struct tpa_replay *replay)
{
	replay->ops.calls.batches = replay->options->batches;
	tpa_cost_init(&replay->ops.cost, replay->trace);
	tpa_ops_init(&replay->ops.calls, replay->trace, &replay->ops.cost);
}

static void archive(struct tpa_archive *to, struct tpa_replay *replay)
{
	TPA_ARCHIVE(to, replay->ops.counters);
	TPA_ARCHIVE(to, replay->ops.counters_cost);
	tpa_ops_archive(to, &replay->ops.calls);
}

static void free_part(struct tpa_replay *replay)
{
	tpa_ops_free(&replay->ops.calls);
	tpa_cost_free(&replay->ops.cost);
}

const struct tpa_part tpa_part_ops = {
	.init = init, .archive = archive, .look = look, .sites = add_blocks, .free = free_part
};
