/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events into the calling thread's chunk. The short forms are inline; a record costs its bytes and one committing
 * store. The thread is busy (TP_BUSY_RECORD) while one of these runs.
 */
#ifndef TPROF_CORE_EMIT_H
#define TPROF_CORE_EMIT_H

#include "core/chunk.h"
#include "core/counters.h"
#include "core/process.h"
#include "core/resident.h"
#include "core/thread.h"
#include "core/varint.h"

extern uint32_t tp_emit_shift TP_NEAR; /* header.tick_shift */

struct tp_block {
	uint64_t address, size, usable; /* bytes */
	uint32_t node;
	uint8_t fn;	   /* enum tprof_fn */
	uint8_t alignment; /* log2; 0: the allocator's own */
};

struct tp_map {
	uint64_t address, length;
	uint64_t protection, flags; /* as mmap's, and TPROF_MAP_REMAP */
	uint32_t node;
};

TP_SLOW void tp_emit_cancel(struct tp_thread *thread, uint64_t ticks);
TP_SLOW void tp_emit_map(struct tp_thread *thread, uint64_t ticks, const struct tp_map *map);
TP_SLOW void tp_emit_unmap(struct tp_thread *thread, uint64_t ticks, uint64_t address, uint64_t length, bool remap);
/* `resident` NULL: it was not counted this time. */
TP_SLOW void tp_emit_memory(struct tp_thread *thread, uint64_t ticks, const struct tp_memory *memory,
			    const struct tp_resident *resident);

/* `kib`: TPROF_REGION_SIZES of them. */
struct tp_region {
	uint32_t kind; /* enum tprof_region_kind */
	uintptr_t low, high;
	uint32_t file;
	const uint64_t *kib;
};
TP_SLOW void tp_emit_region(struct tp_thread *thread, uint64_t ticks, const struct tp_region *region);

/* `numbers`: TPROF_ALLOCATOR_NUMBERS of jemalloc's. */
TP_SLOW void tp_emit_allocator(struct tp_thread *thread, uint64_t ticks, const uint64_t *numbers);
TP_SLOW void tp_emit_sample(struct tp_thread *thread, uint64_t ticks, uint32_t node, uint64_t periods);
TP_SLOW void tp_emit_detail(struct tp_thread *thread, uint64_t ticks, const char *shape, uint64_t flop, uint64_t bytes);
TP_SLOW void tp_emit_step(struct tp_thread *thread, uint64_t ticks, uint64_t items);
TP_SLOW void tp_emit_mark(struct tp_thread *thread, uint64_t ticks, const char *text);
TP_SLOW void tp_emit_plain(struct tp_thread *thread, uint64_t ticks, enum tprof_event_type type); /* dtime alone */
TP_SLOW void tp_emit_pool_alloc(struct tp_thread *thread, uint64_t ticks, uint64_t pool, const struct tp_block *block);
TP_SLOW void tp_emit_pool_free(struct tp_thread *thread, uint64_t ticks, uint64_t address, bool whole_pool);
TP_SLOW void tp_emit_name(struct tp_thread *thread, const char *name, size_t length);
TP_SLOW void tp_emit_thread(struct tp_thread *thread, uint64_t ticks);

#define TP_TEXT_MAX TPROF_CONTROL_TEXT /* bytes of a text in an event; the rest is cut */

#define TP_WORK_DIM_MAX ((UINT64_C(1) << 42) - 1) /* six bytes, so that as many as may be fit a record */

/* Room for one record. */
static inline bool tp_emit_room(struct tp_thread *thread)
{
	return tp_likely(thread->at < thread->limit) || tp_thread_new_chunk(thread);
}

/* Time passed since the thread's last record. Counters of two cores may differ by a little: never backwards. */
static inline uint64_t tp_emit_time(struct tp_thread *thread, uint64_t ticks)
{
	uint64_t now = ticks >> tp_emit_shift;
	uint64_t passed = now > thread->time ? now - thread->time : 0;

	thread->time += passed;
	return passed;
}

static inline void tp_emit_end(struct tp_thread *thread, uint8_t *end)
{
	thread->at = end;
	thread->events++;
	tp_chunk_commit(thread->chunk, end);
}

/* ---- ALLOC and FREE in their short forms; the address is a multiple of 8 ---- */

