/* SPDX-License-Identifier: Apache-2.0 */
#include "core/emit.h"

#include "core/state.h"
#include "core/sys.h"

uint32_t tp_emit_shift TP_LOOKED_AT;

/* Tag and a place for the length of a LONG record, then the time passed. */
static uint8_t *begin(struct tp_thread *thread, enum tprof_event_type type, uint64_t ticks)
{
	uint8_t *p = thread->at;

	p[0] = (uint8_t)(type << 2);
	return tp_put_uvarint(p + 2, tp_emit_time(thread, ticks));
}

static void end(struct tp_thread *thread, uint8_t *p)
{
	tp_put_length(thread->at + 1, p);
	tp_emit_end(thread, p);
}

static void emit_long_alloc(struct tp_thread *thread, uint64_t ticks, const struct tp_block *block)
{
	uint8_t *p;

	if (!tp_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_ALLOC, ticks);
	p = tp_put_uvarint(p, block->address);
	p = tp_put_uvarint(p, block->size);
	p = tp_put_uvarint(p, block->usable);
	*p++ = block->fn;
	*p++ = block->alignment;
	end(thread, tp_put_uvarint(p, block->node));
}

static void emit_long_free(struct tp_thread *thread, uint64_t ticks, uint64_t address, uint8_t fn)
{
	uint8_t *p;

	if (!tp_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_FREE, ticks);
	p = tp_put_uvarint(p, address);
	*p++ = fn;
	end(thread, p);
}

void tp_emit_plain(struct tp_thread *thread, uint64_t ticks, enum tprof_event_type type)
{
	if (tp_emit_room(thread))
		end(thread, begin(thread, type, ticks));
}

void tp_emit_alloc(struct tp_thread *thread, uint64_t ticks, const struct tp_block *block)
{
	if (block->address & 7)
		emit_long_alloc(thread, ticks, block);
	else if (tp_emit_room(thread))
		tp_emit_short_alloc(thread, ticks >> tp_emit_shift, *block);
}

static void emit_short_free(struct tp_thread *thread, uint64_t now, uint64_t address, uint8_t fn)
{
	uint32_t tag = TPROF_CLASS_FREE;
	uint8_t *at = thread->at;
	uint8_t *p = tp_emit_passed(thread, at + 1, now);

	p = tp_emit_address(thread, p, &tag, address);
	if (fn != TPROF_FN_FREE) {
		tag |= TPROF_FREE_FN;
		*p++ = fn;
	}
	*at = (uint8_t)tag;
	tp_emit_end(thread, p);
}

void tp_emit_free(struct tp_thread *thread, uint64_t ticks, uint64_t address, uint8_t fn)
{
	if (address & 7)
		emit_long_free(thread, ticks, address, fn);
	else if (tp_emit_room(thread))
		emit_short_free(thread, ticks >> tp_emit_shift, address, fn);
}

void tp_emit_cancel(struct tp_thread *thread, uint64_t ticks)
{
	tp_emit_plain(thread, ticks, TPROF_EVENT_CANCEL);
}

void tp_emit_map(struct tp_thread *thread, uint64_t ticks, const struct tp_map *map)
{
	uint8_t *p;

	if (!tp_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_MAP, ticks);
	p = tp_put_uvarint(p, map->address / TP_PAGE);
	p = tp_put_uvarint(p, map->length);
	p = tp_put_uvarint(p, map->protection);
	p = tp_put_uvarint(p, map->flags);
	end(thread, tp_put_uvarint(p, map->node));
}

void tp_emit_unmap(struct tp_thread *thread, uint64_t ticks, uint64_t address, uint64_t length, bool remap)
{
	uint8_t *p;

	if (!tp_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_UNMAP, ticks);
	p = tp_put_uvarint(p, address / TP_PAGE);
	p = tp_put_uvarint(p, length);
	end(thread, tp_put_uvarint(p, remap));
}

void tp_emit_memory(struct tp_thread *thread, uint64_t ticks, const struct tp_memory *memory,
		    const struct tp_resident *resident)
{
	uint8_t *p;

	if (!tp_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_MEMORY, ticks);
	p = tp_put_uvarint(p, memory->rss / TP_PAGE);
	p = tp_put_uvarint(p, memory->vms / TP_PAGE);
	p = tp_put_uvarint(p, memory->shared / TP_PAGE);
	if (resident) {
		p = tp_put_uvarint(p, resident->own / TP_PAGE);
		p = tp_put_uvarint(p, resident->stacks / TP_PAGE);
		p = tp_put_uvarint(p, resident->mapped / TP_PAGE);
	}
	end(thread, p);
}

