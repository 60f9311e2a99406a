/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/cursor_impl.h"

static const char bad_record[] = "a record is malformed";
static const char cut_record[] = "a record does not fit its chunk";

/* Gives up the rest of the chunk from `record` on. */
static bool give_up(struct tpa_cursor *cursor, const uint8_t *record, const char *reason)
{
	uint64_t lost = cursor->ahead + (uint64_t)(cursor->end - record);

	tpa_damage_add(&cursor->impl->trace, cursor->window_offset + (uint64_t)(record - cursor->window), lost, reason);
	cursor->at = cursor->end;
	cursor->ahead = 0;
	return false;
}

/* Moves the window on, so that it begins at the next record. */
static void refill(struct tpa_cursor *cursor)
{
	size_t keep = (size_t)(cursor->end - cursor->at), want = TPA_WINDOW - keep, got;

	if (want > cursor->ahead)
		want = cursor->ahead;
	cursor->window_offset += (uint64_t)(cursor->at - cursor->window);
	memmove(cursor->window, cursor->at, keep);
	got = tpa_trace_bytes_at(cursor->impl, cursor->window + keep, want, cursor->window_offset + keep);
	cursor->ahead -= got;
	if (got < want) {
		tpa_damage_add(&cursor->impl->trace, cursor->window_offset + keep + got, cursor->ahead,
			       "can't be read");
		cursor->ahead = 0;
	}
	cursor->at = cursor->window;
	cursor->end = cursor->window + keep + got;
	memset(cursor->window + keep + got, 0, TPA_PADDING);
}

void tpa_cursor_reset(struct tpa_cursor *cursor)
{
	cursor->address = 0;
	cursor->stack = cursor->delta = 0;
	cursor->first = true;
	memset(cursor->addresses, 0, sizeof(cursor->addresses));
	memset(cursor->stacks, 0, sizeof(cursor->stacks));
}

uint32_t tpa_cursor_thread(struct tpa_cursor *cursor, uint64_t thread, uint64_t offset)
{
	if (thread < cursor->impl->thread_limit)
		return (uint32_t)thread;
	tpa_damage_add(&cursor->impl->trace, offset, 0, "a thread number is out of range; the thread is shown as 0");
	return 0;
}

void tpa_cursor_open(struct tpa_cursor *cursor, struct tpa_trace_impl *impl, const struct tpa_chunk *chunk)
{
	cursor->impl = impl;
	cursor->chunk = chunk;
	cursor->thread = tpa_cursor_thread(cursor, chunk->thread, chunk->offset);
	cursor->tid = chunk->tid;
	cursor->time = chunk->begin.ticks >> impl->header.tick_shift;
	/* Leaves two bits for the key, and fits 64 bits when it is shifted to ticks. */
	cursor->time_max = UINT64_MAX >> (impl->header.tick_shift > 2 ? impl->header.tick_shift : 2);
	cursor->window_offset = chunk->offset + sizeof(struct tprof_chunk);
	cursor->ahead = chunk->committed;
	cursor->at = cursor->end = cursor->window;
	cursor->key = 0;
	cursor->decoded = 0;
	tpa_cursor_reset(cursor);
}

/* An index of one byte, or a difference to the last address; in units of 8 bytes. */
__attribute__((always_inline)) static inline uint64_t read_address(struct tpa_cursor *cursor, const uint8_t **at,
								   uint8_t tag)
{
	uint64_t address;

	if (tag & TPROF_TAG_ADDRESS_INDEX)
		return cursor->addresses[*(*at)++] << 3;
	address = cursor->address + tpa_svarint(at);
	cursor->address = address;
	cursor->addresses[tprof_address_slot(address)] = address;
	return address << 3;
}

