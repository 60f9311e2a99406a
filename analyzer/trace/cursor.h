/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes one event chunk from its begin to its end: a window of the file and the state of the coding. */
#ifndef TPROF_TRACE_CURSOR_H
#define TPROF_TRACE_CURSOR_H

#include "trace/events.h"
#include "trace/impl.h"
#include "base/varint.h"

#define TPA_WINDOW 65536u

struct tpa_cursor {
	struct tpa_event head; /* the next event, while the cursor waits in the merge's queue */
	uint64_t key;	       /* sort key of the last event, see tpa_cursor_fill() */
	uint64_t time;	       /* of the last event */
	uint64_t time_max;     /* a later one is damage */
	uint32_t thread, tid;  /* whose events they are */
	uint64_t decoded;      /* events so far, including `head` */

	const uint8_t *at, *end; /* within `window` */
	uint64_t address;	 /* the coding state of format.h */
	uint32_t stack, delta;
	bool first; /* the next event is its thread's first in this chunk */

	const struct tpa_chunk *chunk;
	struct tpa_trace_impl *impl;
	uint64_t window_offset; /* of window[0] in the file */
	uint64_t ahead;		/* valid bytes of the chunk behind the window */
	union {			/* of the last event */
		struct tpa_memory_parts memory;
		struct tpa_counters counters;
		struct tpa_work work;
		struct tpa_folded folded;
		struct tpa_usage usage;
		struct tpa_allocator allocator;
		struct tpa_region region;
		struct tpa_comm comm;
		struct tpa_comm_done comm_done;
	} payload;
	uint64_t addresses[256];
	uint32_t stacks[256];
	uint8_t window[TPA_WINDOW + TPA_PADDING];
};

void tpa_cursor_open(struct tpa_cursor *cursor, struct tpa_trace_impl *impl, const struct tpa_chunk *chunk);

/* Why tpa_cursor_fill() stopped. */
enum tpa_stop {
	TPA_STOP_FULL, /* `max` events, or one whose text or payload lies in the cursor, which must not go on yet */
	TPA_STOP_TURN, /* events[*count] is there, but not before the horizon */
	TPA_STOP_END,  /* the chunk has ended */
};

/*
 * Decodes events while their keys are below `horizon` into events[*count] and so on, adding to *count; at most until
 * *count is `max`. The key is four times the event's time plus 0 if it frees, 1 otherwise, and 2 if it is the first of
 * its thread in the chunk: the thread's earlier events of the same time stand in another chunk and must go before it.
 * Fields that an event's kind does not have are left as they are.
 */
enum tpa_stop tpa_cursor_fill(struct tpa_cursor *cursor, struct tpa_event *events, size_t *count, size_t max,
			      uint64_t horizon);

/* Bytes of the chunk not yet decoded. */
static inline uint64_t tpa_cursor_left(const struct tpa_cursor *cursor)
{
	return cursor->ahead + (uint64_t)(cursor->end - cursor->at);
}

#endif
