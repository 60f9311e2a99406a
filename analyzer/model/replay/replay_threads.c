/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, one by one, and their names. */
#include <stdlib.h>
#include <string.h>

#include "model/replay/replay_impl.h"
#include "model/stats/stats.h"
#include "base/memory.h"

struct tpa_thread_state *tpa_replay_new_thread(struct tpa_replay *replay, const struct tpa_event *event)
{
	uint32_t number = event->thread;
	struct tpa_thread_state *thread;

	tpa_extend(&replay->threads.index, &replay->threads.index_count, &replay->threads.index_room,
		   (size_t)number + 1, sizeof(*replay->threads.index));
	thread = TPA_APPEND(replay->threads.list, replay->threads.count, replay->threads.room);
	memset(thread, 0, sizeof(*thread));
	thread->stats.thread = number;
	thread->stats.tid = event->tid;
	thread->first = event->time;
	thread->newest = TPA_NO_ADDRESS;
	replay->threads.index[number] = (uint32_t)replay->threads.count;
	return thread;
}

void tpa_replay_name(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_thread_state *thread = tpa_replay_thread(replay, event);
	size_t length = event->name.length;

	if (length >= sizeof(thread->stats.name))
		length = sizeof(thread->stats.name) - 1;
	memcpy(thread->stats.name, event->name.text, length);
	thread->stats.name[length] = 0;
}

static void estimate_thread(const struct tpa_thread_state *thread, struct tpa_thread_stats *stats)
{
	stats->allocations = tpa_round(thread->allocations.value);
	stats->frees = tpa_round(thread->frees.value);
	stats->bytes = tpa_round(thread->bytes.value);
	stats->allocations_variance = thread->allocations.variance;
	stats->frees_variance = thread->frees.variance;
	stats->bytes_variance = thread->bytes.variance;
}

/* Rounds running sums instead of each thread's time, so that the threads add up to the roots of the tree of calls. */
static uint64_t op_ns(const struct tpa_replay *replay, uint64_t before, uint64_t ticks)
{
	double tick_ns = replay->ops.calls.outermost_tick_ns;

	return tpa_round((double)(before + ticks) * tick_ns) - tpa_round((double)before * tick_ns);
}

static void look(struct tpa_replay *replay, struct tpa_process *process)
{
	uint64_t op_ticks = 0;
	size_t i;

	process->threads = tpa_zalloc(replay->threads.count + 1, sizeof(*process->threads));
	process->thread_count = replay->threads.count;
	for (i = 0; i < replay->threads.count; i++) {
		struct tpa_thread_state *thread = &replay->threads.list[i];

		process->threads[i] = thread->stats;
		if (tpa_replay_estimated(replay))
			estimate_thread(thread, &process->threads[i]);
		process->threads[i].op_ns = op_ns(replay, op_ticks, thread->stats.op_ns);
		op_ticks += thread->stats.op_ns;
		process->threads[i].first_ns = tpa_replay_ns(replay, thread->first);
		process->threads[i].last_ns = tpa_replay_ns(replay, thread->last);
		tpa_cpu_add(&process->cpu, &thread->stats.cpu);
	}
}

/* ---- saving and loading ---- */

static void archive_ranges(struct tpa_archive *archive, const struct tpa_replay *replay, struct tpa_undo *undo)
{
	tpa_archive_array(archive, &undo->ranges.list, &undo->ranges.count, &undo->ranges.room,
			  sizeof(*undo->ranges.list));
	tpa_archive_check(archive,
			  undo->block.site < replay->heap.sites.count &&
				  tpa_maps_ranges_valid(&replay->maps, &undo->ranges),
			  "what a thread did last is out of range");
}

/* Loads into a new thread. */
static void archive_thread(struct tpa_archive *archive, struct tpa_replay *replay, struct tpa_thread_state *thread)
{
	struct tpa_thread_state kept = *thread;

	TPA_ARCHIVE(archive, kept);
	if (archive->loading) { /* but for what it points to, and its number */
		kept.stats.thread = thread->stats.thread;
		kept.undo.ranges = thread->undo.ranges;
		kept.open = thread->open;
		kept.calls = thread->calls;
		*thread = kept;
	}
	archive_ranges(archive, replay, &thread->undo);
	tpa_op_stack_archive(archive, &replay->ops.calls, &thread->open);
	tpa_sequence_archive(archive, &thread->calls);
}

/* Makes the thread with the number that comes next. NULL: the archive has failed. */
static struct tpa_thread_state *load_thread(struct tpa_archive *archive, struct tpa_replay *replay)
{
	struct tpa_event event = { 0 };

	TPA_ARCHIVE(archive, event.thread);
	if (!tpa_archive_check(archive, event.thread < tpa_trace_thread_limit(replay->trace),
			       "a thread's number is out of range") ||
	    !tpa_archive_check(archive,
			       event.thread >= replay->threads.index_count || !replay->threads.index[event.thread],
			       "two threads have one number"))
		return NULL;
	return tpa_replay_new_thread(replay, &event);
}

/* In order of appearance, on which the order of reports depends. */
static void archive_threads(struct tpa_archive *archive, struct tpa_replay *replay)
{
	size_t count = replay->threads.count;

	TPA_ARCHIVE(archive, count);
	for (size_t i = 0; !archive->loading && i < count; i++) {
		TPA_ARCHIVE(archive, replay->threads.list[i].stats.thread);
		archive_thread(archive, replay, &replay->threads.list[i]);
	}
	while (archive->loading && count-- && !archive->failed) {
		struct tpa_thread_state *thread = load_thread(archive, replay);

		if (thread)
			archive_thread(archive, replay, thread);
	}
}

static void free_part(struct tpa_replay *replay)
{
	for (size_t i = 0; i < replay->threads.count; i++) {
		struct tpa_thread_state *thread = &replay->threads.list[i];

		free(thread->undo.ranges.list);
		free(thread->open.frames);
		free(thread->calls.ring);
	}
	free(replay->threads.list);
	free(replay->threads.index);
}

const struct tpa_part tpa_part_threads = { .archive = archive_threads, .look = look, .free = free_part };
