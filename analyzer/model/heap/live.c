/* SPDX-License-Identifier: Apache-2.0 */
#include "model/heap/live.h"

#include <stdlib.h>

#include "base/archive.h"
#include "base/memory.h"

#define FIRST_BITS 12

static void make(struct tpa_live *live, unsigned bits)
{
	size_t slots = (size_t)1 << bits;

	live->blocks = tpa_zalloc(slots, sizeof(*live->blocks));
	tpa_large_pages(live->blocks, slots * sizeof(*live->blocks));
	live->shift = 64 - bits;
	live->limit = (size_t)1 << (bits - 1);
	live->count = 0;
}

void tpa_live_init(struct tpa_live *live)
{
	make(live, FIRST_BITS);
}

void tpa_live_free(struct tpa_live *live)
{
	free(live->blocks);
	live->blocks = NULL;
}

void tpa_live_grow(struct tpa_live *live)
{
	size_t size = (size_t)1 << (64 - live->shift), i;
	struct tpa_live larger;

	make(&larger, 64 - live->shift + 1);
	for (i = 0; i < size; i++)
		if (live->blocks[i].site)
			*tpa_live_find(&larger, live->blocks[i].address) = live->blocks[i];
	larger.count = live->count;
	free(live->blocks);
	*live = larger;
}

/*
 * Makes an empty table large enough for so many blocks. They were saved in the order of their slots: in a table that grows with
 * them they would fill its front, and each would be placed behind all others.
 */
static void make_for(struct tpa_live *live, size_t count)
{
	unsigned bits = FIRST_BITS;

	while ((size_t)1 << (bits - 1) < count)
		bits++;
	free(live->blocks);
	make(live, bits);
}

static bool load_block(struct tpa_archive *archive, struct tpa_live *live)
{
	struct tpa_block block, *place;

	TPA_ARCHIVE(archive, block);
	place = tpa_live_place(live, block.address);
	if (!tpa_archive_check(archive, block.site && !place->site, "two blocks have one address"))
		return false;
	*place = block;
	live->count++;
	return true;
}

void tpa_live_archive(struct tpa_archive *archive, struct tpa_live *live)
{
	size_t count = live->count, slots = (size_t)1 << (64 - live->shift);

	TPA_ARCHIVE(archive, count);
	if (archive->loading) {
		bool whole = count <= (archive->size - archive->at) / sizeof(struct tpa_block);

		if (tpa_archive_check(archive, whole, "there are fewer blocks than it says"))
			make_for(live, count);
		while (whole && count-- && load_block(archive, live))
			;
		return;
	}
	for (size_t i = 0; i < slots; i++)
		if (live->blocks[i].site)
			TPA_ARCHIVE(archive, live->blocks[i]);
}

void tpa_outlived_add(struct tpa_outlived *outlived, const struct tpa_block *block)
{
	if (outlived->count == TPA_OUTLIVED_MANY)
		return;
	*TPA_APPEND(outlived->list, outlived->count, outlived->room) =
		(struct tpa_outlived_block){ block->time, block->size, block->site };
}

void tpa_outlived_archive(struct tpa_archive *archive, struct tpa_outlived *outlived)
{
	TPA_ARCHIVE(archive, outlived->step_ended);
	tpa_archive_array(archive, &outlived->list, &outlived->count, &outlived->room, sizeof(*outlived->list));
}
