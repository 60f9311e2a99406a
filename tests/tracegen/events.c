/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "impl.h"

/* Whether the address is where the reader will look for it. */
static bool cached(const struct chunk *chunk, uint64_t address)
{
	return address && chunk->addresses[tprof_address_slot(address)] == address;
}

static void put_address(struct gen *gen, struct chunk *chunk, uint64_t address)
{
	if (cached(chunk, address)) {
		tg_byte(gen, tprof_address_slot(address));
		return;
	}
	tg_signed(gen, (int64_t)(address - chunk->address));
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
		tg_byte(gen, tprof_stack_slot(node));
		break;
	case TPROF_STACK_DELTA:
		tg_signed(gen, (int64_t)node - (int64_t)chunk->delta);
		chunk->delta = node;
		chunk->stacks[tprof_stack_slot(node)] = node;
		break;
	}
	chunk->stack = node;
}

static void put_long_alloc(struct gen *gen, struct chunk *chunk, uint64_t ticks, const struct gen_alloc *alloc,
			   uint64_t usable)
{
	tg_time(gen, chunk, ticks);
	tg_number(gen, alloc->address);
	tg_number(gen, alloc->size);
	tg_number(gen, usable);
	tg_byte(gen, alloc->fn);
	tg_byte(gen, alloc->alignment_log2);
	tg_number(gen, alloc->node);
	if (alloc->has_mean)
		tg_byte(gen, alloc->mean);
	tg_wrap(gen, TPROF_EVENT_ALLOC);
}

void gen_alloc(struct gen *gen, uint32_t thread, uint64_t ticks, const struct gen_alloc *alloc)
{
	struct chunk *chunk = tg_chunk(gen, thread, ticks, 80);
	uint64_t usable = alloc->usable ? alloc->usable : tprof_usable_guess(alloc->size), address = alloc->address / 8;
	unsigned tag = TPROF_CLASS_ALLOC;

	if (alloc->address % 8 || usable < alloc->size) {
		put_long_alloc(gen, chunk, ticks, alloc, usable);
		tg_append(gen, chunk);
		return;
	}
	tag |= cached(chunk, address) ? TPROF_TAG_ADDRESS_INDEX : 0;
	tag |= (unsigned)stack_form(chunk, alloc->node) << TPROF_ALLOC_STACK_SHIFT;
	tag |= usable != tprof_usable_guess(alloc->size) ? TPROF_ALLOC_USABLE : 0;
	tag |= alloc->fn != TPROF_FN_MALLOC || alloc->alignment_log2 ? TPROF_ALLOC_FN : 0;
	tag |= alloc->has_mean ? TPROF_ALLOC_MEAN : 0;
	tg_byte(gen, tag);
	tg_time(gen, chunk, ticks);
	put_address(gen, chunk, address);
	tg_number(gen, alloc->size);
	if (tag & TPROF_ALLOC_USABLE)
		tg_number(gen, usable - alloc->size);
	if (tag & TPROF_ALLOC_FN) {
		tg_byte(gen, alloc->fn);
		tg_byte(gen, alloc->alignment_log2);
	}
	if (alloc->has_mean)
		tg_byte(gen, alloc->mean);
	put_stack(gen, chunk, alloc->node);
	tg_append(gen, chunk);
}

void gen_release(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address, uint8_t fn)
{
	struct chunk *chunk = tg_chunk(gen, thread, ticks, 48);

	if (address % 8) {
		tg_time(gen, chunk, ticks);
		tg_number(gen, address);
		tg_byte(gen, fn);
		tg_wrap(gen, TPROF_EVENT_FREE);
		tg_append(gen, chunk);
		return;
	}
	tg_byte(gen, TPROF_CLASS_FREE | (cached(chunk, address / 8) ? TPROF_TAG_ADDRESS_INDEX : 0) |
			     (fn != TPROF_FN_FREE ? TPROF_FREE_FN : 0));
	tg_time(gen, chunk, ticks);
	put_address(gen, chunk, address / 8);
	if (fn != TPROF_FN_FREE)
		tg_byte(gen, fn);
	tg_append(gen, chunk);
}

void gen_long(struct gen *gen, uint32_t thread, uint64_t ticks, unsigned type, const void *body, size_t length)
{
	struct chunk *chunk = tg_chunk(gen, thread, ticks, length + 16);

	tg_bytes(gen, body, length);
	tg_end(gen, chunk, type);
}

