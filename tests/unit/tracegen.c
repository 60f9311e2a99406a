/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracegen.h"

#define RECORD_MAX 4096 /* of one record, whatever is in it */

struct chunk {
	struct tprof_chunk header;
	uint8_t *bytes; /* records */
	size_t used;
	uint32_t owner; /* thread, 0: nobody */
	uint64_t time;
	uint64_t address;
	uint32_t stack, delta;
	uint64_t addresses[256];
	uint32_t stacks[256];
	uint32_t expected; /* tables */
	uint32_t python;   /* of the last JOIN */
};

struct gen {
	struct tprof_header header;
	uint8_t *text;
	size_t text_used;
	struct chunk *chunks;
	size_t chunk_count;
	size_t table; /* index + 1 of the current table chunk */
	uint8_t record[RECORD_MAX + 64];
	size_t length;
	uint8_t *file;
};

static void die(const char *what)
{
	fprintf(stderr, "tracegen: %s\n", what);
	abort();
}

static void *must(void *memory)
{
	if (!memory)
		die("out of memory");
	return memory;
}

struct gen *gen_new(const struct gen_options *options)
{
	struct gen *gen = must(calloc(1, sizeof(*gen)));
	struct tprof_header *header = &gen->header;

	memcpy(header->magic, TPROF_MAGIC, sizeof(header->magic));
	header->version = TPROF_VERSION;
	header->header_size = options->header_size ? options->header_size : 4096;
	header->chunk_size = options->chunk_size ? options->chunk_size : 4096;
	header->page_size = 4096;
	header->pid = options->pid ? options->pid : 4711;
	header->ppid = 1;
	header->origin = options->origin ? options->origin : TPROF_ORIGIN_FIRST;
	header->clock = options->clock ? options->clock : TPROF_CLOCK_MONOTONIC;
	header->tick_shift = options->tick_shift;
	header->depth = 256;
	header->start = (struct tprof_moment){ options->start_ticks, options->start_ticks, options->start_unix_ns };
	gen->text = must(calloc(1, header->header_size));
	gen->text_used = sizeof(*header) < TPROF_TEXT_OFFSET ? TPROF_TEXT_OFFSET : sizeof(*header);
	return gen;
}

void gen_free(struct gen *gen)
{
	size_t i;

	for (i = 0; i < gen->chunk_count; i++)
		free(gen->chunks[i].bytes);
	free(gen->chunks);
	free(gen->text);
	free(gen->file);
	free(gen);
}

struct tprof_header *gen_header(struct gen *gen)
{
	return &gen->header;
}

void gen_text(struct gen *gen, enum tprof_text which, const void *text, size_t length)
{
	if (gen->text_used + length > gen->header.header_size)
		die("too much text");
	memcpy(gen->text + gen->text_used, text, length);
	gen->header.text[which] = (struct tprof_span){ (uint32_t)gen->text_used, (uint32_t)length };
	gen->text_used += length;
}

/* ---- numbers ---- */

static void put_byte(struct gen *gen, unsigned byte)
{
	if (gen->length >= RECORD_MAX)
		die("record too long");
	gen->record[gen->length++] = (uint8_t)byte;
}

static void put(struct gen *gen, uint64_t n)
{
	for (; n >= 128; n /= 128)
		put_byte(gen, (unsigned)(n % 128) + 128);
	put_byte(gen, (unsigned)n);
}

/* Differences modulo 2^64: small ones of either sign are short. */
static void put_signed(struct gen *gen, int64_t n)
{
	put(gen, n < 0 ? ~((uint64_t)n << 1) : (uint64_t)n << 1);
}

static void put_bytes(struct gen *gen, const void *bytes, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		put_byte(gen, ((const uint8_t *)bytes)[i]);
}

static size_t number_length(uint64_t n)
{
	size_t length = 1;

	for (; n >= 128; n /= 128)
		length++;
	return length;
}

/* Turns the record so far into the body of a LONG record. */
static void wrap_long(struct gen *gen, unsigned type)
{
	size_t body = gen->length, head = 1 + number_length(body);

	memmove(gen->record + head, gen->record, body);
	gen->length = 0;
	put_byte(gen, type * 4);
	put(gen, body);
	gen->length += body;
}

/* ---- chunks ---- */

