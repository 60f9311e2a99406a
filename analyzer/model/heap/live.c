/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "model/heap/live.h"

#include "base/archive.h"

#define FIRST_BITS 12

static bool make(struct tp_live *live, unsigned bits)
{
	live->blocks = calloc((size_t)1 << bits, sizeof(*live->blocks));
	live->shift = 64 - bits;
	live->limit = (size_t)1 << (bits - 1);
	live->count = 0;
	return live->blocks != NULL;
}

bool tp_live_init(struct tp_live *live)
{
	return make(live, FIRST_BITS);
}

void tp_live_free(struct tp_live *live)
{
	free(live->blocks);
	live->blocks = NULL;
}

bool tp_live_grow(struct tp_live *live)
{
	size_t size = (size_t)1 << (64 - live->shift), i;
	struct tp_live larger;

	if (!make(&larger, 64 - live->shift + 1))
		return false;
	for (i = 0; i < size; i++)
		if (live->blocks[i].site)
			*tp_live_find(&larger, live->blocks[i].address) = live->blocks[i];
	larger.count = live->count;
	free(live->blocks);
	*live = larger;
	return true;
}

static bool load_block(struct tp_archive *archive, struct tp_live *live)
{
	struct tp_block block, *place;

	TP_ARCHIVE(archive, block);
	place = tp_live_place(live, block.address);
	if (!place) {
		tp_archive_no_memory(archive);
		return false;
	}
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
