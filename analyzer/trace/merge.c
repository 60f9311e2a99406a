/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges the events of all chunks: open chunks wait in a queue, ordered by the key of their next event. A chunk is opened when
 * its begin is due. Functions are declared in events.h.
 */
#include <stdlib.h>

#include "base/archive.h"
#include "trace/cursor.h"
#include "base/order.h"
#include "base/queue.h"
#include "base/memory.h"

#define BATCH 64

/* How far a chunk was read. */
struct progress {
	uint64_t decoded; /* events, once it has ended */
	bool begun;	  /* opened; when a saved place is loaded, also before its turn */
};

struct tpa_merge {
	struct tpa_events events; /* the public face */
	struct tpa_event batch[BATCH];
	struct tpa_trace_impl *impl;
	struct tpa_queue queue;
	size_t queue_room;
	struct tpa_cursor *current; /* first in the queue; its event was given out */
	struct progress *progress;  /* of each chunk */
	size_t next_chunk;	    /* all before it have begun */
	struct tpa_cursor *given;   /* whose events are in the batch */
	uint64_t horizon;	    /* the current cursor continues alone while its key is smaller */
	struct tpa_cursor **spare;  /* of chunks that ended */
	size_t spare_count, spare_room;
	uint64_t done, total;	   /* bytes of closed chunks; of all */
	bool failed;		   /* the refreshed file does not match what was read before */
	struct tpa_merge *next;	   /* another reader of the trace */
	struct tpa_archive places; /* while the trace is refreshed */
};

/* Skips chunks that were opened out of turn, from a saved place. */
static void pass_begun(struct tpa_merge *events)
{
	while (events->next_chunk < events->impl->events.count && events->progress[events->next_chunk].begun)
		events->next_chunk++;
}

/* Chunks that are gone count as read. */
static void pass_gone(struct tpa_merge *events)
{
	const struct tpa_chunks *chunks = &events->impl->events;

	for (size_t i = 0; i < chunks->count; i++) {
		events->progress[i].begun = chunks->list[i].gone;
		events->done += chunks->list[i].gone ? chunks->list[i].committed : 0;
	}
	pass_begun(events);
}

struct tpa_events *tpa_events_open(struct tpa_trace *trace)
{
	struct tpa_merge *events = tpa_zalloc(1, sizeof(*events));
	size_t i;

	events->impl = tpa_impl(trace);
	events->progress = tpa_zalloc(events->impl->events.count, sizeof(*events->progress));
	for (i = 0; i < events->impl->events.count; i++)
		events->total += events->impl->events.list[i].committed;
	pass_gone(events);
	events->next = events->impl->readers;
	events->impl->readers = events;
	return &events->events;
}

static inline struct tpa_merge *merge_of(const struct tpa_events *events)
{
	return (struct tpa_merge *)(uintptr_t)events;
}

void tpa_events_close(struct tpa_events *public)
{
	struct tpa_merge *events = merge_of(public), **at;
	size_t i;

	if (!events)
		return;
	for (at = &events->impl->readers; *at != events;)
		at = &(*at)->next;
	*at = events->next;
	for (i = 0; i < events->queue.count; i++)
		free(events->queue.items[i].what);
	for (i = 0; i < events->spare_count; i++)
		free(events->spare[i]);
	free(events->queue.items);
	free(events->spare);
	free(events->progress);
	free(events);
}

static uint64_t begin_key(const struct tpa_merge *events, size_t chunk)
{
	return events->impl->events.list[chunk].begin.ticks >> events->impl->header.tick_shift << 2;
}

static void end_chunk(struct tpa_merge *events, struct tpa_cursor *cursor)
{
	events->progress[cursor->chunk - events->impl->events.list].decoded = cursor->decoded;
	events->done += cursor->chunk->committed;
	*TPA_APPEND(events->spare, events->spare_count, events->spare_room) = cursor;
}

/* Opens a chunk, skips `skip` events and queues the next one. */
static void open_chunk(struct tpa_merge *events, size_t number, uint64_t skip)
{
	struct tpa_event passed[BATCH];
	struct tpa_cursor *cursor;
	enum tpa_stop stop = TPA_STOP_FULL;
	size_t count;

	tpa_grow(&events->queue.items, &events->queue_room, events->queue.count + 1, sizeof(*events->queue.items));
	cursor = events->spare_count ? events->spare[--events->spare_count] : tpa_resize(NULL, 1, sizeof(*cursor));
	events->progress[number].begun = true;
	tpa_cursor_open(cursor, events->impl, &events->impl->events.list[number]);
	while (stop != TPA_STOP_END && cursor->decoded < skip) {
		count = 0;
		stop = tpa_cursor_fill(cursor, passed, &count,
				       skip - cursor->decoded < BATCH ? (size_t)(skip - cursor->decoded) : BATCH,
				       UINT64_MAX);
	}
	count = 0;
	if (stop == TPA_STOP_END || tpa_cursor_fill(cursor, &cursor->head, &count, 1, UINT64_MAX) == TPA_STOP_END)
		end_chunk(events, cursor);
	else
		tpa_queue_push(&events->queue, cursor->key, number, cursor);
}