static struct chunk *new_chunk(struct gen *gen, enum tprof_chunk_kind kind, uint32_t thread, uint64_t ticks)
{
	const struct tprof_header *header = &gen->header;
	struct chunk *chunk;

	gen->chunks = must(realloc(gen->chunks, (gen->chunk_count + 1) * sizeof(*gen->chunks)));
	chunk = &gen->chunks[gen->chunk_count++];
	memset(chunk, 0, sizeof(*chunk));
	chunk->bytes = must(calloc(1, header->chunk_size));
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

static bool fits(const struct gen *gen, const struct chunk *chunk, size_t length)
{
	return chunk->used + length <= gen->header.chunk_size - sizeof(chunk->header);
}

static void append(struct gen *gen, struct chunk *chunk)
{
	if (!fits(gen, chunk, gen->length))
		die("record does not fit a chunk");
	memcpy(chunk->bytes + chunk->used, gen->record, gen->length);
	chunk->used += gen->length;
	gen->length = 0;
}

static void take_over(struct gen *gen, struct chunk *chunk, uint32_t thread, uint64_t ticks)
{
	gen->length = 0;
	put(gen, ticks);
	put(gen, thread);
	put(gen, gen->header.pid + thread - 1);
	wrap_long(gen, TPROF_EVENT_THREAD);
	append(gen, chunk);
	chunk->owner = thread;
	chunk->time = ticks >> gen->header.tick_shift;
	chunk->address = chunk->stack = chunk->delta = 0;
	memset(chunk->addresses, 0, sizeof(chunk->addresses));
	memset(chunk->stacks, 0, sizeof(chunk->stacks));
}

/* The thread's chunk, with room for a record of about `length` bytes. */
static struct chunk *chunk_of(struct gen *gen, uint32_t thread, uint64_t ticks, size_t length)
{
	struct chunk *abandoned = NULL;
	size_t i;

