/* SPDX-License-Identifier: Apache-2.0 */
#include "model/heap/live.h"

#include <stdlib.h>

#include "base/archive.h"
#include "base/memory.h"

#define FIRST_BITS 12

static void make(struct tp_live *live, unsigned bits)
{
	live->blocks = tp_zalloc((size_t)1 << bits, sizeof(*live->blocks));
	live->shift = 64 - bits;
	live->limit = (size_t)1 << (bits - 1);
	live->count = 0;
}

void tp_live_init(struct tp_live *live)
{
	make(live, FIRST_BITS);
}

void tp_live_free(struct tp_live *live)
{
	free(live->blocks);
	live->blocks = NULL;
}

void tp_live_grow(struct tp_live *live)
{
	size_t size = (size_t)1 << (64 - live->shift), i;
	struct tp_live larger;

	make(&larger, 64 - live->shift + 1);
	for (i = 0; i < size; i++)
		if (live->blocks[i].site)
			*tp_live_find(&larger, live->blocks[i].address) = live->blocks[i];
	larger.count = live->count;
	free(live->blocks);
	*live = larger;
}

static bool load_block(struct tp_archive *archive, struct tp_live *live)
{
	struct tp_block block, *place;

	TP_ARCHIVE(archive, block);
	place = tp_live_place(live, block.address);
	if (!tp_archive_check(archive, block.site && !place->site, "two blocks have one address"))
		return false;
	*place = block;
	live->count++;
	return true;
}

void tp_live_archive(struct tp_archive *archive, struct tp_live *live)
{
	size_t count = live->count, slots = (size_t)1 << (64 - live->shift);

	TP_ARCHIVE(archive, count);
	if (archive->loading) {
		while (count-- && load_block(archive, live))
			;
		return;
	}
	for (size_t i = 0; i < slots; i++)
		if (live->blocks[i].site)
			TP_ARCHIVE(archive, live->blocks[i]);
}

void tp_outlived_add(struct tp_outlived *outlived, const struct tp_block *block)
{
	if (outlived->count == TP_OUTLIVED_MANY)
		return;
	tp_grow(&outlived->list, &outlived->room, outlived->count + 1, sizeof(*outlived->list));
	outlived->list[outlived->count++] = (struct tp_outlived_block){ block->time, block->size, block->site };
}

void tp_outlived_archive(struct tp_archive *archive, struct tp_outlived *outlived)
{
	TP_ARCHIVE(archive, outlived->step_ended);
	tp_archive_array(archive, &outlived->list, &outlived->count, &outlived->room, sizeof(*outlived->list));
}
