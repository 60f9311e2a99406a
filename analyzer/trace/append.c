/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RECORD_MAX 64

static uint8_t *put(uint8_t *p, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		*p++ = (uint8_t)(n | 0x80);
	*p++ = (uint8_t)n;
	return p;
}

static uint8_t *put_sum(uint8_t *p, const struct tpa_reach_sum *sum)
{
	uint8_t *length = p + 1;

	*p = TPROF_TABLE_REACH << 2;
	p = put(p + 2, sum->ticks);
	*p++ = sum->reach;
	p = put(p, sum->node);
	p = put(p, sum->op);
	p = put(p, sum->blocks);
	p = put(p, sum->bytes);
	*length = (uint8_t)(p - length - 1);
	return p;
}

/* The magic last: until then, this is a chunk that was handed out and not begun. */
static bool write_chunk(struct tpa_control *control, uint8_t *chunk, const uint8_t *end)
{
	uint64_t size = control->header->chunk_size;
	uint64_t number = __atomic_fetch_add(&control->header->chunks, 1, __ATOMIC_RELAXED);
	off_t offset = (off_t)(control->header->header_size + number * size);
	struct tprof_chunk *head = (struct tprof_chunk *)chunk;
	uint32_t magic = TPROF_CHUNK_MAGIC;
	struct tprof_moment begin = control->header->start;

	errno = posix_fallocate(control->fd, offset, (off_t)size);
	if (errno)
		return false;
	memset(head, 0, sizeof(*head));
	head->kind = TPROF_CHUNK_TABLES;
	head->begin = begin;
	head->committed = (uint64_t)(end - chunk - (ptrdiff_t)sizeof(*head));
	return pwrite(control->fd, chunk, size, offset) == (ssize_t)size &&
	       pwrite(control->fd, &magic, sizeof(magic), offset) == sizeof(magic);
}

bool tpa_append_reach(struct tpa_control *control, const struct tpa_reach_sum *sums, size_t count)
{
	size_t size = control->header->chunk_size, i = 0;
	bool good = true;

	while (good && i < count) {
		uint8_t *chunk = calloc(1, size), *p;

		if (!chunk)
			return false;
		p = chunk + sizeof(struct tprof_chunk);
		for (; i < count && p + RECORD_MAX < chunk + size; i++)
			p = put_sum(p, &sums[i]);
		good = write_chunk(control, chunk, p);
		free(chunk);
	}
	return good;
}
