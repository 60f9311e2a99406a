/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: one by one, their names, what their CPU samples say. */
#include <stdlib.h>
#include <string.h>

#include "model/replay/replay_impl.h"
#include "model/stats/stats.h"
#include "base/reserve.h"

struct tp_thread_state *tp_replay_new_thread(struct tp_replay *replay, const struct tp_event *event)
{
	uint32_t number = event->thread;
	size_t need = (size_t)number + 1;
	struct tp_thread_state *thread;

	if (need > replay->index_count) {
		if (!tp_reserve(&replay->thread_index, &replay->index_room, need, sizeof(*replay->thread_index)))
			return NULL;
		memset(replay->thread_index + replay->index_count, 0,
		       (need - replay->index_count) * sizeof(*replay->thread_index));
		replay->index_count = need;
	}
	if (!tp_reserve(&replay->threads, &replay->thread_room, replay->thread_count + 1, sizeof(*replay->threads)))
		return NULL;
	thread = &replay->threads[replay->thread_count++];
	memset(thread, 0, sizeof(*thread));
	thread->stats.thread = number;
	thread->stats.tid = event->tid;
	thread->first = event->time;
	thread->newest = TP_NO_ADDRESS;
	replay->thread_index[number] = (uint32_t)replay->thread_count;
	return thread;
}

bool tp_replay_name(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);
	size_t length = event->name.length;

	if (!thread)
		return false;
	if (length >= sizeof(thread->stats.name))
		length = sizeof(thread->stats.name) - 1;
	memcpy(thread->stats.name, event->name.text, length);
	thread->stats.name[length] = 0;
	return true;
}

bool tp_replay_sample(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_cpu one = { 1, event->sample.periods, (double)event->sample.periods * (double)event->sample.periods };
	struct tp_thread_state *thread = tp_replay_thread(replay, event);
	struct tp_cpu_site where;

	if (!thread)
		return false;
	if (!tp_replay_counts(replay, event))
		return true;
	tp_cpu_add(&thread->stats.cpu, &one);
	replay->cpu_periods += event->sample.periods;
	where = (struct tp_cpu_site){ .node = tp_trace_node(replay->trace, event->node),
				      .thread = event->thread,
				      .op = tp_op_current(&thread->open) };
	if (!where.op)
		tp_cpu_add(&replay->cpu_outside, &one);
	tp_cpu_count(&replay->cpu, &where, event->sample.periods);
	return true;
}

/* PAUSE and RESUME. A PAUSE may follow a PAUSE, and nothing need follow the last. */
bool tp_replay_pause(struct tp_replay *replay, const struct tp_event *event)
{
	bool begins = event->kind == TP_EVENT_PAUSE;
	struct tp_step_moment moment;

	if (!tp_replay_thread(replay, event))
		return false;
	if (begins && !replay->in_pause) {
		replay->pauses += replay->inside;
		replay->pause_began = event->time;
	} else if (!begins && replay->in_pause && replay->inside) {
		replay->paused += event->time - replay->pause_began;
		/* The step that goes on began in the pause, or before it. */
		moment = tp_replay_step_moment(replay, tp_replay_ns(replay, event->time));
		tp_steps_start(&replay->steps, &moment);
	}
	replay->in_pause = begins;
	return true;
}

bool tp_replay_began_in_pause(const struct tp_replay *replay, const struct tp_thread_state *thread, uint8_t fn)
{
	return replay->in_pause && thread->undo.what == TP_UNDO_UNMATCHED && tp_fn_reallocates(fn);
}

static void estimate_thread(const struct tp_thread_state *thread, struct tp_thread_stats *stats)
{
	stats->allocations = tp_round(thread->allocations.value);
	stats->frees = tp_round(thread->frees.value);
	stats->bytes = tp_round(thread->bytes.value);
	stats->allocations_variance = thread->allocations.variance;
	stats->frees_variance = thread->frees.variance;
	stats->bytes_variance = thread->bytes.variance;
}

bool tp_replay_result_threads(struct tp_replay *replay, struct tp_process *process)
{
	size_t i;

	process->threads = calloc(replay->thread_count + 1, sizeof(*process->threads));
	process->thread_count = replay->thread_count;
	for (i = 0; process->threads && i < replay->thread_count; i++) {
		struct tp_thread_state *thread = &replay->threads[i];

		process->threads[i] = thread->stats;
		if (replay->sampled)
			estimate_thread(thread, &process->threads[i]);
		process->threads[i].first_ns = tp_replay_ns(replay, thread->first);
		process->threads[i].last_ns = tp_replay_ns(replay, thread->last);
		tp_cpu_add(&process->cpu, &thread->stats.cpu);
	}
	return process->threads != NULL;
}
