/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/cursor.h"

static const char bad_record[] = "a record is malformed";
static const char cut_record[] = "a record does not fit its chunk";

/* Gives up the rest of the chunk from `record` on. */
static bool give_up(struct tp_cursor *cursor, const uint8_t *record, const char *reason)
{
	uint64_t lost = cursor->ahead + (uint64_t)(cursor->end - record);

	tp_damage_add(&cursor->impl->trace, cursor->window_offset + (uint64_t)(record - cursor->window), lost, reason);
	cursor->at = cursor->end;
	cursor->ahead = 0;
	return false;
}

/* Moves the window on, so that it begins at the next record. */
static void refill(struct tp_cursor *cursor)
{
	size_t keep = (size_t)(cursor->end - cursor->at), want = TP_WINDOW - keep, got;

	if (want > cursor->ahead)
		want = cursor->ahead;
	cursor->window_offset += (uint64_t)(cursor->at - cursor->window);
	memmove(cursor->window, cursor->at, keep);
	got = tp_read_at(cursor->impl->fd, cursor->window + keep, want, cursor->window_offset + keep);
	cursor->ahead -= got;
	if (got < want) {
		tp_damage_add(&cursor->impl->trace, cursor->window_offset + keep + got, cursor->ahead, "can't be read");
		cursor->ahead = 0;
	}
	cursor->at = cursor->window;
	cursor->end = cursor->window + keep + got;
	memset(cursor->window + keep + got, 0, TP_PADDING);
}

static void reset_coding(struct tp_cursor *cursor)
{
	cursor->address = 0;
	cursor->stack = cursor->delta = 0;
	cursor->first = true;
	memset(cursor->addresses, 0, sizeof(cursor->addresses));
	memset(cursor->stacks, 0, sizeof(cursor->stacks));
}

/* Thread numbers are indices of whoever counts by thread. */
static uint32_t checked_thread(struct tp_cursor *cursor, uint64_t thread, uint64_t offset)
{
	if (thread < cursor->impl->thread_limit)
		return (uint32_t)thread;
	tp_damage_add(&cursor->impl->trace, offset, 0, "a thread number is out of range; the thread is shown as 0");
	return 0;
}

void tp_cursor_open(struct tp_cursor *cursor, struct tp_trace_impl *impl, const struct tp_chunk *chunk)
{
	cursor->impl = impl;
	cursor->chunk = chunk;
	cursor->thread = checked_thread(cursor, chunk->thread, chunk->offset);
	cursor->tid = chunk->tid;
	cursor->time = chunk->begin >> impl->header.tick_shift;
	/* Two bits are left for the key; and as ticks it must fit too. */
	cursor->time_max = UINT64_MAX >> (impl->header.tick_shift > 2 ? impl->header.tick_shift : 2);
	cursor->window_offset = chunk->offset + sizeof(struct tprof_chunk);
	cursor->ahead = chunk->committed;
	cursor->at = cursor->end = cursor->window;
	cursor->key = 0;
	reset_coding(cursor);
}

/* An index of one byte, or a difference to the last address; in units of 8 bytes. */
__attribute__((always_inline)) static inline uint64_t read_address(struct tp_cursor *cursor, const uint8_t **at,
								   uint8_t tag)
{
	uint64_t address;

	if (tag & TPROF_TAG_ADDRESS_INDEX)
		return cursor->addresses[*(*at)++] << 3;
	address = cursor->address + tp_svarint(at);
	cursor->address = address;
	cursor->addresses[tprof_address_slot(address)] = address;
	return address << 3;
}

__attribute__((always_inline)) static inline bool read_stack(struct tp_cursor *cursor, const uint8_t **at, uint8_t tag)
{
	switch (tag >> TPROF_ALLOC_STACK_SHIFT & 3) {
	case TPROF_STACK_SAME:
		return true;
	case TPROF_STACK_INDEX:
		cursor->stack = cursor->stacks[*(*at)++];
		return true;
	case TPROF_STACK_DELTA:
		cursor->delta += (uint32_t)tp_svarint(at);
		cursor->stack = cursor->delta;
		cursor->stacks[tprof_stack_slot(cursor->stack)] = cursor->stack;
		return true;
	default:
		return false;
	}
}