	for (i = 0; i < gen->chunk_count; i++) {
		struct chunk *chunk = &gen->chunks[i];

		if (chunk->header.kind != TPROF_CHUNK_EVENTS)
			continue;
		if (chunk->owner == thread && fits(gen, chunk, length))
			return chunk;
		if (chunk->owner == thread)
			chunk->owner = UINT32_MAX; /* full */
		if (!chunk->owner && fits(gen, chunk, length + 64) && chunk->time <= ticks >> gen->header.tick_shift)
			abandoned = chunk;
	}
	if (!abandoned)
		return new_chunk(gen, TPROF_CHUNK_EVENTS, thread, ticks);
	take_over(gen, abandoned, thread, ticks);
	return abandoned;
}

void gen_overhead(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t samples)
{
	size_t i;

	for (i = 0; i < gen->chunk_count; i++)
		if (gen->chunks[i].owner == thread) {
			gen->chunks[i].header.overhead_ticks = 64 * ticks * samples;
			gen->chunks[i].header.overhead_samples = samples;
		}
}

void gen_end_thread(struct gen *gen, uint32_t thread)
{
	size_t i;

	for (i = 0; i < gen->chunk_count; i++)
		if (gen->chunks[i].owner == thread)
			gen->chunks[i].owner = 0;
}

/* ---- tables ---- */

static struct chunk *table_of(struct gen *gen, size_t length)
{
	if (!gen->table || !fits(gen, &gen->chunks[gen->table - 1], length)) {
		new_chunk(gen, TPROF_CHUNK_TABLES, 0, gen->header.start.ticks);
		gen->table = gen->chunk_count;
	}
	return &gen->chunks[gen->table - 1];
}

void gen_module(struct gen *gen, uint32_t module, uint64_t bias, uint64_t start, uint64_t end, const char *path)
{
	put(gen, module);
	put(gen, bias);
	put(gen, start);
	put(gen, end);
	put(gen, gen->header.start.ticks);
	put_byte(gen, 4);
	put_bytes(gen, "\1\2\3\4", 4);
	put_bytes(gen, path, strlen(path));
	wrap_long(gen, TPROF_TABLE_MODULE);
	append(gen, table_of(gen, gen->length));
}

void gen_unload(struct gen *gen, uint32_t module, uint64_t ticks)
{
	put(gen, module);
	put(gen, ticks);
	wrap_long(gen, TPROF_TABLE_UNLOAD);
	append(gen, table_of(gen, gen->length));
}

void gen_frame(struct gen *gen, uint32_t frame, uint32_t module, uint64_t offset, uint8_t flags)
{
	put(gen, frame);
	put(gen, module);
	put(gen, offset);
	put_byte(gen, flags);
	wrap_long(gen, TPROF_TABLE_FRAME);
	append(gen, table_of(gen, gen->length));
}

void gen_nodes(struct gen *gen, uint32_t first, uint32_t parent, const uint32_t *frames, size_t count)
{
	struct chunk *table = table_of(gen, 32 + 5 * count);
	size_t i;

	put_byte(gen, TPROF_CLASS_NODES + (count < 64 ? (unsigned)count * 4 : 0));
	if (count >= 64)
		put(gen, count);
	put_signed(gen, (int64_t)first - (int64_t)table->expected);
	put(gen, parent < TPROF_NODE_FIRST ? parent * 2u + 1 : (first - parent) * 2u);
	for (i = 0; i < count; i++)
		put(gen, frames[i]);
	table->expected = first + (uint32_t)count;
	append(gen, table);
}

void gen_code(struct gen *gen, uint32_t code, uint32_t first_line, const char *name, const char *file)
{
	put(gen, code);
	put(gen, first_line);
	put(gen, strlen(name));
	put_bytes(gen, name, strlen(name));
	put_bytes(gen, file, strlen(file));
	wrap_long(gen, TPROF_TABLE_CODE);
	append(gen, table_of(gen, gen->length));
}

void gen_python(struct gen *gen, uint32_t frame, uint32_t code, uint32_t line, uint8_t flags)
{
	put(gen, frame);
	put(gen, code);
	put(gen, line);
	put_byte(gen, flags);
	wrap_long(gen, TPROF_TABLE_PYTHON);
	append(gen, table_of(gen, gen->length));
}

void gen_join(struct gen *gen, uint32_t node, uint32_t native, uint32_t python)
{
	struct chunk *table = table_of(gen, 32);
	unsigned tag = TPROF_CLASS_JOIN | (node != table->expected ? TPROF_JOIN_NODE : 0) |
		       (native + 1 != node ? TPROF_JOIN_NATIVE : 0) | (python != table->python ? TPROF_JOIN_PYTHON : 0);

	put_byte(gen, tag);
	if (tag & TPROF_JOIN_NODE)
		put_signed(gen, (int64_t)node - (int64_t)table->expected);
	if (tag & TPROF_JOIN_NATIVE)
		put(gen, node - native);
	if (tag & TPROF_JOIN_PYTHON)
		put_signed(gen, (int64_t)python - (int64_t)table->python);
	table->expected = node + 1;
	table->python = python;
	append(gen, table);
}

void gen_op(struct gen *gen, uint32_t op, uint8_t origin, const char *category, const char *name)
{
	put(gen, op);
	put_byte(gen, origin);
	put_byte(gen, (unsigned)strlen(category));
	put_bytes(gen, category, strlen(category));
	put_bytes(gen, name, strlen(name));
	wrap_long(gen, TPROF_TABLE_OP);
	append(gen, table_of(gen, gen->length));
}

void gen_op_code(struct gen *gen, uint32_t op, uint8_t origin, const char *category, uint32_t frame)
{
	put(gen, op);
	put_byte(gen, origin);
	put_byte(gen, (unsigned)strlen(category));
	put_bytes(gen, category, strlen(category));
	put(gen, frame);
	wrap_long(gen, TPROF_TABLE_OP_CODE);
	append(gen, table_of(gen, gen->length));
}

void gen_value(struct gen *gen, const char *name, uint64_t value)
{
	put(gen, value);
	put_bytes(gen, name, strlen(name));
	wrap_long(gen, TPROF_TABLE_VALUE);
	append(gen, table_of(gen, gen->length));
}

void gen_counter(struct gen *gen, uint32_t number, uint32_t error, uint8_t flags, const char *name)
{
	put(gen, number);
	put(gen, error);
	put_byte(gen, flags);
	put_bytes(gen, name, strlen(name));
	wrap_long(gen, TPROF_TABLE_COUNTER);
	append(gen, table_of(gen, gen->length));
}

void gen_hooks(struct gen *gen, uint8_t state, uint64_t pointers, uint64_t functions, const char *object)
{
	put_byte(gen, state);
	put(gen, pointers);
	put(gen, functions);
	put_bytes(gen, object, strlen(object));
	wrap_long(gen, TPROF_TABLE_HOOKS);
	append(gen, table_of(gen, gen->length));
}

void gen_reach(struct gen *gen, uint64_t ticks, uint8_t reach, uint32_t node, uint32_t op, uint64_t blocks,
	       uint64_t bytes)
{
	put(gen, ticks);
	put_byte(gen, reach);
	put(gen, node);
	put(gen, op);
	put(gen, blocks);
	put(gen, bytes);
	wrap_long(gen, TPROF_TABLE_REACH);
	append(gen, table_of(gen, gen->length));
}

/* ---- events ---- */

static void put_time(struct gen *gen, struct chunk *chunk, uint64_t ticks)
{
	uint64_t time = ticks >> gen->header.tick_shift;

	if (time < chunk->time)
		die("time runs backwards");
	put(gen, time - chunk->time);
	chunk->time = time;
}

/* Whether the address is where the reader will look for it. */
static bool cached(const struct chunk *chunk, uint64_t address)
{
	return address && chunk->addresses[tprof_address_slot(address)] == address;
}

static void put_address(struct gen *gen, struct chunk *chunk, uint64_t address)
{
	if (cached(chunk, address)) {
		put_byte(gen, tprof_address_slot(address));
		return;
	}
	put_signed(gen, (int64_t)(address - chunk->address));
	chunk->address = address;
	chunk->addresses[tprof_address_slot(address)] = address;
}

static enum tprof_stack_form stack_form(const struct chunk *chunk, uint32_t node)
{
	if (node == chunk->stack)
		return TPROF_STACK_SAME;
	return chunk->stacks[tprof_stack_slot(node)] == node ? TPROF_STACK_INDEX : TPROF_STACK_DELTA;
}

static void put_stack(struct gen *gen, struct chunk *chunk, uint32_t node)
{
	switch (stack_form(chunk, node)) {
	case TPROF_STACK_SAME:
		break;
	case TPROF_STACK_INDEX:
		put_byte(gen, tprof_stack_slot(node));
		break;
	case TPROF_STACK_DELTA:
		put_signed(gen, (int64_t)node - (int64_t)chunk->delta);
		chunk->delta = node;
		chunk->stacks[tprof_stack_slot(node)] = node;
		break;
	}
	chunk->stack = node;
}

static void put_long_alloc(struct gen *gen, struct chunk *chunk, uint64_t ticks, const struct gen_alloc *alloc,
			   uint64_t usable)
{
	put_time(gen, chunk, ticks);
	put(gen, alloc->address);
	put(gen, alloc->size);
	put(gen, usable);
	put_byte(gen, alloc->fn);
	put_byte(gen, alloc->alignment_log2);
	put(gen, alloc->node);
	wrap_long(gen, TPROF_EVENT_ALLOC);
}

void gen_alloc(struct gen *gen, uint32_t thread, uint64_t ticks, const struct gen_alloc *alloc)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, 80);
	uint64_t usable = alloc->usable ? alloc->usable : tprof_usable_guess(alloc->size), address = alloc->address / 8;
	unsigned tag = TPROF_CLASS_ALLOC;

	if (alloc->address % 8 || usable < alloc->size) {
		put_long_alloc(gen, chunk, ticks, alloc, usable);
		append(gen, chunk);
		return;
	}
	tag |= cached(chunk, address) ? TPROF_TAG_ADDRESS_INDEX : 0;
	tag |= (unsigned)stack_form(chunk, alloc->node) << TPROF_ALLOC_STACK_SHIFT;
	tag |= usable != tprof_usable_guess(alloc->size) ? TPROF_ALLOC_USABLE : 0;
	tag |= alloc->fn != TPROF_FN_MALLOC || alloc->alignment_log2 ? TPROF_ALLOC_FN : 0;
	put_byte(gen, tag);
	put_time(gen, chunk, ticks);
	put_address(gen, chunk, address);
	put(gen, alloc->size);
	if (tag & TPROF_ALLOC_USABLE)
		put(gen, usable - alloc->size);
	if (tag & TPROF_ALLOC_FN) {
		put_byte(gen, alloc->fn);
		put_byte(gen, alloc->alignment_log2);
	}
	put_stack(gen, chunk, alloc->node);
	append(gen, chunk);
}

