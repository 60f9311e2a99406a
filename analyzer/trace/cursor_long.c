/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes records with a length. */
#include "trace/cursor_impl.h"

static void read_thread(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at)
{
	uint64_t time = tpa_uvarint(at) >> cursor->impl->header.tick_shift, thread = tpa_uvarint(at);

	event->kind = TPA_EVENT_THREAD;
	/* time never goes back: the chunk's earlier owner had stopped before */
	cursor->time = time > cursor->time ? time : cursor->time;
	cursor->thread = tpa_cursor_thread(cursor, thread, event->offset);
	cursor->tid = (uint32_t)tpa_uvarint(at);
	tpa_cursor_reset(cursor);
}

/* Reads the time, and nothing else. */
static void read_plain(struct tpa_cursor *cursor, struct tpa_event *event, enum tpa_event_kind kind, const uint8_t **at)
{
	event->kind = (uint8_t)kind;
	cursor->time += tpa_uvarint(at);
}

/* The page number times 4096, at most the last page of the address space. */
static uint64_t read_pages(const uint8_t **at)
{
	uint64_t pages = tpa_uvarint(at);

	return pages > UINT64_MAX >> 12 ? UINT64_MAX << 12 : pages << 12;
}

static void read_map(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at)
{
	uint64_t flags;

	event->kind = TPA_EVENT_MAP;
	cursor->time += tpa_uvarint(at);
	event->map.address = read_pages(at);
	event->map.length = tpa_uvarint(at);
	event->map.prot = tpa_uvarint(at);
	flags = tpa_uvarint(at);
	event->map.flags = (uint32_t)flags;
	event->map.remap = flags & TPROF_MAP_REMAP;
	event->node = (uint32_t)tpa_uvarint(at);
}

static void read_unmap(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at, const uint8_t *end)
{
	event->kind = TPA_EVENT_UNMAP;
	cursor->time += tpa_uvarint(at);
	event->unmap.address = read_pages(at);
	event->unmap.length = tpa_uvarint(at);
	event->unmap.remap = tpa_uvarint(at) & 1;
	event->cancelled = tpa_cursor_cancels(cursor, end);
}

/* Bytes that are left of the record; 0 if its fields exceeded it, which the caller reports. */
static size_t rest(const struct tpa_cursor *cursor, const uint8_t *at, const uint8_t *end)
{
	return tpa_read_ok(cursor->window, at, end) ? (size_t)(end - at) : 0;
}

static struct tpa_event_text read_text(const struct tpa_cursor *cursor, const uint8_t *at, const uint8_t *end)
{
	return (struct tpa_event_text){ (const char *)at, (uint32_t)rest(cursor, at, end) };
}

static void read_memory(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at, const uint8_t *end)
{
	event->kind = TPA_EVENT_MEMORY;
	cursor->time += tpa_uvarint(at);
	event->memory.rss = read_pages(at);
	event->memory.vms = read_pages(at);
	event->memory.parts = &cursor->payload.memory;
	tpa_memory_parts_read(&cursor->payload.memory, *at, rest(cursor, *at, end));
}

static void read_detail(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at, const uint8_t *end)
{
	event->kind = TPA_EVENT_DETAIL;
	cursor->time += tpa_uvarint(at);
	event->detail.flop = tpa_uvarint(at);
	event->detail.bytes = tpa_uvarint(at);
	event->detail.shape = read_text(cursor, *at, end);
}

static void read_fold(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at, const uint8_t *end)
{
	event->kind = TPA_EVENT_FOLD;
	cursor->time += tpa_uvarint(at);
	event->fold.op = tpa_uvarint(at);
	event->fold.calls =
		tpa_fold_read(&cursor->payload.folded, *at, rest(cursor, *at, end)) ? &cursor->payload.folded : NULL;
}

static void read_counters(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at, const uint8_t *end)
{
	uint64_t idle_ns;

	event->kind = TPA_EVENT_COUNTERS;
	cursor->time += tpa_uvarint(at);
	idle_ns = tpa_uvarint(at);
	event->counters = &cursor->payload.counters;
	tpa_counters_read(&cursor->payload.counters, idle_ns, *at, rest(cursor, *at, end));
}

