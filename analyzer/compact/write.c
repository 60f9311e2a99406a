/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "compact/compact.h"
#include "compact/frames.h"
#include "compact/layout.h"

#define LEVEL 19

struct writer {
	const struct tpa_compact_input *input;
	struct tpa_compact_chunk *chunks;
	uint32_t chunk_count, groups;
	struct tpa_frames_writer *frames;
};

static uint64_t offset_of(const struct writer *writer, uint32_t number)
{
	return writer->input->header_size + (uint64_t)number * writer->input->chunk_size;
}

static size_t read_at(const struct writer *writer, void *buffer, size_t size, uint64_t offset)
{
	return writer->input->read(writer->input->context, buffer, size, offset);
}

/* Bytes of records that are in the file; those of what is no chunk have no meaning. */
static uint32_t records_of(const struct writer *writer, uint32_t number)
{
	const struct tprof_chunk *head = &writer->chunks[number].head;
	uint64_t room = writer->input->chunk_size - sizeof(*head), offset = offset_of(writer, number) + sizeof(*head);
	uint64_t left = writer->input->trace_bytes > offset ? writer->input->trace_bytes - offset : 0;

	room = left < room ? left : room;
	if (head->magic != TPROF_CHUNK_MAGIC)
		return 0;
	return (uint32_t)(head->committed < room ? head->committed : room);
}

static void read_head(struct writer *writer, uint32_t number)
{
	struct tpa_compact_chunk *chunk = &writer->chunks[number];

	memset(chunk, 0, sizeof(*chunk));
	read_at(writer, &chunk->head, sizeof(chunk->head), offset_of(writer, number));
}

/*
 * Events refer to tables that were committed before: in a trace that is still being written, the heads of tables are read after
 * those of events.
 */
static void read_heads(struct writer *writer)
{
	const struct tpa_compact_input *input = writer->input;
	uint64_t bytes = input->trace_bytes > input->header_size ? input->trace_bytes - input->header_size : 0;

	writer->chunk_count = (uint32_t)((bytes + input->chunk_size - 1) / input->chunk_size);
	writer->chunks = tpa_zalloc(writer->chunk_count, sizeof(*writer->chunks));
	for (uint32_t i = 0; i < writer->chunk_count; i++)
		read_head(writer, i);
	for (uint32_t i = 0; i < writer->chunk_count; i++)
		if (writer->chunks[i].head.kind == TPROF_CHUNK_TABLES)
			read_head(writer, i);
	for (uint32_t i = 0; i < writer->chunk_count; i++)
		writer->chunks[i].length = records_of(writer, i);
}

static enum tpa_method method_of(const struct tpa_compact_chunk *chunk)
{
	switch (chunk->head.kind) {
	case TPROF_CHUNK_EVENTS:
		return TPA_METHOD_EVENTS;
	case TPROF_CHUNK_TABLES:
		return TPA_METHOD_TABLES;
	default:
		return TPA_METHOD_PLAIN;
	}
}

/* Puts chunks of the same kind into groups, in the order of the file. */
static void plan(struct writer *writer)
{
	struct {
		uint32_t group, count;
		uint64_t length;
	} open[TPA_METHOD_TABLES + 1] = { 0 };

	for (uint32_t i = 0; i < writer->chunk_count; i++) {
		struct tpa_compact_chunk *chunk = &writer->chunks[i];
		enum tpa_method method = method_of(chunk);

		if (!chunk->length)
			continue;
		if (!open[method].group || open[method].count == TPA_GROUP_CHUNKS ||
		    open[method].length + chunk->length > TPA_GROUP_BYTES) {
			open[method].group = ++writer->groups;
			open[method].count = 0;
			open[method].length = 0;
		}
		chunk->group = open[method].group;
		open[method].count++;
		open[method].length += chunk->length;
	}
}

struct editing {
	const struct tpa_compact_edit *edit;
	bool event;
};

static void edit_record(void *context, unsigned type, uint8_t *body, size_t length)
{
	const struct editing *editing = context;

	editing->edit->record(editing->edit->context, editing->event, type, body, length);
}

