/* SPDX-License-Identifier: Apache-2.0 */
/* The merge: open chunks wait in a queue with the key of their next event; a chunk is opened when its begin is due. */
#include <stdlib.h>

#include "trace/cursor.h"
#include "trace/jit.h"
#include "trace/queue.h"
#include "trace/reserve.h"

#define BATCH 64

struct merge {
	struct tp_events events; /* the public face */
	struct tp_event batch[BATCH];
	struct tp_trace_impl *impl;
	struct tp_queue queue;
	size_t queue_room;
	struct tp_cursor *current; /* first in the queue, and its event was given out */
	size_t next_chunk;
	uint64_t horizon;	  /* the first cursor goes on alone while its key is smaller */
	struct tp_cursor **spare; /* of chunks that ended */
	size_t spare_count, spare_room;
	uint64_t done, total; /* bytes of closed chunks; of all */
	bool failed;
};

struct tp_events *tp_events_open(struct tp_trace *trace)
{
	struct merge *events = calloc(1, sizeof(*events));
	size_t i;

	if (!events)
		return NULL;
	events->impl = tp_impl(trace);
	for (i = 0; i < events->impl->events.count; i++)
		events->total += events->impl->events.list[i].committed;
	return &events->events;
}

static inline struct merge *merge_of(const struct tp_events *events)
{
	return (struct merge *)(uintptr_t)events;
}

void tp_events_close(struct tp_events *public)
{
	struct merge *events = merge_of(public);
	size_t i;

	if (!events)
		return;
	for (i = 0; i < events->queue.count; i++)
		free(events->queue.items[i].what);
	for (i = 0; i < events->spare_count; i++)
		free(events->spare[i]);
	free(events->queue.items);
	free(events->spare);
	free(events);
}

static uint64_t begin_key(const struct merge *events, size_t chunk)
{
	return events->impl->events.list[chunk].begin >> events->impl->header.tick_shift << 2;
}

static bool keep_spare(struct merge *events, struct tp_cursor *cursor)
{
	if (!tp_reserve(&events->spare, &events->spare_room, events->spare_count + 1, sizeof(cursor))) {
		free(cursor);
		return false;
	}
	events->spare[events->spare_count++] = cursor;
	return true;
}

/* Opens the next chunk and queues its first event. False: no memory. */
static bool activate(struct merge *events)
{
	const struct tp_chunk *chunk = &events->impl->events.list[events->next_chunk];
	struct tp_cursor *cursor;
	size_t count = 0;

	if (!tp_reserve(&events->queue.items, &events->queue_room, events->queue.count + 1,
			sizeof(*events->queue.items)))
		return false;
	cursor = events->spare_count ? events->spare[--events->spare_count] : malloc(sizeof(*cursor));
	if (!cursor)
		return false;
	tp_cursor_open(cursor, events->impl, chunk);
	if (tp_cursor_fill(cursor, &cursor->head, &count, 1, UINT64_MAX) != TP_STOP_END) {
		tp_queue_push(&events->queue, cursor->key, events->next_chunk++, cursor);
		return true;
	}
	events->next_chunk++;
	events->done += chunk->committed;
	return keep_spare(events, cursor);
}

/* Opens all chunks that may hold an event which is due before the first one in the queue. */
static bool activate_due(struct merge *events)
{
	size_t count = events->impl->events.count;

	while (events->next_chunk < count) {
		if (events->queue.count && events->queue.items[0].key < begin_key(events, events->next_chunk))
			break;
		if (!activate(events))
			return false;
	}
	events->horizon = tp_queue_second_key(&events->queue);
	if (events->next_chunk < count && begin_key(events, events->next_chunk) < events->horizon)
		events->horizon = begin_key(events, events->next_chunk);
	return true;
}

/* Goes on in the current chunk while it is its turn. False: no memory. */
static bool continue_current(struct merge *events, size_t *count)
{
	struct tp_cursor *cursor = events->current;

	switch (tp_cursor_fill(cursor, events->batch, count, BATCH, events->horizon)) {
	case TP_STOP_FULL:
		return true;
	case TP_STOP_TURN:
		cursor->head = events->batch[*count];
		events->queue.items[0].key = cursor->key;
		tp_queue_sink(&events->queue);
		events->current = NULL;
		return true;
	default:
		events->done += cursor->chunk->committed;
		tp_queue_drop_first(&events->queue);
		events->current = NULL;
		return keep_spare(events, cursor);
	}
}

/*
 * A text lies in its cursor's window: it ends a batch, so that the window is not moved before it was seen.
 */
static const struct tp_event *give_out(struct merge *events, size_t count)
{
	if (events->impl->jit_times)
		tp_jit_time(events->impl->jit_times, &events->impl->trace, events->batch, count);
	events->events.at = events->batch + 1;
	events->events.end = events->batch + count;
	return events->batch;
}

const struct tp_event *tp_events_refill(struct tp_events *public)
{
	struct merge *events = merge_of(public);
	size_t count = 0;

	if (events->failed)
		return NULL;
	if (events->current) {
		events->failed = !continue_current(events, &count);
		if (count)
			return give_out(events, count);
	}
	events->failed = events->failed || !activate_due(events);
	if (events->failed || !events->queue.count)
		return NULL;
	events->current = events->queue.items[0].what;
	events->batch[count++] = events->current->head;
	if (!tp_event_has_text(events->batch[0].kind))
		events->failed = !continue_current(events, &count);
	return give_out(events, count);
}

bool tp_events_failed(const struct tp_events *events)
{
	return merge_of(events)->failed;
}

uint64_t tp_events_done(const struct tp_events *public)
{
	const struct merge *events = merge_of(public);
	uint64_t done = events->done;
	size_t i;

	for (i = 0; i < events->queue.count; i++) {
		const struct tp_cursor *cursor = events->queue.items[i].what;

		done += cursor->chunk->committed - tp_cursor_left(cursor);
	}
	return done;
}

uint64_t tp_events_total(const struct tp_events *events)
{
	return merge_of(events)->total;
}