/* MEAN, where the record may end with it. One that is out of range moves the reader out of the record, which the caller reports. */
static uint8_t read_mean(const struct tpa_cursor *cursor, const uint8_t **at, const uint8_t *end)
{
	uint8_t mean = TPA_MEAN_UNSAID;

	if (!rest(cursor, *at, end))
		return mean;
	mean = *(*at)++;
	if (mean > TPA_MEAN_MOST)
		*at = end + 1;
	return mean;
}

static void read_long_alloc(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at, const uint8_t *end)
{
	event->kind = TPA_EVENT_ALLOC;
	cursor->time += tpa_uvarint(at);
	event->alloc.address = tpa_uvarint(at);
	event->alloc.bytes = tpa_uvarint(at);
	event->alloc.usable = tpa_uvarint(at);
	event->alloc.fn = *(*at)++;
	event->alloc.alignment_log2 = *(*at)++;
	event->node = (uint32_t)tpa_uvarint(at);
	event->alloc.mean = read_mean(cursor, at, end);
}

static void read_long_free(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at, const uint8_t *end)
{
	event->kind = TPA_EVENT_FREE;
	cursor->time += tpa_uvarint(at);
	event->free.address = tpa_uvarint(at);
	event->free.fn = *(*at)++;
	event->cancelled = tpa_fn_reallocates(event->free.fn) && tpa_cursor_cancels(cursor, end);
}

static void read_pool_alloc(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at, const uint8_t *end)
{
	event->kind = TPA_EVENT_POOL_ALLOC;
	cursor->time += tpa_uvarint(at);
	event->pool_alloc.address = tpa_uvarint(at);
	event->pool_alloc.bytes = tpa_uvarint(at);
	event->pool_alloc.pool = tpa_uvarint(at);
	event->node = (uint32_t)tpa_uvarint(at);
	event->pool_alloc.mean = read_mean(cursor, at, end);
}

static void read_pool_free(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at)
{
	read_plain(cursor, event, TPA_EVENT_POOL_FREE, at);
	event->pool_free.address = tpa_uvarint(at);
	event->pool_free.whole = *(*at)++ & 1;
}

static void read_sample(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at)
{
	read_plain(cursor, event, TPA_EVENT_SAMPLE, at);
	event->node = (uint32_t)tpa_uvarint(at);
	event->sample.periods = tpa_uvarint(at);
}

/* Both bytes must be there. */
static void read_level(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at, const uint8_t *end)
{
	read_plain(cursor, event, TPA_EVENT_LEVEL, at);
	event->level.mean = *(*at)++;
	event->level.ops = *(*at)++ & 1;
	if (event->level.mean > TPA_MEAN_MOST)
		*at = end + 1;
}

static void read_work(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at, const uint8_t *end)
{
	bool good;

	read_plain(cursor, event, TPA_EVENT_WORK, at);
	good = tpa_work_read(&cursor->payload.work, *at, rest(cursor, *at, end));
	event->work = good ? &cursor->payload.work : NULL;
}

static void read_usage(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at, const uint8_t *end)
{
	bool good;

	read_plain(cursor, event, TPA_EVENT_USAGE, at);
	good = tpa_usage_read(&cursor->payload.usage, *at, rest(cursor, *at, end));
	event->usage = good ? &cursor->payload.usage : NULL;
}

static void read_allocator(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at, const uint8_t *end)
{
	bool good;

	read_plain(cursor, event, TPA_EVENT_ALLOCATOR, at);
	good = tpa_allocator_read(&cursor->payload.allocator, *at, rest(cursor, *at, end));
	event->allocator = good ? &cursor->payload.allocator : NULL;
}

static void read_region(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at, const uint8_t *end)
{
	bool good;

	read_plain(cursor, event, TPA_EVENT_REGION, at);
	good = tpa_region_read(&cursor->payload.region, *at, rest(cursor, *at, end));
	event->region = good ? &cursor->payload.region : NULL;
}

/* Its stack is the event's, so that it is treated as those of other events. */
static void read_comm(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at, const uint8_t *end)
{
	bool good;

	read_plain(cursor, event, TPA_EVENT_COMM, at);
	good = tpa_comm_read(&cursor->payload.comm, *at, rest(cursor, *at, end));
	event->comm = good ? &cursor->payload.comm : NULL;
	event->node = good ? cursor->payload.comm.node : TPROF_NODE_NONE;
}