__attribute__((always_inline)) static inline bool read_alloc(struct tp_cursor *cursor, struct tp_event *event,
							     const uint8_t **at, uint8_t tag)
{
	event->kind = TP_EVENT_ALLOC;
	cursor->time += tp_uvarint_short(at);
	event->address = read_address(cursor, at, tag);
	event->size = tp_uvarint_short(at);
	event->usable = tag & TPROF_ALLOC_USABLE ? event->size + tp_uvarint(at) : tprof_usable_guess(event->size);
	event->fn = TPROF_FN_MALLOC;
	event->alignment_log2 = 0;
	if (tag & TPROF_ALLOC_FN) {
		event->fn = *(*at)++;
		event->alignment_log2 = *(*at)++;
	}
	if (!read_stack(cursor, at, tag))
		return false;
	event->node = cursor->stack;
	return !(tag & 0x80);
}

static inline bool is_cancel(const struct tp_cursor *cursor, const uint8_t *at)
{
	return at < cursor->end && *at == TPROF_EVENT_CANCEL << 2;
}

__attribute__((always_inline)) static inline bool read_free(struct tp_cursor *cursor, struct tp_event *event,
							    const uint8_t **at, uint8_t tag)
{
	event->kind = TP_EVENT_FREE;
	cursor->time += tp_uvarint_short(at);
	event->address = read_address(cursor, at, tag);
	event->fn = tag & TPROF_FREE_FN ? *(*at)++ : TPROF_FN_FREE;
	event->cancelled = tp_fn_reallocates(event->fn) && is_cancel(cursor, *at);
	return !(tag & 0xf0);
}

/* A reader must know what it does not understand: the reserved bits are 0, and a begin is not unwound. */
static bool read_op(struct tp_cursor *cursor, struct tp_event *event, const uint8_t **at, uint8_t tag)
{
	cursor->time += tp_uvarint_short(at);
	event->unwound = tag & TPROF_OP_UNWOUND;
	if (tag & TPROF_OP_END) {
		event->kind = TP_EVENT_OP_END;
		return !(tag & 0xf0);
	}
	event->kind = TP_EVENT_OP_BEGIN;
	event->size = tp_uvarint_short(at);
	return !(tag & 0xf8);
}

static void read_thread(struct tp_cursor *cursor, struct tp_event *event, const uint8_t **at)
{
	uint64_t time = tp_uvarint(at) >> cursor->impl->header.tick_shift, thread = tp_uvarint(at);

	event->kind = TP_EVENT_THREAD;
	/* Never back: the chunk's first owner had stopped before. */
	cursor->time = time > cursor->time ? time : cursor->time;
	cursor->thread = checked_thread(cursor, thread, event->offset);
	cursor->tid = (uint32_t)tp_uvarint(at);
	reset_coding(cursor);
}

/* Its time is all that it says. */
static void read_plain(struct tp_cursor *cursor, struct tp_event *event, enum tp_event_kind kind, const uint8_t **at)
{
	event->kind = (uint8_t)kind;
	cursor->time += tp_uvarint(at);
}

/* The page number times 4096; what does not fit 64 bits is no address. */
static uint64_t read_pages(const uint8_t **at)
{
	uint64_t pages = tp_uvarint(at);

	return pages > UINT64_MAX >> 12 ? UINT64_MAX << 12 : pages << 12;
}

static void read_map(struct tp_cursor *cursor, struct tp_event *event, const uint8_t **at)
{
	event->kind = TP_EVENT_MAP;
	cursor->time += tp_uvarint(at);
	event->address = read_pages(at);
	event->size = tp_uvarint(at);
	event->prot = tp_uvarint(at);
	event->usable = tp_uvarint(at);
	event->remap = event->usable & TPROF_MAP_REMAP;
	event->node = (uint32_t)tp_uvarint(at);
}

static void read_unmap(struct tp_cursor *cursor, struct tp_event *event, const uint8_t **at, const uint8_t *end)
{
	event->kind = TP_EVENT_UNMAP;
	cursor->time += tp_uvarint(at);
	event->address = read_pages(at);
	event->size = tp_uvarint(at);
	event->remap = tp_uvarint(at) & 1;
	event->cancelled = is_cancel(cursor, end);
}

/* What is left of the record is text. */
static void read_text(struct tp_cursor *cursor, struct tp_event *event, const uint8_t **at, const uint8_t *end)
{
	if (tp_read_ok(cursor->window, *at, end)) {
		event->name = (const char *)*at;
		event->name_length = (uint32_t)(end - *at);
	}
}

static void read_name(struct tp_cursor *cursor, struct tp_event *event, enum tp_event_kind kind, const uint8_t **at,
		      const uint8_t *end)
{
	event->kind = (uint8_t)kind;
	cursor->time += tp_uvarint(at);
	read_text(cursor, event, at, end);
}