__attribute__((always_inline)) static inline bool read_stack(struct tpa_cursor *cursor, const uint8_t **at, uint8_t tag)
{
	switch (tag >> TPROF_ALLOC_STACK_SHIFT & 3) {
	case TPROF_STACK_SAME:
		return true;
	case TPROF_STACK_INDEX:
		cursor->stack = cursor->stacks[*(*at)++];
		return true;
	case TPROF_STACK_DELTA:
		cursor->delta += (uint32_t)tpa_svarint(at);
		cursor->stack = cursor->delta;
		cursor->stacks[tprof_stack_slot(cursor->stack)] = cursor->stack;
		return true;
	default:
		return false;
	}
}

__attribute__((always_inline)) static inline bool read_alloc(struct tpa_cursor *cursor, struct tpa_event *event,
							     const uint8_t **at, uint8_t tag)
{
	event->kind = TPA_EVENT_ALLOC;
	cursor->time += tpa_uvarint_short(at);
	event->alloc.address = read_address(cursor, at, tag);
	event->alloc.bytes = tpa_uvarint_short(at);
	event->alloc.usable = tag & TPROF_ALLOC_USABLE ? event->alloc.bytes + tpa_uvarint(at)
						       : tprof_usable_guess(event->alloc.bytes);
	event->alloc.fn = TPROF_FN_MALLOC;
	event->alloc.alignment_log2 = 0;
	if (tag & TPROF_ALLOC_FN) {
		event->alloc.fn = *(*at)++;
		event->alloc.alignment_log2 = *(*at)++;
	}
	event->alloc.mean = TPA_MEAN_UNSAID;
	if (tag & TPROF_ALLOC_MEAN) {
		event->alloc.mean = *(*at)++;
		if (event->alloc.mean > TPA_MEAN_MOST)
			return false;
	}
	if (!read_stack(cursor, at, tag))
		return false;
	event->node = cursor->stack;
	return true;
}

__attribute__((always_inline)) static inline bool read_free(struct tpa_cursor *cursor, struct tpa_event *event,
							    const uint8_t **at, uint8_t tag)
{
	event->kind = TPA_EVENT_FREE;
	cursor->time += tpa_uvarint_short(at);
	event->free.address = read_address(cursor, at, tag);
	event->free.fn = tag & TPROF_FREE_FN ? *(*at)++ : TPROF_FN_FREE;
	event->cancelled = tpa_fn_reallocates(event->free.fn) && tpa_cursor_cancels(cursor, *at);
	return !(tag & 0xf0);
}

/* Refuses what this reader does not know: reserved bits that are set, and a begin that is unwound. */
static bool read_op(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at, uint8_t tag)
{
	cursor->time += tpa_uvarint_short(at);
	if (tag & TPROF_OP_END) {
		event->kind = TPA_EVENT_OP_END;
		event->op_end.unwound = tag & TPROF_OP_UNWOUND;
		event->op_end.kept = tag & TPROF_OP_OUTER ? tpa_uvarint_short(at) : 0;
		return !(tag & 0xe0);
	}
	event->kind = TPA_EVENT_OP_BEGIN;
	event->op_begin.op = tpa_uvarint_short(at);
	return !(tag & 0xf8);
}

/* Steps over a record that is larger than the window, which no known type is. */
static void skip(struct tpa_cursor *cursor, uint64_t length)
{
	uint64_t here = (uint64_t)(cursor->end - cursor->at);

	if (length <= here) {
		cursor->at += length;
		return;
	}
	cursor->window_offset += (uint64_t)(cursor->end - cursor->window) + (length - here);
	cursor->ahead -= length - here;
	cursor->at = cursor->end = cursor->window;
}

