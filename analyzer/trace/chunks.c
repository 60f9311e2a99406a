/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the chunks of a file and how much of each is valid. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/archive.h"
#include "base/memory.h"
#include "trace/impl.h"

/* How many bytes of records may be read: the committed ones, unless the chunk or the file is shorter. */
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
	tpa_grow(&places->list, &places->room, places->count + 1, sizeof(*places->list));
	places->list[places->count++] = offset;
}

/* Adds a chunk to its list, or notes why it is none. */
static void take(struct tpa_trace_impl *impl, uint64_t offset, const struct tprof_chunk *chunk, bool tables_only)
{
	struct tpa_chunks *chunks = chunk->kind == TPROF_CHUNK_TABLES ? &impl->tables : &impl->events;
	struct tpa_trace *trace = &impl->trace;
	uint64_t left = trace->file_bytes - offset, size = left < impl->chunk_size ? left : impl->chunk_size;
	struct tpa_chunk *new;

	if (chunk->magic != TPROF_CHUNK_MAGIC) {
		if (chunk->magic || chunk->committed)
			tpa_damage_add(trace, offset, size, "no chunk where one should begin");
		return;
	}
	if (chunk->kind != TPROF_CHUNK_EVENTS && chunk->kind != TPROF_CHUNK_TABLES) {
		tpa_damage_add(trace, offset, size, "unknown kind of chunk");
		return;
	}
	if (tables_only && chunks != &impl->tables)
		return;
	tpa_grow(&chunks->list, &chunks->room, chunks->count + 1, sizeof(*chunks->list));
	new = &chunks->list[chunks->count++];
	*new = (struct tpa_chunk){ .offset = offset,
				   .committed = readable(impl, offset, chunk),
				   .begin = chunk->begin,
				   .thread = chunk->thread,
				   .tid = chunk->tid,
				   .overhead_ticks = chunk->overhead_ticks,
				   .overhead_samples = chunk->overhead_samples };
	if (chunk->kind == TPROF_CHUNK_EVENTS) {
		new->free_ticks = chunk->free_ticks;
		new->free_samples = chunk->free_samples;
		new->free_timed = chunk->free_timed;
	}
	memcpy(new->timed, chunk->timed, sizeof(new->timed));
	trace->used_bytes += sizeof(*chunk) + new->committed;
}