void gen_release(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address, uint8_t fn)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, 48);

	if (address % 8) {
		put_time(gen, chunk, ticks);
		put(gen, address);
		put_byte(gen, fn);
		wrap_long(gen, TPROF_EVENT_FREE);
		append(gen, chunk);
		return;
	}
	put_byte(gen, TPROF_CLASS_FREE | (cached(chunk, address / 8) ? TPROF_TAG_ADDRESS_INDEX : 0) |
			      (fn != TPROF_FN_FREE ? TPROF_FREE_FN : 0));
	put_time(gen, chunk, ticks);
	put_address(gen, chunk, address / 8);
	if (fn != TPROF_FN_FREE)
		put_byte(gen, fn);
	append(gen, chunk);
}

static void put_work(struct gen *gen, const struct gen_work *work)
{
	put(gen, work->kind);
	put_byte(gen, work->dtype);
	put_byte(gen, work->flags);
	for (size_t i = 0; i < work->count; i++)
		put(gen, work->dims[i]);
}

void gen_work(struct gen *gen, uint32_t thread, uint64_t ticks, const struct gen_work *work)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, 160);

	put_time(gen, chunk, ticks);
	put_work(gen, work);
	wrap_long(gen, TPROF_EVENT_WORK);
	append(gen, chunk);
}

