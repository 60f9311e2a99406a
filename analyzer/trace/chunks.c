/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the chunks of a file and how much of each is valid. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "trace/impl.h"

/* Bytes of records that may be read: the committed ones, unless the chunk or the file is shorter. */
static uint64_t readable(struct tpa_trace_impl *impl, uint64_t offset, const struct tprof_chunk *chunk)
{
	uint64_t committed = chunk->committed, room = impl->chunk_size - sizeof(*chunk);
	uint64_t left = impl->trace.file_bytes - offset - sizeof(*chunk);

	if (committed > room) {
		tpa_damage_add(&impl->trace, offset, 0, "a chunk says that it holds more than a chunk can");
		committed = room;
	}
	if (committed > left) {
		tpa_damage_add(&impl->trace, impl->trace.file_bytes, committed - left, "the file ends inside a chunk");
		committed = left;
	}
	return committed;
}

/* Offsets of chunks that were handed out, but had not begun when they were read. */
struct places {
	uint64_t *list;
	size_t count, room;
};

static void note_place(struct places *places, uint64_t offset)
{
	*TPA_APPEND(places->list, places->count, places->room) = offset;
}

static struct tpa_chunks *chunks_of(struct tpa_trace_impl *impl, uint32_t kind)
{
	switch (kind) {
	case TPROF_CHUNK_EVENTS:
		return &impl->events;
	case TPROF_CHUNK_TABLES:
		return &impl->tables;
	case TPROF_CHUNK_STATE:
		return &impl->states;
	}
	return NULL;
}

static struct tpa_chunk describe(struct tpa_trace_impl *impl, uint64_t offset, const struct tprof_chunk *chunk)
{
	struct tpa_chunk new = { .offset = offset,
				 .committed = readable(impl, offset, chunk),
				 .begin = chunk->begin,
				 .thread = chunk->thread,
				 .tid = chunk->tid,
				 .overhead_ticks = chunk->overhead_ticks,
				 .overhead_samples = chunk->overhead_samples };

	if (chunk->kind == TPROF_CHUNK_EVENTS) {
		new.free_ticks = chunk->free_ticks;
		new.free_samples = chunk->free_samples;
		new.free_timed = chunk->free_timed;
	}
	memcpy(new.timed, chunk->timed, sizeof(new.timed));
	return new;
}

/* Adds a chunk to its list, or notes why it is no chunk. */
static void take(struct tpa_trace_impl *impl, uint64_t offset, const struct tprof_chunk *chunk, bool tables_only)
{
	struct tpa_chunks *chunks = chunks_of(impl, chunk->kind);
	struct tpa_trace *trace = &impl->trace;
	uint64_t left = trace->file_bytes - offset, size = left < impl->chunk_size ? left : impl->chunk_size;

	if (chunk->magic != TPROF_CHUNK_MAGIC) {
		if (chunk->magic || chunk->committed)
			tpa_damage_add(trace, offset, size, "no chunk where one should begin");
		return;
	}
	if (offset == impl->header_size)
		impl->first = chunk->begin;
	if (chunk->kind == TPROF_CHUNK_RING)
		return;
	if (!chunks) {
		tpa_damage_add(trace, offset, size, "unknown kind of chunk");
		return;
	}
	/* Begun during the scan, perhaps behind one that was looked at before: left to the next refresh. */
	if (chunks == &impl->events && impl->now.ticks && chunk->begin.ticks > impl->now.ticks)
		return;
	if (!tables_only || chunks == &impl->tables)
		*TPA_APPEND(chunks->list, chunks->count, chunks->room) = describe(impl, offset, chunk);
}

/* `unbegun`: where to note chunks that have not begun; may be NULL. */
static void scan(struct tpa_trace_impl *impl, uint64_t *offset, bool tables_only, struct places *unbegun)
{
	struct tprof_chunk chunk;

	for (; *offset + sizeof(chunk) <= impl->trace.file_bytes; *offset += impl->chunk_size) {
		if (tpa_trace_bytes_at(impl, &chunk, sizeof(chunk), *offset) < sizeof(chunk)) {
			tpa_damage_add(&impl->trace, *offset, impl->trace.file_bytes - *offset, "can't be read");
			*offset = UINT64_MAX - sizeof(chunk);
			return;
		}
		take(impl, *offset, &chunk, tables_only);
		if (unbegun && !chunk.magic)
			note_place(unbegun, *offset);
	}
}

/* Chunks do not begin in the order in which they stand in the file. */
static void scan_again(struct tpa_trace_impl *impl, const struct places *unbegun)
{
	struct tprof_chunk chunk;

	for (size_t i = 0; i < unbegun->count; i++)
		if (tpa_trace_bytes_at(impl, &chunk, sizeof(chunk), unbegun->list[i]) == sizeof(chunk) && chunk.magic)
			take(impl, unbegun->list[i], &chunk, true);
}

