/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the memory hooks: what allocating and freeing functions do around the real call. */
#ifndef TPROF_HOOKS_MEMORY_RECORD_H
#define TPROF_HOOKS_MEMORY_RECORD_H

#include "core/config.h"
#include "hooks/gate/enter.h"
#include "hooks/memory/sample.h"
#include "hooks/link/real.h"

struct tpc_request {
	uint64_t size;	   /* bytes asked for */
	uint8_t fn;	   /* enum tprof_fn */
	uint8_t alignment; /* log2; 0: the allocator's own */
};

static inline uint8_t tpc_log2(size_t alignment)
{
	return alignment > 1 ? (uint8_t)__builtin_ctzl(alignment) : 0;
}

/* After the real call. The program has not seen `block` yet, so no other thread can free it before this is in the trace. */
TPC_SLOW void tpc_record_alloc(struct tpc_thread *thread, const void *frame, void *block, struct tpc_request request);

/* The same for a block that malloc_usable_size() can't be asked about. */
TPC_SLOW void tpc_record_block(struct tpc_thread *thread, const void *frame, void *block, struct tpc_request request,
			       uint64_t usable);

/*
 * Before the real call: once the block is freed, another thread may get its address, and its ALLOC must not precede
 * this FREE. False: not recorded, because the allocation was not.
 */
TPC_SLOW bool tpc_record_free(struct tpc_thread *thread, void *block, uint8_t fn);

/* The real call failed: the block that tpc_record_free() ended lives on. */
TPC_SLOW void tpc_record_cancel(struct tpc_thread *thread, void *block);

/* ---- the shortest path: for threads that passed tpc_enters() ---- */

/*
 * A hook ends with `return tpc_allocated(...)`: records the real function's result, if it is a block, and leaves.
 * `frame` is the hook's; `fn` is an enum tprof_fn, with log2 of the alignment in its second byte. Some 160 instructions
 * for usual stacks, sizes and addresses, and those of tpc_recall_same().
 */
void *tpc_allocated(struct tpc_thread *thread, const void *frame, void *block, uint64_t size, uint32_t fn);

/* What tpc_allocated() does not do itself. Scalars: a struct would be in memory on the shortest path, too. */
TPC_SLOW void tpc_emit_unusual(struct tpc_thread *thread, uint64_t ticks, void *block, uint64_t size, uint32_t fn,
			       uint32_t node);

/*
 * The word before a glibc block contains the size of its chunk and three flags (malloc.c: struct malloc_chunk). If that
 * is the expected size, and the block was not mmapped (flag 2), the usable size is known; otherwise glibc is asked.
 */
TPC_HOT bool has_usual_size(void *block, uint64_t size)
{
	uint64_t chunk;

	if (tpc_unlikely(!tpc_real.chunk_sizes))
		return false;
	chunk = ((const uint64_t *)block)[-1] & ~UINT64_C(5);
	return tpc_likely(chunk - 8 - size < 16) || (chunk == 32 && size <= 24);
}

/* Writes the event of an allocation, in its short form if possible. Recording (TPC_BUSY_RECORD). */
TPC_HOT void tpc_emit_block(struct tpc_thread *thread, uint64_t ticks, void *block, uint64_t size, uint32_t fn,
			    uint32_t node)
{
	if (tpc_likely(has_usual_size(block, size) && thread->at < thread->limit)) /* glibc's: a multiple of 16 */
		tpc_emit_short_alloc(thread, ticks >> TPC_CLOCK_TSC_SHIFT,
				     (struct tpc_block){ .address = (uintptr_t)block,
							 .size = size,
							 .usable = tprof_usable_guess(size),
							 .node = node,
							 .fn = (uint8_t)fn,
							 .alignment = (uint8_t)(fn >> 8) });
	else
		tpc_emit_unusual(thread, ticks, block, size, fn, node);
	thread->last_block = (uintptr_t)block;
}

/*
 * tpc_allocated(), to be inlined. `guess`: tpc_walk_guess(), called before the real call if possible.
 *
 * An ordered stamp, which waits for all earlier loads, is taken after the walk, so that the walk need not wait for the
 * real call. Not so for a timed event: the walk is part of its cost.
 */
TPC_HOT void *tpc_allocated_here(struct tpc_thread *thread, const void *frame, void *block, uint64_t size, uint32_t fn,
				 uint32_t guess)
{
	uint64_t ticks = 0;
	bool shared, late;
	uint32_t node;

	if (tpc_unlikely(!block)) {
		tpc_leave(thread);
		return block;
	}
	tpc_emit_fetch_address(thread, (uintptr_t)block);
	shared = tpc_clock_is_shared();
	late = shared && !tpc_timed_due(&thread->timed, thread->events + 1);
	if (!late)
		ticks = shared ? tpc_clock_counter_ordered() : tpc_clock_counter();
	thread->busy = TPC_BUSY_RECORD;
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
	node = tpc_unlikely(tpc_load_acquire(&tpc_python_on)) ? tpc_python_stack(thread, frame, guess)
							      : tpc_walk_on(thread, frame, guess);
	tpc_verify_walk(thread, tpc_walk_caller(frame));
	if (late)
		ticks = tpc_clock_counter_ordered();
	tpc_emit_block(thread, ticks, block, size, fn, node);
	tpc_recorded_hot(thread, ticks, TPC_CALLED_ALLOC, NULL);
	tpc_leave(thread);
	return block;
}

/* Writes the event of a free on the shortest path. False: tpc_emit_free() must be called. Some 45 instructions. */
TPC_HOT bool tpc_emit_usual_free(struct tpc_thread *thread, uint64_t ticks, void *block, uint8_t fn)
{
	return tpc_likely(!((uintptr_t)block & 7) && thread->at < thread->limit) &&
	       tpc_likely(tpc_emit_near_free(thread, ticks >> TPC_CLOCK_TSC_SHIFT, (uintptr_t)block, fn));
}

/* tpc_record_free() for a block that is being reallocated. */
TPC_HOT void tpc_freeing(struct tpc_thread *thread, void *block, uint8_t fn)
{
	uint64_t ticks = tpc_clock_counter();

	thread->busy = TPC_BUSY_RECORD;
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
	if (!tpc_emit_usual_free(thread, ticks, block, fn))
		tpc_emit_free(thread, ticks, (uintptr_t)block, fn);
	tpc_recorded_hot(thread, ticks, TPC_CALLED_MOVE, block);
	thread->busy = TPC_BUSY_REAL;
}

/*
 * The real malloc, recorded under the name `fn`, and the real free: hooks end with these. Shared by all names: a
 * program that allocates and frees under several names uses them in turn, and its own code evicts ours from the
 * processor's caches.
 */
TPC_APART void *tpc_record_malloc(struct tpc_thread *thread, const void *frame, size_t size, uint8_t fn);
TPC_APART void tpc_record_release(struct tpc_thread *thread, void *block, uint8_t fn);

/*
 * Records the result of a reallocation. `freed`: the free of the old block was recorded. In a pause the new block is
 * recorded if the old one was; that covers all blocks that the trace may know, except those that the sampler skips.
 */
static inline void tpc_record_moved(struct tpc_thread *thread, const void *frame, void *old, bool freed, void *block,
				    struct tpc_request request)
{
	if (tpc_likely(block)) {
		if (tpc_likely(freed) || tpc_load(&tpc_state.mode) != TPC_MODE_PAUSED)
			tpc_record_alloc(thread, frame, block, request);
	} else if (freed && request.size) {
		tpc_record_cancel(thread, old); /* size 0: NULL means that it was freed */
	}
}

#endif