void tp_emit_region(struct tp_thread *thread, uint64_t ticks, const struct tp_region *region)
{
	uint8_t *p;

	if (!tp_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_REGION, ticks);
	*p++ = (uint8_t)region->kind;
	p = tp_put_uvarint(p, region->low / TP_PAGE);
	p = tp_put_uvarint(p, (region->high - region->low) / TP_PAGE);
	p = tp_put_uvarint(p, region->file);
	for (size_t i = 0; i < TPROF_REGION_SIZES; i++)
		p = tp_put_uvarint(p, region->kib[i]);
	end(thread, p);
}

void tp_emit_allocator(struct tp_thread *thread, uint64_t ticks, const uint64_t *numbers)
{
	uint8_t *p;

	if (!tp_emit_room(thread))
		return;
	p = tp_put_uvarint(begin(thread, TPROF_EVENT_ALLOCATOR, ticks), TPROF_ALLOCATOR_JEMALLOC);
	for (size_t i = 0; i < TPROF_ALLOCATOR_NUMBERS; i++)
		p = tp_put_uvarint(p, numbers[i]);
	end(thread, p);
}

void tp_emit_sample(struct tp_thread *thread, uint64_t ticks, uint32_t node, uint64_t periods)
{
	uint8_t *p;

	if (!tp_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_SAMPLE, ticks);
	p = tp_put_uvarint(p, node);
	end(thread, tp_put_uvarint(p, periods));
}

void tp_emit_name(struct tp_thread *thread, const char *name, size_t length)
{
	uint8_t *p;

	if (!tp_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_NAME, 0);
	end(thread, tp_put_bytes(p, name, length));
}

void tp_emit_detail(struct tp_thread *thread, uint64_t ticks, const char *shape, uint64_t flop, uint64_t bytes)
{
	uint8_t *p;

	if (!tp_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_DETAIL, ticks);
	p = tp_put_uvarint(p, flop);
	p = tp_put_uvarint(p, bytes);
	end(thread, tp_put_bytes(p, shape, strnlen(shape, TP_TEXT_MAX)));
}

void tp_emit_step(struct tp_thread *thread, uint64_t ticks, uint64_t items)
{
	if (tp_emit_room(thread))
		end(thread, tp_put_uvarint(begin(thread, TPROF_EVENT_STEP, ticks), items));
}

void tp_emit_mark(struct tp_thread *thread, uint64_t ticks, const char *text)
{
	uint8_t *p;

	if (!tp_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_MARK, ticks);
	end(thread, tp_put_bytes(p, text, strnlen(text, TP_TEXT_MAX)));
}

void tp_emit_pool_alloc(struct tp_thread *thread, uint64_t ticks, uint64_t pool, const struct tp_block *block)
{
	uint8_t *p;

	if (!tp_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_POOL_ALLOC, ticks);
	p = tp_put_uvarint(p, block->address);
	p = tp_put_uvarint(p, block->size);
	p = tp_put_uvarint(p, pool);
	end(thread, tp_put_uvarint(p, block->node));
}

void tp_emit_pool_free(struct tp_thread *thread, uint64_t ticks, uint64_t address, bool whole_pool)
{
	uint8_t *p;

	if (!tp_emit_room(thread))
		return;
	p = begin(thread, TPROF_EVENT_POOL_FREE, ticks);
	p = tp_put_uvarint(p, address);
	*p++ = whole_pool;
	end(thread, p);
}

void tp_emit_thread(struct tp_thread *thread, uint64_t ticks)
{
	uint8_t *p = thread->at;

	if (ticks >> tp_emit_shift < thread->time)
		ticks = thread->time << tp_emit_shift;
	p[0] = TPROF_EVENT_THREAD << 2;
	p = tp_put_uvarint(p + 2, ticks);
	p = tp_put_uvarint(p, thread->number);
	p = tp_put_uvarint(p, tp_load(&thread->tid));
	thread->time = ticks >> tp_emit_shift;
	end(thread, p);
}

void tp_emit_op_end_outer(struct tp_thread *thread, uint64_t ticks, uint32_t within)
{
	uint8_t *end = tp_put_op_end(thread, ticks, false);

	if (end && within) {
		__atomic_fetch_or(&tp_header->features_required, TPROF_FEATURE_OUTER_ENDS, __ATOMIC_RELAXED);
		*thread->at |= TPROF_OP_OUTER;
		end = tp_put_uvarint(end, within);
	}
	if (end)
		tp_emit_end(thread, end);
}