void gen_fold(struct gen *gen, uint32_t thread, uint64_t ticks, uint32_t op, const struct gen_work *work,
	      const struct tprof_fold *counts)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, 320);
	size_t length, at;

	put_time(gen, chunk, ticks);
	put(gen, op);
	at = gen->length;
	put_byte(gen, 0);
	if (work)
		put_work(gen, work);
	length = gen->length - at - 1;
	gen->record[at] = (uint8_t)length;
	put_bytes(gen, "\0\0", 3); /* padding */
	put_bytes(gen, counts, sizeof(*counts));
	wrap_long(gen, TPROF_EVENT_FOLD);
	append(gen, chunk);
}

void gen_long(struct gen *gen, uint32_t thread, uint64_t ticks, unsigned type, const void *body, size_t length)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, length + 16);

	put_bytes(gen, body, length);
	wrap_long(gen, type);
	append(gen, chunk);
}

void gen_raw(struct gen *gen, uint32_t thread, uint64_t ticks, const void *bytes, size_t length)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, length);

	put_bytes(gen, bytes, length);
	append(gen, chunk);
}

void gen_cancel(struct gen *gen, uint32_t thread, uint64_t ticks)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, 16);

	put_time(gen, chunk, ticks);
	wrap_long(gen, TPROF_EVENT_CANCEL);
	append(gen, chunk);
}

void gen_map(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address, uint64_t length, uint64_t flags,
	     uint32_t node)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, 64);

	put_time(gen, chunk, ticks);
	put(gen, address / 4096);
	put(gen, length);
	put(gen, 3);
	put(gen, flags);
	put(gen, node);
	wrap_long(gen, TPROF_EVENT_MAP);
	append(gen, chunk);
}

void gen_unmap(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address, uint64_t length, bool remap)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, 64);

	put_time(gen, chunk, ticks);
	put(gen, address / 4096);
	put(gen, length);
	put(gen, remap);
	wrap_long(gen, TPROF_EVENT_UNMAP);
	append(gen, chunk);
}

void gen_memory(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t rss, uint64_t vms)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, 48);

	put_time(gen, chunk, ticks);
	put(gen, rss / 4096);
	put(gen, vms / 4096);
	wrap_long(gen, TPROF_EVENT_MEMORY);
	append(gen, chunk);
}

void gen_sample(struct gen *gen, uint32_t thread, uint64_t ticks, uint32_t node, uint64_t periods)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, 48);

	put_time(gen, chunk, ticks);
	put(gen, node);
	put(gen, periods);
	wrap_long(gen, TPROF_EVENT_SAMPLE);
	append(gen, chunk);
}

void gen_name(struct gen *gen, uint32_t thread, uint64_t ticks, const char *name)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, strlen(name) + 16);

	put_time(gen, chunk, ticks);
	put_bytes(gen, name, strlen(name));
	wrap_long(gen, TPROF_EVENT_NAME);
	append(gen, chunk);
}

void gen_op_begin(struct gen *gen, uint32_t thread, uint64_t ticks, uint32_t op)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, 32);

	put_byte(gen, TPROF_CLASS_OP);
	put_time(gen, chunk, ticks);
	put(gen, op);
	append(gen, chunk);
}