/* Chunks of a ring that have no records stay as they are. */
static void edit_chunk(const struct writer *writer, const struct tpa_compact_chunk *chunk, uint8_t *bytes)
{
	struct editing editing = { writer->input->edit, chunk->head.kind == TPROF_CHUNK_EVENTS };
	size_t good = 0;

	if (!editing.edit || chunk->head.kind == TPROF_CHUNK_RING || chunk->head.kind == TPROF_CHUNK_STATE)
		return;
	if (method_of(chunk) != TPA_METHOD_PLAIN)
		good = tpa_records_visit(bytes, chunk->length, method_of(chunk), edit_record, &editing);
	memset(bytes + good, 0, chunk->length - good);
}

static bool write_group(struct writer *writer, uint32_t number, uint32_t *from, char **error)
{
	struct tpa_records records[TPA_GROUP_CHUNKS];
	struct tpa_group *group = tpa_zalloc(1, sizeof(*group));
	size_t count = 0;
	bool good = true, first = true;

	for (uint32_t i = *from; i < writer->chunk_count && count < TPA_GROUP_CHUNKS && good; i++) {
		const struct tpa_compact_chunk *chunk = &writer->chunks[i];
		uint8_t *bytes;

		if (chunk->group != number)
			continue;
		bytes = tpa_zalloc(1, chunk->length);
		good = read_at(writer, bytes, chunk->length, offset_of(writer, i) + sizeof(chunk->head)) ==
		       chunk->length;
		if (!good)
			*error = tpa_format("a chunk of the trace can't be read");
		else
			edit_chunk(writer, chunk, bytes);
		records[count++] = (struct tpa_records){ bytes, chunk->length, method_of(chunk) };
		if (first)
			*from = i;
		first = false;
	}
	if (good) {
		tpa_group_encode(group, records, count);
		good = tpa_frames_add(writer->frames, group->pieces, group->piece_count, error);
	}
	while (count)
		free((void *)(uintptr_t)records[--count].bytes);
	tpa_group_free(group);
	free(group);
	return good;
}

static bool write_first(struct writer *writer, char **error)
{
	const struct tpa_compact_input *input = writer->input;
	struct tpa_compact_first first = { .magic = TPA_COMPACT_MAGIC,
					   .version = TPA_COMPACT_VERSION,
					   .header_size = input->header_size,
					   .chunk_size = input->chunk_size,
					   .groups = writer->groups,
					   .trace_bytes = input->trace_bytes,
					   .names = input->names != NULL };

	return tpa_frames_skippable(writer->frames, &first, sizeof(first), error);
}

static bool write_header(struct writer *writer, char **error)
{
	const struct tpa_compact_input *input = writer->input;
	size_t length = input->trace_bytes < input->header_size ? input->trace_bytes : input->header_size;
	uint8_t *header = tpa_zalloc(1, length);
	bool good = read_at(writer, header, length, 0) == length;

	if (good && input->edit)
		input->edit->header(input->edit->context, header, length);
	if (good)
		good = tpa_frames_add(writer->frames, &(struct tpa_piece){ header, length }, 1, error);
	else
		*error = tpa_format("the trace's header can't be read");
	free(header);
	return good;
}

static bool write_all(struct writer *writer, char **error)
{
	const struct tpa_compact_input *input = writer->input;
	struct tpa_piece list = { (const uint8_t *)writer->chunks, writer->chunk_count * sizeof(*writer->chunks) };
	uint32_t from = 0;

	if (!write_first(writer, error) || !write_header(writer, error) ||
	    !tpa_frames_add(writer->frames, &list, 1, error))
		return false;
	for (uint32_t group = 1; group <= writer->groups; group++)
		if (!write_group(writer, group, &from, error))
			return false;
	if (input->names &&
	    !tpa_frames_add(writer->frames, &(struct tpa_piece){ input->names, input->names_length }, 1, error))
		return false;
	return tpa_frames_end(writer->frames, error);
}

bool tpa_compact_write(FILE *file, const struct tpa_compact_input *input, char **error)
{
	struct writer writer = { .input = input };
	bool good;

	if (input->trace_bytes / input->chunk_size > TPA_COMPACT_CHUNKS) {
		*error = tpa_format("has more than %u chunks, which is too many for a compact trace",
				    TPA_COMPACT_CHUNKS);
		return false;
	}
	read_heads(&writer);
	plan(&writer);
	writer.frames = tpa_frames_writer_new(file, LEVEL);
	good = write_all(&writer, error);
	tpa_frames_writer_free(writer.frames);
	free(writer.chunks);
	return good;
}
