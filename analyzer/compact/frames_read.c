/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "base/read_at.h"
#include "compact/frames.h"
#include "compact/seek_table.h"

bool tpa_frames_first(int fd, void *bytes, size_t size)
{
	uint32_t head[2];

	return tpa_read_at(fd, head, sizeof(head), 0) == sizeof(head) && head[0] == TPA_SKIPPABLE_FIRST &&
	       head[1] >= size && tpa_read_at(fd, bytes, size, sizeof(head)) == size;
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

bool tpa_frames_open(struct tpa_frames *frames, int fd, const char **reason)
{
	struct tpa_seek_footer footer;
	struct stat status;
	uint64_t length, table;
	uint8_t *bytes;
	bool good;

	*frames = (struct tpa_frames){ .fd = fd };
	*reason = "the file ends before the table of its frames: it was cut off";
	if (fstat(fd, &status) < 0 || status.st_size < (off_t)(TPA_SKIPPABLE_HEAD + sizeof(footer)))
		return false;
	frames->file_bytes = (uint64_t)status.st_size;
	if (tpa_read_at(fd, &footer, sizeof(footer), frames->file_bytes - sizeof(footer)) < sizeof(footer) ||
	    footer.magic != TPA_SEEK_MAGIC)
		return false;
	*reason = "the table of its frames is damaged";
	length = (uint64_t)footer.count * TPA_SEEK_ENTRY + sizeof(footer);
	if (footer.flags || length + TPA_SKIPPABLE_HEAD > frames->file_bytes)
		return false;
	table = frames->file_bytes - length - TPA_SKIPPABLE_HEAD;
	frames->count = footer.count;
	bytes = tpa_zalloc(1, length);
	good = tpa_read_at(fd, bytes, length, table + TPA_SKIPPABLE_HEAD) == length &&
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
	*frames = (struct tpa_frames){ .fd = -1 };
}

bool tpa_frames_read(struct tpa_frames *frames, size_t number, uint8_t *out)
{
	const struct tpa_frame_entry *entry = &frames->list[number];
	uint8_t *compressed = tpa_zalloc(1, entry->compressed);
	bool good = tpa_read_at(frames->fd, compressed, entry->compressed, entry->offset) == entry->compressed &&
		    ZSTD_decompressDCtx(frames->context, out, entry->length, compressed, entry->compressed) ==
			    entry->length;

	free(compressed);
	return good;
}
