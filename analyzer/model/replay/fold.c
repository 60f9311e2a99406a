/* SPDX-License-Identifier: Apache-2.0 */
#include "model/replay/fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/memory.h"
#include "model/replay/replay_impl.h"
#include "trace/chunks.h"

#define LAG_NS 10000000
#define AT_ONCE 65536 /* events between two counts of the chunks that can be freed */

struct fold {
	struct tpa_replay replay;
	struct tpa_ring *ring;
	uint64_t limit;	 /* event time: later events may be missing for some threads */
	uint8_t *states; /* of the places, from before the trace was read: the chunks that had ended by then */
};

bool tpa_fold_is_due(const struct tpa_ring *ring)
{
	return tpa_ring_left(ring) < tpa_ring_usable(ring) / 2 || tpa_ring_is_waited_for(ring);
}

/* How many chunks to free. A checkpoint takes as long whether few or many are freed. */
static size_t wanted(const struct tpa_ring *ring)
{
	uint64_t left = tpa_ring_left(ring), usable = tpa_ring_usable(ring), goal = usable / 2 + usable / 4;

	return goal > left ? (size_t)(goal - left) : 1;
}

static bool has_ended(const void *context, uint64_t offset)
{
	const struct fold *fold = context;
	uint32_t place = tpa_ring_place(offset);

	return place < fold->ring->places && fold->states[place] == TPROF_PLACE_ENDED;
}

/* The offsets of chunks that were read to their ends, and to which nothing more will be written. */
static size_t list_done(const struct fold *fold, uint64_t *offsets)
{
	const struct tpa_replay *replay = &fold->replay;
	size_t count = tpa_events_read(replay->events, replay->event != NULL, offsets), done = 0;

	for (size_t i = 0; i < count; i++)
		if (has_ended(fold, offsets[i]))
			offsets[done++] = offsets[i];
	return done;
}

/* Calls may still be added to the next event. */
static bool is_open_fold(const struct fold *fold)
{
	const struct tpa_replay *replay = &fold->replay;

	return replay->event->kind == TPA_EVENT_FOLD && !has_ended(fold, tpa_events_place(replay->events));
}

/*
 * The last moments are left to the next time: a thread may have stamped events of them that it has not written.
 *
 * Folded calls are added to their record until its chunk has ended. Their replay waits for that, unless there is hardly any room
 * left: the chunk may be that of a thread that does nothing more for hours. What is added later is counted later
 * (replay_folded.c).
 */
static bool must_wait(const struct fold *fold)
{
	const struct tpa_replay *replay = &fold->replay;

	if (replay->event->time > fold->limit)
		return true;
	return is_open_fold(fold) && tpa_ring_left(fold->ring) > fold->ring->places / 4 &&
	       !tpa_ring_is_waited_for(fold->ring);
}

/* Returns how many chunks can be freed. */
static size_t replay_until(struct fold *fold, size_t enough, uint64_t *offsets)
{
	struct tpa_replay *replay = &fold->replay;
	size_t done = list_done(fold, offsets);
	bool waits = false;

	while (done < enough && replay->event && !waits) {
		for (size_t i = 0; i < AT_ONCE && replay->event && !(waits = must_wait(fold)); i++) {
			if (is_open_fold(fold))
				tpa_replay_folded_note(replay, tpa_events_place(replay->events));
			tpa_replay_step(replay);
		}
		done = list_done(fold, offsets);
	}
	return done;
}

/* The bytes of a checkpoint, which the caller frees. */
static uint8_t *make_checkpoint(const struct tpa_replay *replay, struct tprof_checkpoint *checkpoint, char **error)
{
	struct tpa_archive saved = { 0 };
	uint8_t *bytes = NULL;

	checkpoint->events = replay->heap.counts.events;
	checkpoint->ticks = tpa_replay_ticks(replay, replay->last);
	if (tpa_replay_save(replay, &saved) && tpa_archive_seal(&saved))
		bytes = tpa_ring_compress(saved.bytes, saved.size, checkpoint);
	if (!bytes)
		*error = tpa_strdup(saved.failed ? saved.failed : "the state can't be saved");
	tpa_archive_free(&saved);
	return bytes;
}

/* Returns how many chunks were freed. */
static size_t free_done(struct fold *fold, char **error)
{
	const struct tpa_chunks *chunks = tpa_trace_chunks(fold->replay.trace);
	uint64_t *offsets = tpa_zalloc(chunks->count + 1, sizeof(*offsets));
	size_t count = replay_until(fold, wanted(fold->ring), offsets), freed = 0;
	struct tprof_checkpoint checkpoint = { 0 };
	uint8_t *bytes = count ? make_checkpoint(&fold->replay, &checkpoint, error) : NULL;

	tpa_ring_lock_to_write(fold->ring->fd);
	if (bytes && tpa_ring_write(fold->ring, &checkpoint, bytes))
		for (; freed < count; freed++)
			tpa_ring_free(fold->ring, tpa_ring_place(offsets[freed]));
	tpa_ring_unlock(fold->ring->fd);
	free(bytes);
	free(offsets);
	return freed;
}

static uint64_t limit_of(const struct tpa_trace *trace)
{
	uint64_t last = tpa_trace_last(trace) >> trace->header->tick_shift, lag = tpa_trace_about(trace, LAG_NS);

	if (!trace->written)
		return UINT64_MAX;
	return last > lag ? last - lag : 0;
}

bool tpa_fold_once(struct tpa_trace *trace, struct tpa_ring *ring, const struct tpa_replay_options *options,
		   size_t *freed, char **error)
{
	struct fold fold = { .ring = ring, .states = tpa_copy(ring->states, ring->places) };

	__atomic_thread_fence(
		__ATOMIC_ACQUIRE); /* pairs with the program: all of a chunk that has ended is in the file */
	*freed = 0;
	if (tpa_trace_refresh(trace, error)) {
		fold.limit = limit_of(trace);
		tpa_replay_open(&fold.replay, trace, options, 0);
		tpa_replay_folded_end(&fold.replay, has_ended, &fold);
		*freed = free_done(&fold, error);
		tpa_replay_free(&fold.replay);
	}
	free(fold.states);
	return !*error;
}
