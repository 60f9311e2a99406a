/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "compact/frames.h"
#include "compact/seek_table.h"

#define BLOCK_LEAST 1024u /* bytes of a piece that are worth a block, which has a table of codes of its own */

struct tpa_frames_writer {
	FILE *file;
	ZSTD_CCtx *context;
	struct tpa_frame_entry *list;
	size_t count, room;
	uint8_t *buffer;
	size_t buffer_size;
};

struct tpa_frames_writer *tpa_frames_writer_new(FILE *file, int level)
{
	struct tpa_frames_writer *writer = tpa_zalloc(1, sizeof(*writer));

	writer->file = file;
	writer->buffer_size = ZSTD_CStreamOutSize();
	writer->buffer = tpa_zalloc(1, writer->buffer_size);
	writer->context = ZSTD_createCCtx();
	tpa_need(writer->context);
	ZSTD_CCtx_setParameter(writer->context, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(writer->context, ZSTD_c_checksumFlag, 1);
	return writer;
}

void tpa_frames_writer_free(struct tpa_frames_writer *writer)
{
	ZSTD_freeCCtx(writer->context);
	free(writer->buffer);
	free(writer->list);
	free(writer);
}

static bool put(struct tpa_frames_writer *writer, const void *bytes, size_t length, char **error)
{
	if (fwrite(bytes, 1, length, writer->file) == length)
		return true;
	*error = tpa_format("can't be written: %s", strerror(errno));
	return false;
}

static bool skippable(struct tpa_frames_writer *writer, uint32_t magic, const void *bytes, size_t length, char **error)
{
	uint32_t head[2] = { magic, (uint32_t)length };

	return put(writer, head, sizeof(head), error) && put(writer, bytes, length, error);
}

static struct tpa_frame_entry *new_entry(struct tpa_frames_writer *writer)
{
	struct tpa_frame_entry *entry = TPA_APPEND(writer->list, writer->count, writer->room);

	*entry = (struct tpa_frame_entry){ 0 };
	return entry;
}

bool tpa_frames_skippable(struct tpa_frames_writer *writer, const void *bytes, size_t length, char **error)
{
	new_entry(writer)->compressed = (uint32_t)(TPA_SKIPPABLE_HEAD + length);
	return skippable(writer, TPA_SKIPPABLE_FIRST, bytes, length, error);
}

/* Compresses a piece, and ends its block or the frame. */
static bool compress(struct tpa_frames_writer *writer, const struct tpa_piece *piece, ZSTD_EndDirective end,
		     struct tpa_frame_entry *entry, char **error)
{
	ZSTD_inBuffer in = { piece->bytes, piece->length, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { writer->buffer, writer->buffer_size, 0 };

		left = ZSTD_compressStream2(writer->context, &out, &in, end);
		if (ZSTD_isError(left)) {
			*error = tpa_format("can't be compressed: %s", ZSTD_getErrorName(left));
			return false;
		}
		if (!put(writer, out.dst, out.pos, error))
			return false;
		entry->compressed += (uint32_t)out.pos;
	} while (end == ZSTD_e_continue ? in.pos < in.size : left);
	entry->length += (uint32_t)piece->length;
	return true;
}

bool tpa_frames_add(struct tpa_frames_writer *writer, const struct tpa_piece *pieces, size_t count, char **error)
{
	struct tpa_frame_entry *entry = new_entry(writer);

	for (size_t i = 0; i < count; i++) {
		bool large = pieces[i].length >= BLOCK_LEAST || (i + 1 < count && pieces[i + 1].length >= BLOCK_LEAST);

		if (!compress(writer, &pieces[i], large ? ZSTD_e_flush : ZSTD_e_continue, entry, error))
			return false;
	}
	return compress(writer, &(struct tpa_piece){ NULL, 0 }, ZSTD_e_end, entry, error);
}

bool tpa_frames_end(struct tpa_frames_writer *writer, char **error)
{
	struct tpa_seek_footer footer = { .count = (uint32_t)writer->count, .magic = TPA_SEEK_MAGIC };
	size_t length = writer->count * TPA_SEEK_ENTRY + sizeof(footer);
	uint8_t *table = tpa_zalloc(1, length), *p = table;
	bool good;

	for (size_t i = 0; i < writer->count; i++, p += TPA_SEEK_ENTRY)
		memcpy(p, &writer->list[i], TPA_SEEK_ENTRY);
	memcpy(p, &footer, sizeof(footer));
	good = skippable(writer, TPA_SKIPPABLE_SEEK, table, length, error);
	free(table);
	return good;
}