/* The time passed, as a uvarint. `now` is in shifted ticks. */
TP_HOT uint8_t *tp_emit_passed(struct tp_thread *thread, uint8_t *p, uint64_t now)
{
	uint64_t passed = now - thread->time;

	if (tp_unlikely(passed >= 0x80)) {
		if ((int64_t)passed < 0)
			return tp_put_short(p, 0);
		p = tp_put_short(p, passed);
	} else {
		*p++ = (uint8_t)passed;
	}
	thread->time = now;
	return p;
}

/* ADDRESS of format.h. *tag is the record's. */
TP_HOT uint8_t *tp_emit_address(struct tp_thread *thread, uint8_t *p, uint32_t *tag, uint64_t address)
{
	uint64_t unit = address >> 3;
	uint32_t slot = tprof_address_slot(unit);
	uint64_t *kept = &thread->addresses[slot];

	if (*kept == unit) {
		*tag |= TPROF_TAG_ADDRESS_INDEX;
		*p = (uint8_t)slot;
		return p + 1;
	}
	*kept = unit;
	p = tp_put_signed(p, (int64_t)(unit - thread->address));
	thread->address = unit;
	return p;
}

/* What tp_emit_address() will look at: asked for early, as a program's own data pushes it out of the cache again and again. */
TP_HOT void tp_emit_fetch_address(const struct tp_thread *thread, uint64_t address)
{
	__builtin_prefetch(&thread->addresses[tprof_address_slot(address >> 3)], 1);
}

/* STACK of format.h. */
TP_HOT uint8_t *tp_emit_stack(struct tp_thread *thread, uint8_t *p, uint32_t *tag, uint32_t node)
{
	uint32_t slot;

	if (node == thread->stack)
		return p; /* TPROF_STACK_SAME */
	thread->stack = node;
	slot = tprof_stack_slot(node);
	if (thread->stacks[slot] == node) {
		*tag |= TPROF_STACK_INDEX << TPROF_ALLOC_STACK_SHIFT;
		*p = (uint8_t)slot;
		return p + 1;
	}
	*tag |= TPROF_STACK_DELTA << TPROF_ALLOC_STACK_SHIFT;
	thread->stacks[slot] = node;
	p = tp_put_signed(p, (int64_t)node - (int64_t)thread->delta);
	thread->delta = node;
	return p;
}

/* There is room for a record; `now` is in shifted ticks. */
TP_HOT void tp_emit_short_alloc(struct tp_thread *thread, uint64_t now, struct tp_block block)
{
	uint32_t tag = TPROF_CLASS_ALLOC;
	uint8_t *at = thread->at;
	uint8_t *p = tp_emit_passed(thread, at + 1, now);

	p = tp_emit_address(thread, p, &tag, block.address);
	p = tp_put_short(p, block.size);
	if (tp_unlikely(block.usable != tprof_usable_guess(block.size))) {
		tag |= TPROF_ALLOC_USABLE;
		p = tp_put_uvarint(p, block.usable - block.size);
	}
	if (block.fn != TPROF_FN_MALLOC) {
		tag |= TPROF_ALLOC_FN;
		*p++ = block.fn;
		*p++ = block.alignment;
	}
	p = tp_emit_stack(thread, p, &tag, block.node);
	*at = (uint8_t)tag;
	tp_emit_end(thread, p);
}

/*
 * There is room for a record. False, and nothing is done, if a number is of more than 28 bits: so there is no call in it, and
 * what it is part of has no registers to save.
 */
TP_HOT bool tp_emit_near_free(struct tp_thread *thread, uint64_t now, uint64_t address, uint8_t fn)
{
	uint64_t passed = now - thread->time, unit = address >> 3, away;
	uint32_t tag = TPROF_CLASS_FREE, slot = tprof_address_slot(unit);
	uint8_t *at = thread->at, *p;

	if (tp_unlikely(passed >= 1u << 28))
		return false;
	p = tp_put_short28(at + 1, (uint32_t)passed);
	if (thread->addresses[slot] == unit) {
		tag |= TPROF_TAG_ADDRESS_INDEX;
		*p++ = (uint8_t)slot;
	} else {
		away = tp_zigzag((int64_t)(unit - thread->address));
		if (tp_unlikely(away >= 1u << 28))
			return false;
		thread->addresses[slot] = unit;
		thread->address = unit;
		p = tp_put_uvarint28(p, (uint32_t)away);
	}
	thread->time = now;
	if (fn != TPROF_FN_FREE) {
		tag |= TPROF_FREE_FN;
		*p++ = fn;
	}
	*at = (uint8_t)tag;
	tp_emit_end(thread, p);
	return true;
}

