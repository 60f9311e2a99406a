/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes events into the calling thread's chunk. The short forms are inline; a record costs its bytes and one store
 * that commits it. Meanwhile the thread is busy (TPC_BUSY_RECORD; TPC_BUSY_REAL while it attaches).
 */
#ifndef TPROF_CORE_EMIT_H
#define TPROF_CORE_EMIT_H

#include "core/assert.h"
#include "core/attach.h"
#include "core/commit.h"
#include "core/counters.h"
#include "core/process.h"
#include "core/resident.h"
#include "core/varint.h"

extern uint32_t tpc_emit_shift TPC_NEAR; /* header.tick_shift */

struct tpc_block {
	uint64_t address, size, usable; /* bytes */
	uint32_t node;
	uint8_t fn;	   /* enum tprof_fn */
	uint8_t alignment; /* log2; 0: the allocator's own */
	uint8_t mean;	   /* MEAN of format.h + 1; 0: not to be told */
};

struct tpc_map {
	uint64_t address, length;
	uint64_t protection, flags; /* as mmap's, and TPROF_MAP_REMAP */
	uint32_t node;
};

TPC_SLOW void tpc_emit_cancel(struct tpc_thread *thread, uint64_t ticks);
TPC_SLOW void tpc_emit_map(struct tpc_thread *thread, uint64_t ticks, const struct tpc_map *map);
TPC_SLOW void tpc_emit_unmap(struct tpc_thread *thread, uint64_t ticks, uint64_t address, uint64_t length, bool remap);
/* `resident` NULL: it was not counted this time. */
TPC_SLOW void tpc_emit_memory(struct tpc_thread *thread, uint64_t ticks, const struct tpc_memory *memory,
			      const struct tpc_resident *resident);

/* `kib`: TPROF_REGION_SIZES of them. */
struct tpc_region {
	uint32_t kind; /* enum tprof_region_kind */
	uintptr_t low, high;
	uint32_t file;
	const uint64_t *kib;
};
TPC_SLOW void tpc_emit_region(struct tpc_thread *thread, uint64_t ticks, const struct tpc_region *region);

/* `numbers`: TPROF_ALLOCATOR_NUMBERS of jemalloc's. */
TPC_SLOW void tpc_emit_allocator(struct tpc_thread *thread, uint64_t ticks, const uint64_t *numbers);
TPC_SLOW void tpc_emit_sample(struct tpc_thread *thread, uint64_t ticks, uint32_t node, uint64_t periods);
TPC_SLOW void tpc_emit_detail(struct tpc_thread *thread, uint64_t ticks, const char *shape, uint64_t flop,
			      uint64_t bytes);
/* The step of TPROF_LEAKCHECK=step:N has ended, and its search has not begun yet. */
extern tpc_shared_u32 tpc_step_due TPC_NEAR;

TPC_SLOW void tpc_emit_step(struct tpc_thread *thread, uint64_t ticks, uint64_t items);
TPC_SLOW void tpc_emit_mark(struct tpc_thread *thread, uint64_t ticks, const char *text);
TPC_SLOW void tpc_emit_plain(struct tpc_thread *thread, uint64_t ticks, enum tprof_event_type type); /* dtime alone */
/* `mean_log2`: MEAN of format.h; `ops`: calls of hooked functions are recorded. */
TPC_SLOW void tpc_emit_level(struct tpc_thread *thread, uint64_t ticks, uint8_t mean_log2, bool ops);
TPC_SLOW void tpc_emit_pool_alloc(struct tpc_thread *thread, uint64_t ticks, uint64_t pool,
				  const struct tpc_block *block);
TPC_SLOW void tpc_emit_pool_free(struct tpc_thread *thread, uint64_t ticks, uint64_t address, bool whole_pool);
TPC_SLOW void tpc_emit_name(struct tpc_thread *thread, const char *name, size_t length);
TPC_SLOW void tpc_emit_thread(struct tpc_thread *thread, uint64_t ticks);

/* COMM and COMM_DONE of format.h. */
struct tpc_comm {
	uint8_t what, flags; /* enum tprof_comm, enum tprof_comm_flags */
	uint32_t group;	     /* number of the communicator */
	int32_t peer, tag;
	int32_t source, source_tag; /* TPROF_COMM_SENDRECV */
	uint32_t node;
	uint64_t sequence, sent, received, request;
	/* With TPROF_COMM_PARTS: a bit for each part that it receives. No bytes: there are too many parts. */
	uint8_t parts_bytes, parts[TPROF_COMM_PARTS_BYTES];
};
TPC_SLOW void tpc_emit_comm(struct tpc_thread *thread, uint64_t ticks, const struct tpc_comm *comm);