static void read_comm_done(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at, const uint8_t *end)
{
	bool good;

	read_plain(cursor, event, TPA_EVENT_COMM_DONE, at);
	good = tpa_comm_done_read(&cursor->payload.comm_done, *at, rest(cursor, *at, end));
	event->comm_done = good ? &cursor->payload.comm_done : NULL;
}

static void read_waited(struct tpa_cursor *cursor, struct tpa_event *event, const uint8_t **at)
{
	read_plain(cursor, event, TPA_EVENT_WAITED, at);
	event->waited.op = tpa_uvarint(at);
	event->waited.ticks = tpa_uvarint(at) << cursor->impl->header.tick_shift;
	event->node = (uint32_t)tpa_uvarint(at);
}

static bool read_between_ranks(struct tpa_cursor *cursor, struct tpa_event *event, unsigned type, const uint8_t **at,
			       const uint8_t *end)
{
	switch (type) {
	case TPROF_EVENT_COMM:
		read_comm(cursor, event, at, end);
		return true;
	case TPROF_EVENT_COMM_DONE:
		read_comm_done(cursor, event, at, end);
		return true;
	case TPROF_EVENT_WAITED:
		read_waited(cursor, event, at);
		return true;
	default:
		if (*at < end)
			cursor->time += tpa_uvarint(at); /* later records count from it */
		return false;
	}
}

bool tpa_cursor_fields(struct tpa_cursor *cursor, struct tpa_event *event, unsigned type, const uint8_t **at,
		       const uint8_t *end)
{
	switch (type) {
	case TPROF_EVENT_THREAD:
		read_thread(cursor, event, at);
		return true;
	case TPROF_EVENT_CANCEL:
		read_plain(cursor, event, TPA_EVENT_CANCEL, at);
		return true;
	case TPROF_EVENT_MAP:
		read_map(cursor, event, at);
		return true;
	case TPROF_EVENT_UNMAP:
		read_unmap(cursor, event, at, end);
		return true;
	case TPROF_EVENT_MEMORY:
		read_memory(cursor, event, at, end);
		return true;
	case TPROF_EVENT_NAME:
		read_plain(cursor, event, TPA_EVENT_NAME, at);
		event->name = read_text(cursor, *at, end);
		return true;
	case TPROF_EVENT_ALLOC:
		read_long_alloc(cursor, event, at, end);
		return true;
	case TPROF_EVENT_FREE:
		read_long_free(cursor, event, at, end);
		return true;
	case TPROF_EVENT_SAMPLE:
		read_sample(cursor, event, at);
		return true;
	case TPROF_EVENT_SHAPE:
		read_plain(cursor, event, TPA_EVENT_SHAPE, at);
		event->shape.op = tpa_uvarint(at);
		return true;
	case TPROF_EVENT_DETAIL:
		read_detail(cursor, event, at, end);
		return true;
	case TPROF_EVENT_STEP:
		read_plain(cursor, event, TPA_EVENT_STEP, at);
		event->step.items = tpa_uvarint(at);
		return true;
	case TPROF_EVENT_MARK:
		read_plain(cursor, event, TPA_EVENT_MARK, at);
		event->mark = read_text(cursor, *at, end);
		return true;
	case TPROF_EVENT_WORK:
		read_work(cursor, event, at, end);
		return true;
	case TPROF_EVENT_FOLD:
		read_fold(cursor, event, at, end);
		return true;
	case TPROF_EVENT_PAUSE:
		read_plain(cursor, event, TPA_EVENT_PAUSE, at);
		return true;
	case TPROF_EVENT_RESUME:
		read_plain(cursor, event, TPA_EVENT_RESUME, at);
		return true;
	case TPROF_EVENT_COUNTERS:
		read_counters(cursor, event, at, end);
		return true;
	case TPROF_EVENT_USAGE:
		read_usage(cursor, event, at, end);
		return true;
	case TPROF_EVENT_ALLOCATOR:
		read_allocator(cursor, event, at, end);
		return true;
	case TPROF_EVENT_REGION:
		read_region(cursor, event, at, end);
		return true;
	case TPROF_EVENT_POOL_ALLOC:
		read_pool_alloc(cursor, event, at, end);
		return true;
	case TPROF_EVENT_LEVEL:
		read_level(cursor, event, at, end);
		return true;
	case TPROF_EVENT_POOL_FREE:
		read_pool_free(cursor, event, at);
		return true;
	default:
		return read_between_ranks(cursor, event, type, at, end);
	}
}