/* A record with a length. True: it is an event; false: skipped, or the chunk ended. */
static bool read_long(struct tpa_cursor *cursor, struct tpa_event *event)
{
	const uint8_t *record = cursor->at, *body = record + 1, *at;
	unsigned type = *record >> 2;
	uint64_t length = tpa_uvarint(&body), size;

	if (!type)
		return give_up(cursor, record, "zeros where a record should begin");
	if (!tpa_read_ok(record, body, cursor->end))
		return give_up(cursor, record, cut_record);
	size = (uint64_t)(body - record);
	if (length > tpa_cursor_left(cursor) - size)
		return give_up(cursor, record, cut_record);
	if (size + length > TPA_WINDOW) {
		skip(cursor, size + length);
		return false;
	}
	/* One byte more than the record: the next tag tells whether a CANCEL follows. */
	if (length + 1 > (uint64_t)(cursor->end - body) && cursor->ahead) {
		refill(cursor);
		record = cursor->at;
		body = record + size;
		if (length > (uint64_t)(cursor->end - body))
			return give_up(cursor, record, cut_record);
	}
	event->offset = cursor->window_offset + (uint64_t)(record - cursor->window);
	cursor->at = at = body;
	if (!tpa_cursor_fields(cursor, event, type, &at, body + length)) {
		cursor->at = body + length;
		return false;
	}
	if (!tpa_read_ok(body, at, body + length))
		return give_up(cursor, record, bad_record);
	cursor->at = body + length;
	return true;
}

/* Sets the decoded event's time and place. */
static inline bool finish(struct tpa_cursor *cursor, struct tpa_event *event, uint64_t before)
{
	if (__builtin_expect(cursor->time < before || cursor->time > cursor->time_max, 0))
		return give_up(cursor, cursor->window + (event->offset - cursor->window_offset),
			       "a time is out of range");
	event->time = cursor->time;
	event->thread = cursor->thread;
	event->tid = cursor->tid;
	cursor->key = cursor->time << 2 | (event->kind > TPA_EVENT_UNMAP);
	if (__builtin_expect(cursor->first, 0)) {
		cursor->key = cursor->time << 2 | 2;
		cursor->first = event->kind == TPA_EVENT_THREAD;
	}
	return true;
}

__attribute__((always_inline)) static inline bool next_event(struct tpa_cursor *cursor, struct tpa_event *event)
{
	uint64_t before = cursor->time;

	for (;;) {
		const uint8_t *record, *at;
		uint8_t tag;
		bool good;

		if (cursor->end - cursor->at < TPA_PADDING && cursor->ahead)
			refill(cursor);
		if (cursor->at >= cursor->end)
			return false;
		record = cursor->at;
		tag = *record;
		at = record + 1;
		event->cancelled = false;
		if ((tag & 3) == TPROF_CLASS_ALLOC) {
			good = read_alloc(cursor, event, &at, tag);
		} else if ((tag & 3) == TPROF_CLASS_FREE) {
			good = read_free(cursor, event, &at, tag);
		} else if ((tag & 3) == TPROF_CLASS_LONG) {
			if (read_long(cursor, event))
				return finish(cursor, event, before);
			continue;
		} else {
			good = read_op(cursor, event, &at, tag);
		}
		if (__builtin_expect(!good, 0))
			return give_up(cursor, record, bad_record);
		if (__builtin_expect(!tpa_read_ok(record, at, cursor->end), 0))
			return give_up(cursor, record, cut_record);
		event->offset = cursor->window_offset + (uint64_t)(record - cursor->window);
		cursor->at = at;
		return finish(cursor, event, before);
	}
}

enum tpa_stop tpa_cursor_fill(struct tpa_cursor *cursor, struct tpa_event *events, size_t *count, size_t max,
			      uint64_t horizon)
{
	struct tpa_event *event = events + *count, *end = events + max;
	enum tpa_stop stop = TPA_STOP_FULL;

	for (; event < end; event++) {
		if (__builtin_expect(!next_event(cursor, event), 0)) {
			stop = TPA_STOP_END;
			break;
		}
		if (cursor->key >= horizon) {
			stop = TPA_STOP_TURN;
			break;
		}
		if (__builtin_expect(tpa_event_has_payload(event->kind), 0)) {
			event++;
			break;
		}
	}
	cursor->decoded += (uint64_t)(event - events) - *count + (stop == TPA_STOP_TURN);
	*count = (size_t)(event - events);
	return stop;
}
