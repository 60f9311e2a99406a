/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, one by one, and their names. */
#include <stdlib.h>
#include <string.h>

#include "model/replay/replay_impl.h"
#include "model/stats/stats.h"
#include "base/memory.h"

struct tp_thread_state *tp_replay_new_thread(struct tp_replay *replay, const struct tp_event *event)
{
	uint32_t number = event->thread;
	size_t need = (size_t)number + 1;
	struct tp_thread_state *thread;

	if (need > replay->threads.index_count) {
		tp_grow(&replay->threads.index, &replay->threads.index_room, need, sizeof(*replay->threads.index));
		memset(replay->threads.index + replay->threads.index_count, 0,
		       (need - replay->threads.index_count) * sizeof(*replay->threads.index));
		replay->threads.index_count = need;
	}
	tp_grow(&replay->threads.list, &replay->threads.room, replay->threads.count + 1, sizeof(*replay->threads.list));
	thread = &replay->threads.list[replay->threads.count++];
	memset(thread, 0, sizeof(*thread));
	thread->stats.thread = number;
	thread->stats.tid = event->tid;
	thread->first = event->time;
	thread->newest = TP_NO_ADDRESS;
	replay->threads.index[number] = (uint32_t)replay->threads.count;
	return thread;
}

void tp_replay_name(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);
	size_t length = event->name.length;

	if (length >= sizeof(thread->stats.name))
		length = sizeof(thread->stats.name) - 1;
	memcpy(thread->stats.name, event->name.text, length);
	thread->stats.name[length] = 0;
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

static void look(struct tp_replay *replay, struct tp_process *process)
{
	size_t i;

	process->threads = tp_zalloc(replay->threads.count + 1, sizeof(*process->threads));
	process->thread_count = replay->threads.count;
	for (i = 0; i < replay->threads.count; i++) {
		struct tp_thread_state *thread = &replay->threads.list[i];

		process->threads[i] = thread->stats;
		if (replay->sampled)
			estimate_thread(thread, &process->threads[i]);
		process->threads[i].first_ns = tp_replay_ns(replay, thread->first);
		process->threads[i].last_ns = tp_replay_ns(replay, thread->last);
		tp_cpu_add(&process->cpu, &thread->stats.cpu);
	}
}

/* ---- saving and loading ---- */

static void archive_undo(struct tp_archive *archive, const struct tp_replay *replay, struct tp_undo *undo)
{
	TP_ARCHIVE(archive, undo->what);
	TP_ARCHIVE(archive, undo->block);
	TP_ARCHIVE(archive, undo->counted);
	TP_ARCHIVE(archive, undo->temporary);
	TP_ARCHIVE(archive, undo->short_lived);
	tp_archive_array(archive, &undo->ranges.list, &undo->ranges.count, &undo->ranges.room,
			 sizeof(*undo->ranges.list));
	tp_archive_check(archive,
			 undo->block.site < replay->heap.sites.count &&
				 tp_maps_ranges_valid(&replay->maps, &undo->ranges),
			 "what a thread did last is out of range");
}

static void archive_thread(struct tp_archive *archive, struct tp_replay *replay, struct tp_thread_state *thread)
{
	TP_ARCHIVE(archive, thread->stats);
	TP_ARCHIVE(archive, thread->first);
	TP_ARCHIVE(archive, thread->last);
	TP_ARCHIVE(archive, thread->newest);
	TP_ARCHIVE(archive, thread->newest_time);
	TP_ARCHIVE(archive, thread->remapped_file);
	archive_undo(archive, replay, &thread->undo);
	tp_op_stack_archive(archive, &replay->ops.calls, &thread->open);
	tp_sequence_archive(archive, &thread->calls);
	TP_ARCHIVE(archive, thread->counters_time);
	TP_ARCHIVE(archive, thread->counters_cost_ns);
	TP_ARCHIVE(archive, thread->cpu_ns);
	TP_ARCHIVE(archive, thread->usage_ns);
	TP_ARCHIVE(archive, thread->allocations);
	TP_ARCHIVE(archive, thread->frees);
	TP_ARCHIVE(archive, thread->bytes);
}

/* Makes the thread with the number that comes next. NULL: the archive has failed. */
static struct tp_thread_state *load_thread(struct tp_archive *archive, struct tp_replay *replay)
{
	struct tp_event event = { 0 };

	TP_ARCHIVE(archive, event.thread);
	if (!tp_archive_check(archive, event.thread < tp_trace_thread_limit(replay->trace),
			      "a thread's number is out of range") ||
	    !tp_archive_check(archive,
			      event.thread >= replay->threads.index_count || !replay->threads.index[event.thread],
			      "two threads have one number"))
		return NULL;
	return tp_replay_new_thread(replay, &event);
}

/* In the order in which they came: that of a report depends on it. */
static void archive_threads(struct tp_archive *archive, struct tp_replay *replay)
{
	size_t count = replay->threads.count;

	TP_ARCHIVE(archive, count);
	for (size_t i = 0; !archive->loading && i < count; i++) {
		TP_ARCHIVE(archive, replay->threads.list[i].stats.thread);
		archive_thread(archive, replay, &replay->threads.list[i]);
	}
	while (archive->loading && count-- && !archive->failed) {
		struct tp_thread_state *thread = load_thread(archive, replay);
		uint32_t number = thread ? thread->stats.thread : 0;

		if (!thread)
			return;
		archive_thread(archive, replay, thread);
		thread->stats.thread = number;
	}
}

static void free_part(struct tp_replay *replay)
{
	for (size_t i = 0; i < replay->threads.count; i++) {
		struct tp_thread_state *thread = &replay->threads.list[i];

		free(thread->undo.ranges.list);
		free(thread->open.frames);
		free(thread->calls.ring);
	}
	free(replay->threads.list);
	free(replay->threads.index);
}

const struct tp_part tp_part_threads = { .archive = archive_threads, .look = look, .free = free_part };