void gen_op_end(struct gen *gen, uint32_t thread, uint64_t ticks, bool unwound)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, 16);

	put_byte(gen, TPROF_CLASS_OP | TPROF_OP_END | (unwound ? TPROF_OP_UNWOUND : 0));
	put_time(gen, chunk, ticks);
	append(gen, chunk);
}

void gen_detail(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t flop, uint64_t bytes, const char *shape)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, strlen(shape) + 48);

	put_time(gen, chunk, ticks);
	put(gen, flop);
	put(gen, bytes);
	put_bytes(gen, shape, strlen(shape));
	wrap_long(gen, TPROF_EVENT_DETAIL);
	append(gen, chunk);
}

void gen_step(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t items)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, 32);

	put_time(gen, chunk, ticks);
	put(gen, items);
	wrap_long(gen, TPROF_EVENT_STEP);
	append(gen, chunk);
}

void gen_plain(struct gen *gen, uint32_t thread, uint64_t ticks, unsigned type)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, 32);

	put_time(gen, chunk, ticks);
	wrap_long(gen, type);
	append(gen, chunk);
}

void gen_mark(struct gen *gen, uint32_t thread, uint64_t ticks, const char *text)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, strlen(text) + 16);

	put_time(gen, chunk, ticks);
	put_bytes(gen, text, strlen(text));
	wrap_long(gen, TPROF_EVENT_MARK);
	append(gen, chunk);
}

void gen_counters(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t idle_ns, const uint64_t *increases,
		  size_t count)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, 10 * count + 48);

	put_time(gen, chunk, ticks);
	put(gen, idle_ns);
	for (size_t i = 0; i < count; i++)
		put(gen, increases[i]);
	wrap_long(gen, TPROF_EVENT_COUNTERS);
	append(gen, chunk);
}

void gen_pool_alloc(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t pool, const struct gen_alloc *alloc)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, 64);

	put_time(gen, chunk, ticks);
	put(gen, alloc->address);
	put(gen, alloc->size);
	put(gen, pool);
	put(gen, alloc->node);
	wrap_long(gen, TPROF_EVENT_POOL_ALLOC);
	append(gen, chunk);
}

void gen_pool_free(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address, bool whole_pool)
{
	struct chunk *chunk = chunk_of(gen, thread, ticks, 32);

	put_time(gen, chunk, ticks);
	put(gen, address);
	put_byte(gen, whole_pool);
	wrap_long(gen, TPROF_EVENT_POOL_FREE);
	append(gen, chunk);
}

void gen_finish(struct gen *gen, uint64_t ticks, int status)
{
	gen->header.end = TPROF_END_EXIT;
	gen->header.end_status = status;
	gen->header.finish =
		(struct tprof_moment){ ticks, ticks, gen->header.start.unix_ns + (ticks - gen->header.start.ticks) };
}

/* ---- the file ---- */

const uint8_t *gen_bytes(struct gen *gen, size_t *size)
{
	size_t head = gen->header.header_size, i;

	*size = head + gen->chunk_count * gen->header.chunk_size;
	free(gen->file);
	gen->file = must(calloc(1, *size));
	memcpy(gen->file, gen->text, head);
	memcpy(gen->file, &gen->header, sizeof(gen->header));
	for (i = 0; i < gen->chunk_count; i++) {
		uint8_t *at = gen->file + head + i * gen->header.chunk_size;
		struct chunk *chunk = &gen->chunks[i];

		chunk->header.committed = chunk->used;
		memcpy(at, &chunk->header, sizeof(chunk->header));
		memcpy(at + sizeof(chunk->header), chunk->bytes, chunk->used);
	}
	return gen->file;
}

const char *gen_save_bytes(const void *bytes, size_t size)
{
	static char name[256];
	const char *folder = getenv("TMPDIR");
	int fd;

	snprintf(name, sizeof(name), "%s/tracegen.XXXXXX", folder ? folder : "/tmp");
	fd = mkstemp(name);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd) < 0)
		die("can't write a temporary file");
	return name;
}

const char *gen_save(struct gen *gen)
{
	size_t size;
	const uint8_t *bytes = gen_bytes(gen, &size);

	return gen_save_bytes(bytes, size);
}