void gen_raw(struct gen *gen, uint32_t thread, uint64_t ticks, const void *bytes, size_t length)
{
	struct chunk *chunk = tg_chunk(gen, thread, ticks, length);

	tg_bytes(gen, bytes, length);
	tg_append(gen, chunk);
}

void gen_cancel(struct gen *gen, uint32_t thread, uint64_t ticks)
{
	struct chunk *chunk = tg_begin(gen, thread, ticks, 16);

	tg_end(gen, chunk, TPROF_EVENT_CANCEL);
}

void gen_map(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address, uint64_t length, uint64_t flags,
	     uint32_t node)
{
	struct chunk *chunk = tg_begin(gen, thread, ticks, 64);

	tg_number(gen, address / 4096);
	tg_number(gen, length);
	tg_number(gen, 3);
	tg_number(gen, flags);
	tg_number(gen, node);
	tg_end(gen, chunk, TPROF_EVENT_MAP);
}

void gen_unmap(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address, uint64_t length, bool remap)
{
	struct chunk *chunk = tg_begin(gen, thread, ticks, 64);

	tg_number(gen, address / 4096);
	tg_number(gen, length);
	tg_number(gen, remap);
	tg_end(gen, chunk, TPROF_EVENT_UNMAP);
}

void gen_memory(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t rss, uint64_t vms)
{
	struct chunk *chunk = tg_begin(gen, thread, ticks, 48);

	tg_number(gen, rss / 4096);
	tg_number(gen, vms / 4096);
	tg_end(gen, chunk, TPROF_EVENT_MEMORY);
}

void gen_sample(struct gen *gen, uint32_t thread, uint64_t ticks, uint32_t node, uint64_t periods)
{
	struct chunk *chunk = tg_begin(gen, thread, ticks, 48);

	tg_number(gen, node);
	tg_number(gen, periods);
	tg_end(gen, chunk, TPROF_EVENT_SAMPLE);
}

void gen_name(struct gen *gen, uint32_t thread, uint64_t ticks, const char *name)
{
	struct chunk *chunk = tg_begin(gen, thread, ticks, strlen(name) + 16);

	tg_bytes(gen, name, strlen(name));
	tg_end(gen, chunk, TPROF_EVENT_NAME);
}

void gen_usage(struct gen *gen, uint32_t thread, uint64_t ticks, const uint64_t *counts)
{
	struct chunk *chunk = tg_begin(gen, thread, ticks, 96);

	for (int i = 0; i < 6; i++)
		tg_number(gen, counts[i]);
	tg_end(gen, chunk, TPROF_EVENT_USAGE);
}

void gen_step(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t items)
{
	struct chunk *chunk = tg_begin(gen, thread, ticks, 32);

	tg_number(gen, items);
	tg_end(gen, chunk, TPROF_EVENT_STEP);
}

void gen_plain(struct gen *gen, uint32_t thread, uint64_t ticks, unsigned type)
{
	struct chunk *chunk = tg_begin(gen, thread, ticks, 32);

	tg_end(gen, chunk, type);
}

void gen_mark(struct gen *gen, uint32_t thread, uint64_t ticks, const char *text)
{
	struct chunk *chunk = tg_begin(gen, thread, ticks, strlen(text) + 16);

	tg_bytes(gen, text, strlen(text));
	tg_end(gen, chunk, TPROF_EVENT_MARK);
}

void gen_pool_alloc(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t pool, const struct gen_alloc *alloc)
{
	struct chunk *chunk = tg_begin(gen, thread, ticks, 64);

	tg_number(gen, alloc->address);
	tg_number(gen, alloc->size);
	tg_number(gen, pool);
	tg_number(gen, alloc->node);
	if (alloc->has_mean)
		tg_byte(gen, alloc->mean);
	tg_end(gen, chunk, TPROF_EVENT_POOL_ALLOC);
}

void gen_level(struct gen *gen, uint32_t thread, uint64_t ticks, uint8_t mean, bool ops)
{
	struct chunk *chunk = tg_begin(gen, thread, ticks, 32);

	tg_byte(gen, mean);
	tg_byte(gen, ops);
	tg_end(gen, chunk, TPROF_EVENT_LEVEL);
}

void gen_pool_free(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address, bool whole_pool)
{
	struct chunk *chunk = tg_begin(gen, thread, ticks, 32);

	tg_number(gen, address);
	tg_byte(gen, whole_pool);
	tg_end(gen, chunk, TPROF_EVENT_POOL_FREE);
}
