/* SPDX-License-Identifier: Apache-2.0 */
/* Ops and steps. */
#include "model/replay_impl.h"

/* Begins, ends and details of ops. */
bool tp_replay_op(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);
	bool counted = tp_replay_counts(replay, event);
	uint64_t now = tp_replay_ns(replay, event->time);

	if (!thread)
		return false;
	switch (event->kind) {
	case TP_EVENT_OP_BEGIN:
		return tp_ops_begin(&replay->ops, &thread->open, event->size, now, counted);
	case TP_EVENT_OP_END:
		return tp_ops_end(&replay->ops, &thread->open, event->unwound, now, counted);
	default:
		return tp_ops_detail(&replay->ops, &thread->open, event->size, event->usable, event->name,
				     event->name_length);
	}
}

bool tp_replay_step_end(struct tp_replay *replay, const struct tp_event *event)
{
	if (!tp_replay_thread(replay, event))
		return false;
	return !replay->inside ||
	       tp_steps_end(&replay->steps, tp_replay_ns(replay, event->time), replay->now.live_bytes, event->size);
}

bool tp_replay_result_ops(struct tp_replay *replay, struct tp_process *process)
{
	bool good = true;
	size_t i;

	for (i = 0; good && i < replay->thread_count; i++)
		good = tp_ops_left_open(&replay->ops, &replay->threads[i].open);
	process->ops = good ? tp_ops_result(&replay->ops, &process->op_count) : NULL;
	process->op_counts = replay->ops.counts;
	tp_steps_result(&replay->steps, &process->steps);
	return process->ops != NULL;
}