struct tpc_comm_done {
	uint64_t request, bytes;
	uint8_t flags; /* enum tprof_comm_done */
	int32_t source, tag;
};
TPC_SLOW void tpc_emit_comm_done(struct tpc_thread *thread, uint64_t ticks, const struct tpc_comm_done *done);

/* WAITED: the call ended at `ticks`, and took `took` ticks. */
TPC_SLOW void tpc_emit_waited(struct tpc_thread *thread, uint64_t ticks, uint32_t op, uint64_t took, uint32_t node);

#define TPC_TEXT_MAX TPROF_CONTROL_TEXT /* bytes of a text in an event; the rest is cut */

#define TPC_WORK_DIM_MAX ((UINT64_C(1) << 42) - 1) /* six bytes, so that as many as may be fit a record */

/* Room for one record. */
static inline bool tpc_emit_room(struct tpc_thread *thread)
{
	return tpc_likely(thread->at < thread->limit) || tpc_thread_new_chunk(thread);
}

/* Time since the thread's last record. Never negative: the counters of two cores may differ a little. */
static inline uint64_t tpc_emit_time(struct tpc_thread *thread, uint64_t ticks)
{
	uint64_t now = ticks >> tpc_emit_shift;
	uint64_t passed = now > thread->time ? now - thread->time : 0;

	thread->time += passed;
	return passed;
}

static inline void tpc_emit_end(struct tpc_thread *thread, uint8_t *end)
{
	tpc_assert(thread->busy != TPC_IDLE);
	tpc_assert(thread->at >= tpc_chunk_bytes(thread->chunk) && end > thread->at);
	thread->at = end;
	thread->events++;
	tpc_chunk_commit(thread->chunk, end);
}

/* ---- ALLOC and FREE in their short forms; the address is a multiple of 8 ---- */

/* The time passed, as a uvarint. `now` is in shifted ticks. */
TPC_HOT uint8_t *tpc_emit_passed(struct tpc_thread *thread, uint8_t *p, uint64_t now)
{
	uint64_t passed = now - thread->time;

	if (tpc_unlikely(passed >= 0x80)) {
		if ((int64_t)passed < 0)
			return tpc_put_short(p, 0);
		p = tpc_put_short(p, passed);
	} else {
		*p++ = (uint8_t)passed;
	}
	thread->time = now;
	return p;
}

/* ADDRESS of format.h. *tag is the record's. */
TPC_HOT uint8_t *tpc_emit_address(struct tpc_thread *thread, uint8_t *p, uint32_t *tag, uint64_t address)
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
	p = tpc_put_signed(p, (int64_t)(unit - thread->address));
	thread->address = unit;
	return p;
}

/* Prefetches what tpc_emit_address() reads: the program's own data evicts it from the cache again and again. */
TPC_HOT void tpc_emit_fetch_address(const struct tpc_thread *thread, uint64_t address)
{
	__builtin_prefetch(&thread->addresses[tprof_address_slot(address >> 3)], 1);
}

/* STACK of format.h. */
TPC_HOT uint8_t *tpc_emit_stack(struct tpc_thread *thread, uint8_t *p, uint32_t *tag, uint32_t node)
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
	p = tpc_put_signed(p, (int64_t)node - (int64_t)thread->delta);
	thread->delta = node;
	return p;
}

/* There is room for a record; `now` is in shifted ticks. */
TPC_HOT void tpc_emit_short_alloc(struct tpc_thread *thread, uint64_t now, struct tpc_block block)
{
	uint32_t tag = TPROF_CLASS_ALLOC;
	uint8_t *at = thread->at;
	uint8_t *p = tpc_emit_passed(thread, at + 1, now);

	p = tpc_emit_address(thread, p, &tag, block.address);
	p = tpc_put_short(p, block.size);
	if (tpc_unlikely(block.usable != tprof_usable_guess(block.size))) {
		tag |= TPROF_ALLOC_USABLE;
		p = tpc_put_uvarint(p, block.usable - block.size);
	}
	if (block.fn != TPROF_FN_MALLOC) {
		tag |= TPROF_ALLOC_FN;
		*p++ = block.fn;
		*p++ = block.alignment;
	}
	if (tpc_unlikely(block.mean)) {
		tag |= TPROF_ALLOC_MEAN;
		*p++ = (uint8_t)(block.mean - 1);
	}
	p = tpc_emit_stack(thread, p, &tag, block.node);
	*at = (uint8_t)tag;
	tpc_emit_end(thread, p);
}

/*
 * There is room for a record. False, and nothing is written, if a number has more than 28 bits: so this function calls
 * none, and its caller has no registers to save.
 */
