/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "compact/frames.h"
#include "compact/seek_table.h"

bool tpa_frames_first(const struct tpa_part *file, void *bytes, size_t size)
{
	uint32_t head[2];

	return tpa_part_read(file, head, sizeof(head), 0) == sizeof(head) && head[0] == TPA_SKIPPABLE_FIRST &&
	       head[1] >= size && tpa_part_read(file, bytes, size, sizeof(head)) == size;
}

/* The entries fill the file up to the table. */
static bool read_entries(struct tpa_frames *frames, uint64_t table, const uint8_t *entries)
{
	uint64_t offset = 0;

	frames->list = tpa_zalloc(frames->count, sizeof(*frames->list));
	for (size_t i = 0; i < frames->count; i++) {
		struct tpa_frame_entry *entry = &frames->list[i];

		memcpy(entry, entries + i * TPA_SEEK_ENTRY, TPA_SEEK_ENTRY);
		entry->offset = offset;
		offset += entry->compressed;
		if (offset > table)
			return false;
	}
	return offset == table;
}

bool tpa_frames_open(struct tpa_frames *frames, const struct tpa_part *file, const char **reason)
{
	struct tpa_seek_footer footer;
	uint64_t length, table;
	uint8_t *bytes;
	bool good;

	*frames = (struct tpa_frames){ .file = *file };
	*reason = "the file ends before the table of its frames: it was cut off";
	if (file->bytes < TPA_SKIPPABLE_HEAD + sizeof(footer) ||
	    tpa_part_read(file, &footer, sizeof(footer), file->bytes - sizeof(footer)) < sizeof(footer) ||
	    footer.magic != TPA_SEEK_MAGIC)
		return false;
	*reason = "the table of its frames is damaged";
	length = (uint64_t)footer.count * TPA_SEEK_ENTRY + sizeof(footer);
	if (footer.flags || length + TPA_SKIPPABLE_HEAD > file->bytes)
		return false;
	table = file->bytes - length - TPA_SKIPPABLE_HEAD;
	frames->count = footer.count;
	bytes = tpa_zalloc(1, length);
	good = tpa_part_read(file, bytes, length, table + TPA_SKIPPABLE_HEAD) == length &&
	       read_entries(frames, table, bytes);
	free(bytes);
	frames->context = ZSTD_createDCtx();
	tpa_need(frames->context);
	return good;
}

void tpa_frames_close(struct tpa_frames *frames)
{
	free(frames->list);
	ZSTD_freeDCtx(frames->context);
	*frames = (struct tpa_frames){ .file.fd = -1 };
}

bool tpa_frames_read(struct tpa_frames *frames, size_t number, uint8_t *out)
{
	const struct tpa_frame_entry *entry = &frames->list[number];
	uint8_t *compressed = tpa_zalloc(1, entry->compressed);
	bool good = tpa_part_read(&frames->file, compressed, entry->compressed, entry->offset) == entry->compressed &&
		    ZSTD_decompressDCtx(frames->context, out, entry->length, compressed, entry->compressed) ==
			    entry->length;

	free(compressed);
	return good;
}