/* `unbegun`: where to note chunks that have not begun; may be NULL. */
static void scan(struct tpa_trace_impl *impl, uint64_t *offset, bool tables_only, struct places *unbegun)
{
	struct tprof_chunk chunk;

	for (; *offset + sizeof(chunk) <= impl->trace.file_bytes; *offset += impl->chunk_size) {
		if (tpa_read_at(impl->fd, &chunk, sizeof(chunk), *offset) < sizeof(chunk)) {
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
		if (tpa_read_at(impl->fd, &chunk, sizeof(chunk), unbegun->list[i]) == sizeof(chunk) && chunk.magic)
			take(impl, unbegun->list[i], &chunk, true);
}

/* Tables grow while a program runs. As they are now, they hold at least what the events found so far refer to. */
static void refresh_tables(struct tpa_trace_impl *impl, uint64_t offset, const struct places *unbegun)
{
	struct tprof_chunk chunk;
	struct stat status;
	size_t i;

	for (i = 0; i < impl->tables.count; i++) {
		struct tpa_chunk *table = &impl->tables.list[i];

		if (tpa_read_at(impl->fd, &chunk, sizeof(chunk), table->offset) == sizeof(chunk) &&
		    chunk.magic == TPROF_CHUNK_MAGIC && chunk.committed > table->committed)
			table->committed = readable(impl, table->offset, &chunk);
	}
	scan_again(impl, unbegun);
	if (fstat(impl->fd, &status) < 0 || (uint64_t)status.st_size <= impl->trace.file_bytes)
		return;
	impl->trace.file_bytes = (uint64_t)status.st_size;
	scan(impl, &offset, true, NULL);
}

static int by_begin(const void *a, const void *b)
{
	const struct tpa_chunk *x = a, *y = b;

	if (x->begin.ticks != y->begin.ticks)
		return x->begin.ticks < y->begin.ticks ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
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

/*
 * The writer gives numbers out nearly without gaps, and each costs some bytes of a chunk. Larger numbers are damage; so lists
 * indexed by number stay in proportion to the file.
 */
static uint64_t number_limit(const struct tpa_chunks *chunks)
{
	uint64_t limit = TPROF_NODE_FIRST + 65536;
	size_t i;

	for (i = 0; i < chunks->count; i++)
		limit += sizeof(struct tprof_chunk) + 2 * chunks->list[i].committed;
	return limit < UINT32_MAX ? limit : UINT32_MAX;
}

/* What follows from the list of event chunks. */
static void settle(struct tpa_trace_impl *impl)
{
	if (impl->events.count)
		qsort(impl->events.list, impl->events.count, sizeof(*impl->events.list), by_begin);
	impl->thread_limit = number_limit(&impl->events);
}

void tpa_chunks_scan(struct tpa_trace_impl *impl)
{
	uint64_t offset = impl->header_size, size = impl->trace.file_bytes;
	struct places unbegun = { 0 };

	impl->trace.used_bytes = size < offset ? size : offset;
	scan(impl, &offset, false, &unbegun);
	refresh_tables(impl, offset, &unbegun);
	free(unbegun.list);
	if (size >= impl->header_size)
		check_count(impl, (size - impl->header_size + impl->chunk_size - 1) / impl->chunk_size);
	impl->number_limit = number_limit(&impl->tables);
	settle(impl);
}

/* ---- chunks that are gone ---- */

void tpa_chunks_keep(struct tpa_trace_impl *impl, const struct tpa_chunks *before)
{
	struct tpa_chunks *chunks = &impl->events;
	size_t at = 0, count = chunks->count;

	for (size_t i = 0; i < before->count; i++) {
		const struct tpa_chunk *chunk = &before->list[i];

		while (at < count && by_begin(&chunks->list[at], chunk) < 0)
			at++;
		if (at < count && by_begin(&chunks->list[at], chunk) == 0)
			continue;
		tpa_grow(&chunks->list, &chunks->room, chunks->count + 1, sizeof(*chunks->list));
		chunks->list[chunks->count] = *chunk;
		chunks->list[chunks->count++].gone = true;
		impl->trace.used_bytes += sizeof(struct tprof_chunk) + chunk->committed;
	}
	if (chunks->count == count)
		return;
	settle(impl);
	tpa_clock_fit(impl);
}

static bool is_valid(const struct tpa_trace_impl *impl, const struct tpa_chunk *chunk)
{
	return chunk->offset >= impl->header_size && chunk->offset < impl->trace.file_bytes &&
	       (chunk->offset - impl->header_size) % impl->chunk_size == 0 &&
	       chunk->committed <= impl->chunk_size - sizeof(struct tprof_chunk);
}

void tpa_chunks_archive(struct tpa_archive *archive, struct tpa_trace *trace)
{
	struct tpa_trace_impl *impl = tpa_impl(trace);
	struct tpa_chunks *chunks = &impl->events, before = { 0 };

	if (!archive->loading)
		return tpa_archive_array(archive, &chunks->list, &chunks->count, NULL, sizeof(*chunks->list));
	tpa_archive_array(archive, &before.list, &before.count, &before.room, sizeof(*before.list));
	for (size_t i = 0; i < before.count; i++)
		tpa_archive_check(archive,
				  is_valid(impl, &before.list[i]) &&
					  (!i || by_begin(&before.list[i - 1], &before.list[i]) < 0),
				  "a chunk of the saved state is out of range");
	if (!archive->failed)
		tpa_chunks_keep(impl, &before);
	free(before.list);
}