/*
 * A thread may have begun a chunk while earlier places were read. Then the one before is complete by now, but was not yet when it
 * was read. What threads begin after the scan is not read, so nothing of a thread is left out.
 */
static void refresh_events(struct tpa_trace_impl *impl)
{
	struct tprof_chunk chunk;

	for (size_t i = 0; impl->trace.running && i < impl->events.count; i++) {
		struct tpa_chunk *event = &impl->events.list[i];

		if (tpa_trace_bytes_at(impl, &chunk, sizeof(chunk), event->offset) == sizeof(chunk) &&
		    chunk.magic == TPROF_CHUNK_MAGIC && chunk.kind == TPROF_CHUNK_EVENTS &&
		    chunk.begin.ticks == event->begin.ticks && chunk.committed > event->committed)
			*event = describe(impl, event->offset, &chunk);
	}
}

/* Tables grow while a program runs. Their present state holds at least what the events found so far refer to. */
static void refresh_tables(struct tpa_trace_impl *impl, uint64_t offset, const struct places *unbegun)
{
	uint64_t bytes = tpa_trace_size(impl);
	struct tprof_chunk chunk;
	size_t i;

	for (i = 0; i < impl->tables.count; i++) {
		struct tpa_chunk *table = &impl->tables.list[i];

		if (tpa_trace_bytes_at(impl, &chunk, sizeof(chunk), table->offset) == sizeof(chunk) &&
		    chunk.magic == TPROF_CHUNK_MAGIC && chunk.committed > table->committed)
			table->committed = readable(impl, table->offset, &chunk);
	}
	scan_again(impl, unbegun);
	if (bytes <= impl->trace.file_bytes)
		return;
	impl->trace.file_bytes = bytes;
	scan(impl, &offset, true, NULL);
}

int tpa_chunks_by_begin(const void *a, const void *b)
{
	const struct tpa_chunk *x = a, *y = b;

	return TPA_UP(x->begin.ticks, y->begin.ticks) ?: TPA_UP(x->offset, y->offset);
}

/*
 * Notes chunks that a finished process counted, but that are not in the file. A process that wrote no finish was ended from
 * outside, perhaps before it made the last of them.
 */
static void check_count(struct tpa_trace_impl *impl, uint64_t found)
{
	const struct tprof_header *header = &impl->header;

	if (header->end == TPROF_END_NONE || !header->finish.ticks || header->stop_cause || header->chunks <= found)
		return;
	tpa_damage_add(&impl->trace, impl->trace.file_bytes, (header->chunks - found) * impl->chunk_size,
		       "the file ends before its last chunk");
}

/* Bytes of all chunks that hold something. */
static uint64_t bytes_of(const struct tpa_chunks *chunks)
{
	uint64_t bytes = chunks->gone.count * sizeof(struct tprof_chunk) + chunks->gone.committed;

	for (size_t i = 0; i < chunks->count; i++)
		bytes += sizeof(struct tprof_chunk) + chunks->list[i].committed;
	return bytes;
}

/*
 * The writer gives out numbers nearly without gaps, and each costs some bytes of a chunk. Larger numbers are damage, so lists
 * indexed by number stay in proportion to the file.
 */
static uint64_t number_limit(const struct tpa_chunks *chunks)
{
	uint64_t limit = TPROF_NODE_FIRST + 65536 + 2 * bytes_of(chunks);

	return limit < TPA_NUMBERS_MAX ? limit : TPA_NUMBERS_MAX;
}

void tpa_chunks_settle(struct tpa_trace_impl *impl)
{
	uint64_t size = impl->trace.file_bytes, header = impl->header_size;

	if (impl->events.count)
		qsort(impl->events.list, impl->events.count, sizeof(*impl->events.list), tpa_chunks_by_begin);
	tpa_chunks_find_costs(&impl->events);
	impl->number_limit = number_limit(&impl->tables);
	impl->thread_limit = number_limit(&impl->events);
	impl->trace.used_bytes = (size < header ? size : header) + bytes_of(&impl->tables) + bytes_of(&impl->events);
}

void tpa_chunks_scan(struct tpa_trace_impl *impl)
{
	uint64_t offset = impl->header_size, size = impl->trace.file_bytes;
	struct places unbegun = { 0 };

	scan(impl, &offset, false, &unbegun);
	refresh_events(impl);
	refresh_tables(impl, offset, &unbegun);
	free(unbegun.list);
	if (size >= impl->header_size)
		check_count(impl, (size - impl->header_size + impl->chunk_size - 1) / impl->chunk_size);
	tpa_chunks_settle(impl);
}
