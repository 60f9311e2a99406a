/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"

_Noreturn void tg_die(const char *what)
{
	fprintf(stderr, "tracegen: %s\n", what);
	abort();
}

void *tg_must(void *memory)
{
	if (!memory)
		tg_die("out of memory");
	return memory;
}

void tg_byte(struct gen *gen, unsigned byte)
{
	if (gen->length >= RECORD_MAX)
		tg_die("record too long");
	gen->record[gen->length++] = (uint8_t)byte;
}

void tg_number(struct gen *gen, uint64_t n)
{
	for (; n >= 128; n /= 128)
		tg_byte(gen, (unsigned)(n % 128) + 128);
	tg_byte(gen, (unsigned)n);
}

void tg_signed(struct gen *gen, int64_t n)
{
	tg_number(gen, n < 0 ? ~((uint64_t)n << 1) : (uint64_t)n << 1);
}

void tg_bytes(struct gen *gen, const void *bytes, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		tg_byte(gen, ((const uint8_t *)bytes)[i]);
}

static size_t number_length(uint64_t n)
{
	size_t length = 1;

	for (; n >= 128; n /= 128)
		length++;
	return length;
}

void tg_wrap(struct gen *gen, unsigned type)
{
	size_t body = gen->length, head = 1 + number_length(body);

	memmove(gen->record + head, gen->record, body);
	gen->length = 0;
	tg_byte(gen, type * 4);
	tg_number(gen, body);
	gen->length += body;
}

void tg_time(struct gen *gen, struct chunk *chunk, uint64_t ticks)
{
	uint64_t time = ticks >> gen->header.tick_shift;

	if (time < chunk->time)
		tg_die("time runs backwards");
	tg_number(gen, time - chunk->time);
	chunk->time = time;
}

static struct chunk *tg_new_chunk(struct gen *gen, enum tprof_chunk_kind kind, uint32_t thread, uint64_t ticks)
{
	const struct tprof_header *header = &gen->header;
	struct chunk *chunk;

	gen->chunks = tg_must(realloc(gen->chunks, (gen->chunk_count + 1) * sizeof(*gen->chunks)));
	chunk = &gen->chunks[gen->chunk_count++];
	memset(chunk, 0, sizeof(*chunk));
	chunk->bytes = tg_must(calloc(1, header->chunk_size));
	chunk->header.magic = TPROF_CHUNK_MAGIC;
	chunk->header.kind = kind;
	chunk->header.thread = thread;
	chunk->header.tid = thread ? header->pid + thread - 1 : 0;
	chunk->header.begin.ticks = ticks;
	chunk->header.begin.mono_ns = ticks;
	chunk->header.begin.unix_ns = header->start.unix_ns + (ticks - header->start.ticks);
	chunk->owner = thread;
	chunk->time = ticks >> header->tick_shift;
	gen->header.chunks = gen->chunk_count;
	return chunk;
}

static bool tg_fits(const struct gen *gen, const struct chunk *chunk, size_t length)
{
	return chunk->used + length <= gen->header.chunk_size - sizeof(chunk->header);
}

void tg_append(struct gen *gen, struct chunk *chunk)
{
	if (!tg_fits(gen, chunk, gen->length))
		tg_die("record does not fit a chunk");
	memcpy(chunk->bytes + chunk->used, gen->record, gen->length);
	chunk->used += gen->length;
	gen->length = 0;
}

static void take_over(struct gen *gen, struct chunk *chunk, uint32_t thread, uint64_t ticks)
{
	gen->length = 0;
	tg_number(gen, ticks);
	tg_number(gen, thread);
	tg_number(gen, gen->header.pid + thread - 1);
	tg_wrap(gen, TPROF_EVENT_THREAD);
	tg_append(gen, chunk);
	chunk->owner = thread;
	chunk->time = ticks >> gen->header.tick_shift;
	chunk->address = chunk->stack = chunk->delta = 0;
	memset(chunk->addresses, 0, sizeof(chunk->addresses));
	memset(chunk->stacks, 0, sizeof(chunk->stacks));
}

struct chunk *tg_chunk(struct gen *gen, uint32_t thread, uint64_t ticks, size_t length)
{
	struct chunk *abandoned = NULL;
	size_t i;

	for (i = 0; i < gen->chunk_count; i++) {
		struct chunk *chunk = &gen->chunks[i];

		if (chunk->header.kind != TPROF_CHUNK_EVENTS)
			continue;
		if (chunk->owner == thread && tg_fits(gen, chunk, length))
			return chunk;
		if (chunk->owner == thread)
			chunk->owner = UINT32_MAX; /* full */
		if (!chunk->owner && tg_fits(gen, chunk, length + 64) && chunk->time <= ticks >> gen->header.tick_shift)
			abandoned = chunk;
	}
	if (!abandoned)
		return tg_new_chunk(gen, TPROF_CHUNK_EVENTS, thread, ticks);
	take_over(gen, abandoned, thread, ticks);
	return abandoned;
}

struct chunk *tg_table(struct gen *gen, size_t length)
{
	if (!gen->table || !tg_fits(gen, &gen->chunks[gen->table - 1], length)) {
		tg_new_chunk(gen, TPROF_CHUNK_TABLES, 0, gen->header.start.ticks);
		gen->table = gen->chunk_count;
	}
	return &gen->chunks[gen->table - 1];
}

struct chunk *tg_begin(struct gen *gen, uint32_t thread, uint64_t ticks, size_t length)
{
	struct chunk *chunk = tg_chunk(gen, thread, ticks, length);

	tg_time(gen, chunk, ticks);
	return chunk;
}

void tg_end(struct gen *gen, struct chunk *chunk, unsigned type)
{
	tg_wrap(gen, type);
	tg_append(gen, chunk);
}

void tg_end_table(struct gen *gen, unsigned type)
{
	tg_wrap(gen, type);
	tg_append(gen, tg_table(gen, gen->length));
}
