/* SPDX-License-Identifier: Apache-2.0 */
/* Records with a length: what each type has in it. */
#include "trace/cursor_impl.h"

static void read_thread(struct tp_cursor *cursor, struct tp_event *event, const uint8_t **at)
{
	uint64_t time = tp_uvarint(at) >> cursor->impl->header.tick_shift, thread = tp_uvarint(at);

	event->kind = TP_EVENT_THREAD;
	/* Never back: the chunk's first owner had stopped before. */
	cursor->time = time > cursor->time ? time : cursor->time;
	cursor->thread = tp_cursor_thread(cursor, thread, event->offset);
	cursor->tid = (uint32_t)tp_uvarint(at);
	tp_cursor_reset(cursor);
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
	event->cancelled = tp_cursor_cancels(cursor, end);
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
	event->cancelled = tp_fn_reallocates(event->fn) && tp_cursor_cancels(cursor, end);
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

bool tp_cursor_fields(struct tp_cursor *cursor, struct tp_event *event, unsigned type, const uint8_t **at,
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
	case TPROF_EVENT_SHAPE:
		event->kind = TP_EVENT_SHAPE;
		cursor->time += tp_uvarint(at);
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
	case TPROF_EVENT_REGION:
		read_name(cursor, event, TP_EVENT_REGION, at, end);
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
