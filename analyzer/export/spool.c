/* SPDX-License-Identifier: Apache-2.0 */
#include "export/spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/read_at.h"

#define BLOCK 16384u /* bytes */

/* A block ends with the place of the list's next block, which is given out when the block is full. */
struct list {
	uint8_t *block;	    /* the one that is filled; NULL: the list is empty */
	size_t used, room;  /* bytes; most lists are short, so that `room` grows up to BLOCK */
	uint64_t first, at; /* places of blocks in the file */
	uint64_t count;	    /* records */
};

struct tpa_spool {
	FILE *file;
	size_t record, room; /* room: bytes of records in a block */
	uint64_t end;	     /* of the file */
	struct list *lists;
	size_t list_count, list_room;
};

struct tpa_spool *tpa_spool_new(size_t record)
{
	FILE *file = tmpfile();
	struct tpa_spool *spool;

	if (!file)
		return NULL;
	spool = tpa_zalloc(1, sizeof(*spool));
	spool->file = file;
	spool->record = record;
	spool->room = (BLOCK - sizeof(uint64_t)) / record * record;
	return spool;
}

void tpa_spool_clear(struct tpa_spool *spool)
{
	for (size_t i = 0; i < spool->list_count; i++)
		free(spool->lists[i].block);
	spool->list_count = 0;
	spool->end = 0;
}

void tpa_spool_free(struct tpa_spool *spool)
{
	if (!spool)
		return;
	tpa_spool_clear(spool);
	free(spool->lists);
	fclose(spool->file);
	free(spool);
}

uint32_t tpa_spool_lists(const struct tpa_spool *spool)
{
	return (uint32_t)spool->list_count;
}

uint64_t tpa_spool_count(const struct tpa_spool *spool, uint32_t list)
{
	return list < spool->list_count ? spool->lists[list].count : 0;
}

static uint64_t take_place(struct tpa_spool *spool)
{
	uint64_t place = spool->end;

	spool->end += BLOCK;
	return place;
}

/* Room for another record, which is there already if the block is full-sized. */
static void make_room(struct tpa_spool *spool, struct list *list)
{
	size_t room = list->room ? 2 * list->room : 256;

	if (list->room == BLOCK || list->used + spool->record <= list->room)
		return;
	list->room = room < spool->record ? spool->record : room;
	if (list->room > BLOCK)
		list->room = BLOCK;
	list->block = tpa_resize(list->block, list->room, 1);
}

/* Writes a full block, and goes on in a new one. */
static bool turn(struct tpa_spool *spool, struct list *list)
{
	uint64_t next = take_place(spool);

	if (list->room < BLOCK)
		list->block = tpa_resize(list->block, list->room = BLOCK, 1);
	memset(list->block + list->used, 0, BLOCK - list->used);
	memcpy(list->block + BLOCK - sizeof(next), &next, sizeof(next));
	if (!tpa_write_at(fileno(spool->file), list->block, BLOCK, list->at))
		return false;
	list->at = next;
	list->used = 0;
	return true;
}

bool tpa_spool_add(struct tpa_spool *spool, uint32_t number, const void *record)
{
	struct list *list;

	tpa_extend(&spool->lists, &spool->list_count, &spool->list_room, (size_t)number + 1, sizeof(*spool->lists));
	list = &spool->lists[number];
	if (!list->block)
		list->first = list->at = take_place(spool);
	if (list->used == spool->room && !turn(spool, list))
		return false;
	make_room(spool, list);
	memcpy(list->block + list->used, record, spool->record);
	list->used += spool->record;
	list->count++;
	return true;
}

bool tpa_spool_each(struct tpa_spool *spool, uint32_t number, void (*each)(void *to, const void *record), void *to)
{
	const struct list *list = number < spool->list_count ? &spool->lists[number] : NULL;
	uint8_t *block = tpa_zalloc(BLOCK, 1);
	uint64_t place = list ? list->first : 0;
	bool good = true;

	for (uint64_t i = 0, count = list ? list->count : 0; good && i < count;) {
		bool last = place == list->at;
		size_t bytes = last ? list->used : spool->room;

		good = last || tpa_read_at(fileno(spool->file), block, BLOCK, place) == BLOCK;
		for (size_t k = 0; good && k < bytes; k += spool->record, i++)
			each(to, (last ? list->block : block) + k);
		memcpy(&place, block + BLOCK - sizeof(place), sizeof(place));
	}
	free(block);
	return good;
}
