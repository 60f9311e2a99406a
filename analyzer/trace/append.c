/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "trace/ring.h"

#define RECORD_MAX 640
#define PLACE_TRIES 1000 /* of a millisecond */
#define TEXT_MAX 250

static uint8_t *put(uint8_t *p, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		*p++ = (uint8_t)(n | 0x80);
	*p++ = (uint8_t)n;
	return p;
}

static uint8_t *put_text(uint8_t *p, const char *text)
{
	size_t length = strnlen(text, TEXT_MAX);

	memcpy(p, text, length);
	return p + length;
}

/* Writes the fields of record i behind its length, and returns where they end; sets its type. */
typedef uint8_t *put_record(uint8_t *p, const void *list, size_t i, enum tprof_table_type *type);

static uint8_t *put_sum(uint8_t *p, const void *list, size_t i, enum tprof_table_type *type)
{
	const struct tpa_reach_sum *sum = (const struct tpa_reach_sum *)list + i;

	*type = TPROF_TABLE_REACH;
	p = put(p, sum->ticks);
	*p++ = sum->reach;
	p = put(p, sum->node);
	p = put(p, sum->op);
	p = put(p, sum->blocks);
	return put(p, sum->bytes);
}

static uint8_t *put_link(uint8_t *p, const void *list, size_t i, enum tprof_table_type *type)
{
	const struct tpa_holder_link *link = (const struct tpa_holder_link *)list + i;

	*type = TPROF_TABLE_HOLDER;
	p = put(put(put(p, link->ticks), link->number), link->parent);
	*p++ = link->kind;
	p = put(put(p, link->count), link->items);
	p = put(put(p, link->node), link->size);
	p = put(put(p, link->blocks), link->bytes);
	*p++ = (uint8_t)strnlen(link->name, TEXT_MAX);
	return put_text(put_text(p, link->name), link->type);
}

static uint8_t *put_held(uint8_t *p, const void *list, size_t i, enum tprof_table_type *type)
{
	const struct tpa_held *held = (const struct tpa_held *)list + i;

	*type = TPROF_TABLE_HELD;
	p = put(p, held->ticks);
	*p++ = held->what;
	p = put(put(put(put(p, held->node), held->op), held->end), held->holder);
	return put(put(put(put(p, held->blocks), held->bytes), held->all_blocks), held->all_bytes);
}

static uint8_t *put_holders(uint8_t *p, const void *list, size_t i, enum tprof_table_type *type)
{
	const struct tpa_holders_search *search = (const struct tpa_holders_search *)list + i;

	*type = TPROF_TABLE_HOLDERS;
	p = put(put(put(put(p, search->ticks), search->blocks), search->bytes), search->reached);
	p = put(put(put(p, search->pointers), search->interior), search->unreadable);
	return put(put(put(p, search->ns), search->memory), search->left_out);
}

static uint8_t *put_whole(uint8_t *p, put_record *record, const void *list, size_t i)
{
	uint8_t body[RECORD_MAX];
	enum tprof_table_type type;
	/* cppcheck-suppress comparePointers ; what record() returns is an address in body */
	size_t length = (size_t)(record(body, list, i, &type) - body);

	*p = (uint8_t)(type << 2);
	p = put(p + 1, length);
	memcpy(p, body, length);
	return p + length;
}

/* Takes a place for a chunk. 0, which the program's first chunk has: the ring is full. */
static uint64_t take_place(struct tpa_control *control)
{
	struct tpa_ring ring;
	uint64_t place;

	if (!control->header->ring_bytes)
		return __atomic_fetch_add(&control->header->chunks, 1, __ATOMIC_RELAXED);
	if (!tpa_ring_open(&ring, control->fd))
		return 0;
	for (int i = 0; !(place = tpa_ring_take(&ring)) && i < PLACE_TRIES; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	tpa_ring_close(&ring);
	return place;
}

/* The magic is written last: until then the chunk counts as handed out and not begun. */
static bool write_chunk(struct tpa_control *control, uint8_t *chunk, const uint8_t *end)
{
	uint64_t size = control->header->chunk_size;
	uint64_t number = take_place(control);
	off_t offset = (off_t)(control->header->header_size + number * size);
	struct tprof_chunk *head = (struct tprof_chunk *)chunk;
	uint32_t magic = TPROF_CHUNK_MAGIC;
	struct tprof_moment begin = control->header->start;

	errno = number ? posix_fallocate(control->fd, offset, (off_t)size) : ENOSPC;
	if (errno)
		return false;
	memset(head, 0, sizeof(*head));
	head->kind = TPROF_CHUNK_TABLES;
	head->begin = begin;
	head->committed = (uint64_t)(end - chunk - (ptrdiff_t)sizeof(*head));
	return pwrite(control->fd, chunk, size, offset) == (ssize_t)size &&
	       pwrite(control->fd, &magic, sizeof(magic), offset) == sizeof(magic);
}

static bool append(struct tpa_control *control, put_record *record, const void *list, size_t count)
{
	size_t size = control->header->chunk_size, i = 0;
	bool good = true;

	while (good && i < count) {
		uint8_t *chunk = tpa_zalloc(1, size), *p = chunk + sizeof(struct tprof_chunk);

		for (; i < count && p + RECORD_MAX + 4 < chunk + size; i++)
			p = put_whole(p, record, list, i);
		good = write_chunk(control, chunk, p);
		free(chunk);
	}
	return good;
}

bool tpa_append_reach(struct tpa_control *control, const struct tpa_reach_sum *sums, size_t count)
{
	return append(control, put_sum, sums, count);
}

bool tpa_append_holders(struct tpa_control *control, const struct tpa_holders_result *result)
{
	return append(control, put_link, result->links, result->link_count) &&
	       append(control, put_held, result->held, result->held_count) &&
	       append(control, put_holders, &result->search, 1);
}