/* In whatever form. */
TP_SLOW void tp_emit_alloc(struct tp_thread *thread, uint64_t ticks, const struct tp_block *block);
TP_SLOW void tp_emit_free(struct tp_thread *thread, uint64_t ticks, uint64_t address, uint8_t fn);

/* An op's begin and its end, which are to be committed: where they end. NULL: there is no room. */
static inline uint8_t *tp_put_op(struct tp_thread *thread, uint64_t ticks, uint32_t op)
{
	if (!tp_emit_room(thread))
		return NULL;
	if (tp_unlikely(thread->perf.count))
		ticks = tp_counters_emit(thread, ticks);
	*thread->at = TPROF_CLASS_OP;
	return tp_put_uvarint(tp_put_uvarint(thread->at + 1, tp_emit_time(thread, ticks)), op);
}

static inline uint8_t *tp_put_op_end(struct tp_thread *thread, uint64_t ticks, bool unwound)
{
	if (!tp_emit_room(thread))
		return NULL;
	if (tp_unlikely(thread->perf.count))
		tp_counters_emit(thread, ticks);
	*thread->at = (uint8_t)(TPROF_CLASS_OP | TPROF_OP_END | (unwound ? TPROF_OP_UNWOUND : 0));
	return tp_put_uvarint(thread->at + 1, tp_emit_time(thread, ticks));
}

static inline void tp_emit_op(struct tp_thread *thread, uint64_t ticks, uint32_t op)
{
	uint8_t *end = tp_put_op(thread, ticks, op);

	if (end)
		tp_emit_end(thread, end);
}

static inline void tp_emit_op_end(struct tp_thread *thread, uint64_t ticks, bool unwound)
{
	uint8_t *end = tp_put_op_end(thread, ticks, unwound);

	if (end)
		tp_emit_end(thread, end);
}

/* The end of an op that has so many open ones in it, which stay open; 0: of the innermost. */
TP_SLOW void tp_emit_op_end_outer(struct tp_thread *thread, uint64_t ticks, uint32_t within);

/* What a WORK record has behind its dtime. */
static inline uint8_t *tp_put_work(uint8_t *p, const struct tp_work *work)
{
	p = tp_put_uvarint(p, work->kind);
	*p++ = work->dtype;
	*p++ = work->flags;
	for (uint32_t i = 0; i < work->dims; i++)
		p = tp_put_uvarint(p, work->dim[i] < TP_WORK_DIM_MAX ? work->dim[i] : TP_WORK_DIM_MAX);
	if (tp_unlikely(work->flags & TPROF_WORK_TYPES))
		p = tp_put_uvarint(p, TPROF_WORK_TYPES_OF(work->second, work->result));
	return p;
}

/* The innermost op's shapes are those of `op`. Touches no vector register. */
static inline void tp_emit_shape(struct tp_thread *thread, uint64_t ticks, uint32_t op)
{
	uint8_t *p;

	if (!tp_emit_room(thread))
		return;
	*thread->at = TPROF_EVENT_SHAPE << 2;
	p = tp_put_uvarint(thread->at + 2, tp_emit_time(thread, ticks));
	p = tp_put_uvarint(p, op);
	tp_put_length(thread->at + 1, p);
	tp_emit_end(thread, p);
}

/* Of the op that the thread began last. Touches no vector register. */
static inline void tp_emit_work(struct tp_thread *thread, uint64_t ticks, const struct tp_work *work)
{
	uint8_t *p;

	if (!tp_emit_room(thread))
		return;
	*thread->at = TPROF_EVENT_WORK << 2;
	p = tp_put_uvarint(thread->at + 2, tp_emit_time(thread, ticks));
	p = tp_put_work(p, work);
	tp_put_length(thread->at + 1, p);
	tp_emit_end(thread, p);
}

#endif
