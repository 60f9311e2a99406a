/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that are added to a FOLD record after it was replayed: the folder of a ring can't always wait until the record's chunk has
 * ended. What was counted is kept, and the rest is counted when the replay goes on, before any later event. The op around the calls
 * is still open then: they were made before its end, which is a later event of the same thread.
 */
#include "model/replay/replay_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/memory.h"
#include "trace/chunks.h"
#include "trace/folded.h"

void tpa_replay_folded_note(struct tpa_replay *replay, uint64_t chunk)
{
	const struct tpa_event *event = replay->event;
	const struct tpa_chunks *chunks = tpa_trace_chunks(replay->trace);
	struct tpa_early_fold *early;
	size_t i = 0;

	while (i < chunks->count && (chunks->list[i].offset != chunk || chunks->list[i].gone))
		i++;
	if (i == chunks->count || !event->fold.calls || tpa_replay_thread(replay, event)->open.deeper)
		return;
	early = TPA_APPEND(replay->folded.list, replay->folded.count, replay->folded.room);
	memset(early, 0, sizeof(*early)); /* also between the fields, as it is saved */
	early->offset = event->offset;
	early->chunk = chunk;
	early->began = chunks->list[i].begin.ticks;
	early->op = event->fold.op;
	early->thread = event->thread;
	early->depth = tpa_replay_thread(replay, event)->open.count;
	early->counted = tpa_replay_counts(replay, event);
	early->counts = event->fold.calls->counts;
	early->lasted = event->fold.calls->lasted;
	early->lasted_calls = event->fold.calls->lasted_calls;
}

/* The reading of the record that was counted. */
static struct tpa_folded reading_of(const struct tpa_early_fold *early)
{
	struct tpa_folded folded = { .counts = early->counts,
				     .lasted = early->lasted,
				     .lasted_calls = early->lasted_calls };

	for (unsigned i = 0; i < TPROF_FOLD_BUCKETS; i++)
		folded.timed += early->counts.histogram[i];
	return folded;
}

static struct tpa_thread_state *find_thread(struct tpa_replay *replay, uint32_t number)
{
	uint32_t index = number < replay->threads.index_count ? replay->threads.index[number] : 0;

	return index ? &replay->threads.list[index - 1] : NULL;
}

/* Counts the calls in the op that was innermost when the record was read. */
static void count(struct tpa_replay *replay, struct tpa_thread_state *thread, const struct tpa_early_fold *early,
		  const struct tpa_folded *added)
{
	struct tpa_op_fold fold = { .number = early->op, .folded = added, .counted = early->counted };
	uint64_t before = replay->ops.calls.outermost_ticks, deeper = thread->open.deeper;
	uint32_t open = thread->open.count;

	thread->open.deeper = 0;
	thread->open.count = early->depth < open ? early->depth : open;
	tpa_ops_fold(&replay->ops.calls, &thread->open, &fold);
	thread->open.count = open;
	thread->open.deeper = deeper;
	thread->stats.op_ns += replay->ops.calls.outermost_ticks - before;
}

static void go_on(struct tpa_replay *replay, struct tpa_early_fold *early)
{
	struct tpa_folded before = reading_of(early), now, added;
	struct tpa_thread_state *thread = find_thread(replay, early->thread);

	if (!thread || !tpa_folded_read(replay->trace, early->offset, &now) || !tpa_folded_added(&before, &now, &added))
		return;
	count(replay, thread, early, &added);
	early->counts = now.counts;
	early->lasted = now.lasted;
	early->lasted_calls = now.lasted_calls;
}

/* Is the chunk with the record still in the file? `last`: of the record before, mostly the same chunk. */
static bool is_there(const struct tpa_chunks *chunks, const struct tpa_early_fold *early, size_t *last)
{
	for (size_t i = 0; i < chunks->count; i++) {
		const struct tpa_chunk *chunk = &chunks->list[(*last + i) % chunks->count];

		if (chunk->gone || chunk->offset != early->chunk || chunk->begin.ticks != early->began)
			continue;
		*last = (*last + i) % chunks->count;
		return early->offset - chunk->offset < sizeof(struct tprof_chunk) + chunk->committed;
	}
	return false;
}

void tpa_replay_folded_go_on(struct tpa_replay *replay)
{
	const struct tpa_chunks *chunks = tpa_trace_chunks(replay->trace);
	size_t last = 0, kept = 0;

	for (size_t i = 0; i < replay->folded.count; i++) {
		struct tpa_early_fold *early = &replay->folded.list[i];

		if (!is_there(chunks, early, &last))
			continue;
		go_on(replay, early);
		replay->folded.list[kept++] = *early;
	}
	replay->folded.count = kept;
}

void tpa_replay_folded_end(struct tpa_replay *replay, bool (*ended)(const void *context, uint64_t chunk),
			   const void *context)
{
	size_t kept = 0;

	for (size_t i = 0; i < replay->folded.count; i++)
		if (!ended(context, replay->folded.list[i].chunk))
			replay->folded.list[kept++] = replay->folded.list[i];
	replay->folded.count = kept;
}

/* ---- the part ---- */

static void archive(struct tpa_archive *archive, struct tpa_replay *replay)
{
	struct tpa_part_folded *folded = &replay->folded;

	tpa_archive_array(archive, &folded->list, &folded->count, &folded->room, sizeof(*folded->list));
}

static void free_part(struct tpa_replay *replay)
{
	free(replay->folded.list);
}

const struct tpa_part tpa_part_folded = { .archive = archive, .free = free_part };