static void read_detail(struct tp_cursor *cursor, struct tp_event *event, const uint8_t **at, const uint8_t *end)
{
	event->kind = TP_EVENT_DETAIL;
	cursor->time += tp_uvarint(at);
	event->size = tp_uvarint(at);
	event->usable = tp_uvarint(at);
	read_text(cursor, event, at, end);
}

static void read_fold(struct tp_cursor *cursor, struct tp_event *event, const uint8_t **at, const uint8_t *end)
{
	event->kind = TP_EVENT_FOLD;
	cursor->time += tp_uvarint(at);
	event->size = tp_uvarint(at);
	read_text(cursor, event, at, end);
}

static void read_long_alloc(struct tp_cursor *cursor, struct tp_event *event, const uint8_t **at)
{
	event->kind = TP_EVENT_ALLOC;
	cursor->time += tp_uvarint(at);
	event->address = tp_uvarint(at);
	event->size = tp_uvarint(at);
	event->usable = tp_uvarint(at);
	event->fn = *(*at)++;
	event->alignment_log2 = *(*at)++;
	event->node = (uint32_t)tp_uvarint(at);
}

static void read_long_free(struct tp_cursor *cursor, struct tp_event *event, const uint8_t **at, const uint8_t *end)
{
	event->kind = TP_EVENT_FREE;
	cursor->time += tp_uvarint(at);
	event->address = tp_uvarint(at);
	event->fn = *(*at)++;
	event->cancelled = tp_fn_reallocates(event->fn) && is_cancel(cursor, end);
}

static void read_pool_alloc(struct tp_cursor *cursor, struct tp_event *event, const uint8_t **at)
{
	event->kind = TP_EVENT_POOL_ALLOC;
	cursor->time += tp_uvarint(at);
	event->address = tp_uvarint(at);
	event->size = tp_uvarint(at);
	event->usable = tp_uvarint(at);
	event->node = (uint32_t)tp_uvarint(at);
}

/* The fields of a record that ends at `end`. False: its type is unknown. */
static bool read_fields(struct tp_cursor *cursor, struct tp_event *event, unsigned type, const uint8_t **at,
			const uint8_t *end)
{
	switch (type) {
	case TPROF_EVENT_THREAD:
		read_thread(cursor, event, at);
		return true;
	case TPROF_EVENT_CANCEL:
		read_plain(cursor, event, TP_EVENT_CANCEL, at);
		return true;
	case TPROF_EVENT_MAP:
		read_map(cursor, event, at);
		return true;
	case TPROF_EVENT_UNMAP:
		read_unmap(cursor, event, at, end);
		return true;
	case TPROF_EVENT_MEMORY:
		event->kind = TP_EVENT_MEMORY;
		cursor->time += tp_uvarint(at);
		event->size = read_pages(at);
		event->usable = read_pages(at);
		read_text(cursor, event, at, end);
		return true;
	case TPROF_EVENT_NAME:
		read_name(cursor, event, TP_EVENT_NAME, at, end);
		return true;
	case TPROF_EVENT_ALLOC:
		read_long_alloc(cursor, event, at);
		return true;
	case TPROF_EVENT_FREE:
		read_long_free(cursor, event, at, end);
		return true;
	case TPROF_EVENT_SAMPLE:
		event->kind = TP_EVENT_SAMPLE;
		cursor->time += tp_uvarint(at);
		event->node = (uint32_t)tp_uvarint(at);
		event->size = tp_uvarint(at);
		return true;
	case TPROF_EVENT_DETAIL:
		read_detail(cursor, event, at, end);
		return true;
	case TPROF_EVENT_STEP:
		event->kind = TP_EVENT_STEP;
		cursor->time += tp_uvarint(at);
		event->size = tp_uvarint(at);
		return true;
	case TPROF_EVENT_MARK:
		read_name(cursor, event, TP_EVENT_MARK, at, end);
		return true;
	case TPROF_EVENT_WORK:
		read_name(cursor, event, TP_EVENT_WORK, at, end);
		return true;
	case TPROF_EVENT_FOLD:
		read_fold(cursor, event, at, end);
		return true;
	case TPROF_EVENT_PAUSE:
		read_plain(cursor, event, TP_EVENT_PAUSE, at);
		return true;
	case TPROF_EVENT_RESUME:
		read_plain(cursor, event, TP_EVENT_RESUME, at);
		return true;
	case TPROF_EVENT_COUNTERS:
		event->kind = TP_EVENT_COUNTERS;
		cursor->time += tp_uvarint(at);
		event->size = tp_uvarint(at);
		read_text(cursor, event, at, end);
		return true;
	case TPROF_EVENT_USAGE:
		read_name(cursor, event, TP_EVENT_USAGE, at, end);
		return true;
	case TPROF_EVENT_ALLOCATOR:
		read_name(cursor, event, TP_EVENT_ALLOCATOR, at, end);
		return true;
	case TPROF_EVENT_POOL_ALLOC:
		read_pool_alloc(cursor, event, at);
		return true;
	case TPROF_EVENT_POOL_FREE:
		event->kind = TP_EVENT_POOL_FREE;
		cursor->time += tp_uvarint(at);
		event->address = tp_uvarint(at);
		event->size = *(*at)++ & 1;
		return true;
	default:
		if (*at < end)
			cursor->time += tp_uvarint(at); /* later records count from it */
		return false;
	}
}