/* Opens all chunks that may hold an event which is due before the first one in the queue. */
static void activate_due(struct tpa_merge *events)
{
	size_t count = events->impl->events.count;

	while (events->next_chunk < count) {
		if (events->queue.count && events->queue.items[0].key < begin_key(events, events->next_chunk))
			break;
		open_chunk(events, events->next_chunk, 0);
		pass_begun(events);
	}
	events->horizon = tpa_queue_second_key(&events->queue);
	if (events->next_chunk < count && begin_key(events, events->next_chunk) < events->horizon)
		events->horizon = begin_key(events, events->next_chunk);
}

/* Decodes more of the current chunk, until another chunk is due. */
static void continue_current(struct tpa_merge *events, size_t *count)
{
	struct tpa_cursor *cursor = events->current;

	switch (tpa_cursor_fill(cursor, events->batch, count, BATCH, events->horizon)) {
	case TPA_STOP_FULL:
		break;
	case TPA_STOP_TURN:
		cursor->head = events->batch[*count];
		events->queue.items[0].key = cursor->key;
		tpa_queue_sink(&events->queue);
		events->current = NULL;
		break;
	default:
		tpa_queue_drop_first(&events->queue);
		events->current = NULL;
		end_chunk(events, cursor);
	}
}

/* Texts and payloads lie in their cursor, so such an event ends a batch: the cursor keeps them until the next call. */
static const struct tpa_event *give_out(struct tpa_merge *events, struct tpa_cursor *cursor, size_t count)
{
	events->given = cursor;
	events->events.at = events->batch + 1;
	events->events.end = events->batch + count;
	return events->batch;
}

const struct tpa_event *tpa_events_refill(struct tpa_events *public)
{
	struct tpa_merge *events = merge_of(public);
	struct tpa_cursor *cursor = events->current;
	size_t count = 0;

	events->given = NULL;
	if (events->failed)
		return NULL;
	if (cursor) {
		continue_current(events, &count);
		if (count)
			return give_out(events, cursor, count);
	}
	activate_due(events);
	if (!events->queue.count)
		return NULL;
	cursor = events->current = events->queue.items[0].what;
	events->batch[count++] = cursor->head;
	if (!tpa_event_has_payload(events->batch[0].kind))
		continue_current(events, &count);
	return give_out(events, cursor, count);
}

bool tpa_events_failed(const struct tpa_events *events)
{
	return merge_of(events)->failed;
}

uint64_t tpa_events_done(const struct tpa_events *public)
{
	const struct tpa_merge *events = merge_of(public);
	uint64_t done = events->done;
	size_t i;

	for (i = 0; i < events->queue.count; i++) {
		const struct tpa_cursor *cursor = events->queue.items[i].what;

		done += cursor->chunk->committed - tpa_cursor_left(cursor);
	}
	return done;
}

uint64_t tpa_events_total(const struct tpa_events *events)
{
	return merge_of(events)->total;
}

/* ---- saving and loading ---- */

/* A chunk that has begun, as it is saved. */
struct place {
	uint64_t offset;    /* of the chunk in the file */
	uint64_t begin;	    /* ticks: another chunk may take the place of this one */
	uint64_t committed; /* bytes that it had */
	uint64_t consumed;  /* events that were given out */
	bool ended;	    /* all its events were given out */
};

/* Events of an open chunk that were given out. */
static uint64_t given_out(const struct tpa_merge *events, const struct tpa_cursor *cursor, bool unread)
{
	uint64_t given = cursor->decoded - (cursor != events->current);

	return cursor == events->given ? given - (uint64_t)(events->events.end - events->events.at) - unread : given;
}

/* The batch may hold events of a chunk that ended: its cursor is spare already. */
static bool batch_ended(const struct tpa_merge *events)
{
	return events->given && events->spare_count && events->spare[events->spare_count - 1] == events->given;
}

/* The chunks that have begun, but for those that are gone; the caller frees the list. */
static struct place *list_places(const struct tpa_merge *events, bool unread, size_t *count)
{
	const struct tpa_chunks *chunks = &events->impl->events;
	struct place *places = tpa_zalloc(chunks->count, sizeof(*places));

	*count = 0;
	for (size_t i = 0; i < chunks->count; i++)
		places[i] = (struct place){ .offset = chunks->list[i].offset,
					    .begin = chunks->list[i].begin.ticks,
					    .committed = chunks->list[i].committed,
					    .consumed = events->progress[i].decoded,
					    .ended = true };
	for (size_t i = 0; i < events->queue.count; i++) {
		const struct tpa_cursor *cursor = events->queue.items[i].what;
		struct place *place = &places[cursor->chunk - chunks->list];

		place->consumed = given_out(events, cursor, unread);
		place->ended = false;
	}
	if (batch_ended(events)) {
		struct place *place = &places[events->given->chunk - chunks->list];
		uint64_t left = (uint64_t)(events->events.end - events->events.at) + unread;

		place->consumed -= left;
		place->ended = !left;
	}
	for (size_t i = 0; i < chunks->count; i++)
		if (events->progress[i].begun && !chunks->list[i].gone)
			places[(*count)++] = places[i];
	return places;
}