TPC_HOT bool tpc_emit_near_free(struct tpc_thread *thread, uint64_t now, uint64_t address, uint8_t fn)
{
	uint64_t passed = now - thread->time, unit = address >> 3, away;
	uint32_t tag = TPROF_CLASS_FREE, slot = tprof_address_slot(unit);
	uint8_t *at = thread->at, *p;

	if (tpc_unlikely(passed >= 1u << 28))
		return false;
	p = tpc_put_short28(at + 1, (uint32_t)passed);
	if (thread->addresses[slot] == unit) {
		tag |= TPROF_TAG_ADDRESS_INDEX;
		*p++ = (uint8_t)slot;
	} else {
		away = tpc_zigzag((int64_t)(unit - thread->address));
		if (tpc_unlikely(away >= 1u << 28))
			return false;
		thread->addresses[slot] = unit;
		thread->address = unit;
		p = tpc_put_uvarint28(p, (uint32_t)away);
	}
	thread->time = now;
	if (fn != TPROF_FN_FREE) {
		tag |= TPROF_FREE_FN;
		*p++ = fn;
	}
	*at = (uint8_t)tag;
	tpc_emit_end(thread, p);
	return true;
}

/* In the short form or the long one. */
TPC_SLOW void tpc_emit_alloc(struct tpc_thread *thread, uint64_t ticks, const struct tpc_block *block);
TPC_SLOW void tpc_emit_free(struct tpc_thread *thread, uint64_t ticks, uint64_t address, uint8_t fn);

/* The begin and the end of an op, to be committed by the caller. Returns where the record ends; NULL: there is no room. */
static inline uint8_t *tpc_put_op(struct tpc_thread *thread, uint64_t ticks, uint32_t op)
{
	if (!tpc_emit_room(thread))
		return NULL;
	if (tpc_unlikely(thread->perf.count))
		ticks = tpc_counters_emit(thread, ticks);
	*thread->at = TPROF_CLASS_OP;
	return tpc_put_uvarint(tpc_put_uvarint(thread->at + 1, tpc_emit_time(thread, ticks)), op);
}

static inline uint8_t *tpc_put_op_end(struct tpc_thread *thread, uint64_t ticks, bool unwound)
{
	if (!tpc_emit_room(thread))
		return NULL;
	if (tpc_unlikely(thread->perf.count))
		tpc_counters_emit(thread, ticks);
	*thread->at = (uint8_t)(TPROF_CLASS_OP | TPROF_OP_END | (unwound ? TPROF_OP_UNWOUND : 0));
	return tpc_put_uvarint(thread->at + 1, tpc_emit_time(thread, ticks));
}

static inline void tpc_emit_op(struct tpc_thread *thread, uint64_t ticks, uint32_t op)
{
	uint8_t *end = tpc_put_op(thread, ticks, op);

	if (end)
		tpc_emit_end(thread, end);
}

static inline void tpc_emit_op_end(struct tpc_thread *thread, uint64_t ticks, bool unwound)
{
	uint8_t *end = tpc_put_op_end(thread, ticks, unwound);

	if (end)
		tpc_emit_end(thread, end);
}

/* The end of an op that contains `within` open ops, which stay open; 0: of the innermost op. */
TPC_SLOW void tpc_emit_op_end_outer(struct tpc_thread *thread, uint64_t ticks, uint32_t within);

/* The fields of a WORK record after its dtime. */
static inline uint8_t *tpc_put_work(uint8_t *p, const struct tpc_work *work)
{
	p = tpc_put_uvarint(p, work->kind);
	*p++ = work->dtype;
	*p++ = work->flags;
	for (uint32_t i = 0; i < work->dims; i++)
		p = tpc_put_uvarint(p, work->dim[i] < TPC_WORK_DIM_MAX ? work->dim[i] : TPC_WORK_DIM_MAX);
	if (tpc_unlikely(work->flags & TPROF_WORK_TYPES))
		p = tpc_put_uvarint(p, TPROF_WORK_TYPES_OF(work->second, work->result));
	return p;
}

/* The innermost op has the shapes of `op`. Touches no vector register. */
static inline void tpc_emit_shape(struct tpc_thread *thread, uint64_t ticks, uint32_t op)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	*thread->at = TPROF_EVENT_SHAPE << 2;
	p = tpc_put_uvarint(thread->at + 2, tpc_emit_time(thread, ticks));
	p = tpc_put_uvarint(p, op);
	tpc_put_length(thread->at + 1, p);
	tpc_emit_end(thread, p);
}

/* The work of the op that the thread began last. Touches no vector register. */
static inline void tpc_emit_work(struct tpc_thread *thread, uint64_t ticks, const struct tpc_work *work)
{
	uint8_t *p;

	if (!tpc_emit_room(thread))
		return;
	*thread->at = TPROF_EVENT_WORK << 2;
	p = tpc_put_uvarint(thread->at + 2, tpc_emit_time(thread, ticks));
	p = tpc_put_work(p, work);
	tpc_put_length(thread->at + 1, p);
	tpc_emit_end(thread, p);
}

#endif