/* Steps over a record that is larger than the window; nothing that is known is. */
static void skip(struct tp_cursor *cursor, uint64_t length)
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
static bool read_long(struct tp_cursor *cursor, struct tp_event *event)
{
	const uint8_t *record = cursor->at, *body = record + 1, *at;
	unsigned type = *record >> 2;
	uint64_t length = tp_uvarint(&body), size;

	if (!type)
		return give_up(cursor, record, "zeros where a record should begin");
	if (!tp_read_ok(record, body, cursor->end))
		return give_up(cursor, record, cut_record);
	size = (uint64_t)(body - record);
	if (length > tp_cursor_left(cursor) - size)
		return give_up(cursor, record, cut_record);
	if (size + length > TP_WINDOW) {
		skip(cursor, size + length);
		return false;
	}
	/* One byte more than the record: whether a CANCEL follows is asked of the next tag. */
	if (length + 1 > (uint64_t)(cursor->end - body) && cursor->ahead) {
		refill(cursor);
		record = cursor->at;
		body = record + size;
		if (length > (uint64_t)(cursor->end - body))
			return give_up(cursor, record, cut_record);
	}
	event->offset = cursor->window_offset + (uint64_t)(record - cursor->window);
	cursor->at = at = body;
	if (!read_fields(cursor, event, type, &at, body + length)) {
		cursor->at = body + length;
		return false;
	}
	if (!tp_read_ok(body, at, body + length))
		return give_up(cursor, record, bad_record);
	cursor->at = body + length;
	return true;
}

/* The decoded event's time and place. */
static inline bool finish(struct tp_cursor *cursor, struct tp_event *event, uint64_t before)
{
	if (__builtin_expect(cursor->time < before || cursor->time > cursor->time_max, 0))
		return give_up(cursor, cursor->window + (event->offset - cursor->window_offset),
			       "a time is out of range");
	event->time = cursor->time;
	event->thread = cursor->thread;
	event->tid = cursor->tid;
	cursor->key = cursor->time << 2 | (event->kind > TP_EVENT_UNMAP);
	if (__builtin_expect(cursor->first, 0)) {
		cursor->key = cursor->time << 2 | 2;
		cursor->first = event->kind == TP_EVENT_THREAD;
	}
	return true;
}

__attribute__((always_inline)) static inline bool next_event(struct tp_cursor *cursor, struct tp_event *event)
{
	uint64_t before = cursor->time;

	for (;;) {
		const uint8_t *record, *at;
		uint8_t tag;
		bool good;

		if (cursor->end - cursor->at < TP_PADDING && cursor->ahead)
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
		if (__builtin_expect(!tp_read_ok(record, at, cursor->end), 0))
			return give_up(cursor, record, cut_record);
		event->offset = cursor->window_offset + (uint64_t)(record - cursor->window);
		cursor->at = at;
		return finish(cursor, event, before);
	}
}

enum tp_stop tp_cursor_fill(struct tp_cursor *cursor, struct tp_event *events, size_t *count, size_t max,
			    uint64_t horizon)
{
	struct tp_event *event = events + *count, *end = events + max;
	enum tp_stop stop = TP_STOP_FULL;

	for (; event < end; event++) {
		if (__builtin_expect(!next_event(cursor, event), 0)) {
			stop = TP_STOP_END;
			break;
		}
		if (cursor->key >= horizon) {
			stop = TP_STOP_TURN;
			break;
		}
		if (__builtin_expect(tp_event_has_text(event->kind), 0)) {
			event++;
			break;
		}
	}
	*count = (size_t)(event - events);
	return stop;
}