size_t tpa_events_read(const struct tpa_events *events, bool unread, uint64_t *offsets)
{
	size_t count, read = 0;
	struct place *places = list_places(merge_of(events), unread, &count);

	for (size_t i = 0; i < count; i++)
		if (places[i].ended)
			offsets[read++] = places[i].offset;
	free(places);
	return read;
}

uint64_t tpa_events_place(const struct tpa_events *events)
{
	return merge_of(events)->given->chunk->offset;
}

static void save_places(struct tpa_archive *archive, const struct tpa_merge *events, bool unread)
{
	size_t count;
	struct place *places = list_places(events, unread, &count);

	tpa_archive_array(archive, &places, &count, NULL, sizeof(*places));
	free(places);
}

static int by_offset(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return TPA_UP(x->offset, y->offset) ?: TPA_UP(x->begin, y->begin);
}

static void resume_chunk(struct tpa_merge *events, size_t number, const struct place *place)
{
	if (events->impl->events.list[number].gone) { /* pass_gone() has counted it */
		events->progress[number].decoded = place->consumed;
	} else if (!place->ended || place->committed != events->impl->events.list[number].committed) {
		open_chunk(events, number, place->consumed);
	} else {
		events->progress[number] = (struct progress){ place->consumed, true };
		events->done += place->committed;
	}
}

/* `refreshed`: a chunk may have been shortened because the disk was full; it ends where it was read to. */
static void load_places(struct tpa_archive *archive, struct tpa_merge *events, bool refreshed)
{
	struct tpa_chunks *chunks = &events->impl->events;
	struct place *places = NULL;
	size_t count = 0, found = 0;

	tpa_archive_array(archive, &places, &count, NULL, sizeof(*places));
	if (count)
		qsort(places, count, sizeof(*places), by_offset);
	for (size_t i = 0; i < chunks->count && !archive->failed; i++) {
		struct tpa_chunk *chunk = &chunks->list[i];
		const struct place key = { .offset = chunk->offset, .begin = chunk->begin.ticks };
		const struct place *place = count ? bsearch(&key, places, count, sizeof(*places), by_offset) : NULL;

		chunk->read = chunk->read || (chunk->gone && place && place->ended);
		tpa_archive_check(archive, chunk->read || !chunk->gone,
				  "a chunk is no longer in the file, and was not read to its end");
		if (!place)
			continue;
		found++;
		tpa_archive_check(archive, refreshed || place->committed <= chunk->committed,
				  "the saved state is of another trace: a chunk is shorter");
		if (!archive->failed)
			resume_chunk(events, i, place);
	}
	pass_begun(events);
	tpa_archive_check(archive, found == count, "the saved state is of another trace: a chunk is not there");
	free(places);
}

void tpa_events_archive(struct tpa_archive *archive, struct tpa_events *public, bool unread)
{
	if (archive->loading)
		load_places(archive, merge_of(public), false);
	else
		save_places(archive, merge_of(public), unread);
}

struct tpa_events *tpa_events_copy(struct tpa_events *public, bool unread)
{
	struct tpa_merge *events = merge_of(public);
	struct tpa_events *copy = tpa_events_open(&events->impl->trace);
	struct tpa_archive places = { 0 }, loading = { 0 };

	save_places(&places, events, unread);
	tpa_archive_load_from(&loading, places.bytes, places.size);
	load_places(&loading, merge_of(copy), false);
	tpa_archive_free(&places);
	return copy;
}

/* ---- a trace that is refreshed ---- */

void tpa_readers_save(struct tpa_trace_impl *impl)
{
	for (struct tpa_merge *events = impl->readers; events; events = events->next) {
		events->places = (struct tpa_archive){ 0 };
		save_places(&events->places, events, false);
	}
}

/* Resets the reader as if it had just been opened. */
static void rewind_reader(struct tpa_merge *events)
{
	size_t count = events->impl->events.count;

	while (events->queue.count)
		free(events->queue.items[--events->queue.count].what);
	events->current = events->given = NULL;
	events->events = (struct tpa_events){ NULL, NULL };
	events->next_chunk = 0;
	events->done = events->total = 0;
	free(events->progress);
	events->progress = tpa_zalloc(count, sizeof(*events->progress));
	for (size_t i = 0; i < count; i++)
		events->total += events->impl->events.list[i].committed;
	pass_gone(events);
}

void tpa_readers_resume(struct tpa_trace_impl *impl)
{
	struct tpa_archive loading = { 0 };

	for (struct tpa_merge *events = impl->readers; events; events = events->next) {
		rewind_reader(events);
		tpa_archive_load_from(&loading, events->places.bytes, events->places.size);
		load_places(&loading, events, true);
		events->failed = events->failed || loading.failed;
		tpa_archive_free(&events->places);
	}
}
