/* SPDX-License-Identifier: Apache-2.0 */
/* The events of memory hooks: what every allocating and freeing function does around its real one. */
#ifndef TPROF_HOOKS_MEMORY_RECORD_H
#define TPROF_HOOKS_MEMORY_RECORD_H

#include "core/config.h"
#include "hooks/gate/enter.h"
#include "hooks/memory/sample.h"
#include "hooks/link/real.h"

struct tp_request {
	uint64_t size;	   /* bytes asked for */
	uint8_t fn;	   /* enum tprof_fn */
	uint8_t alignment; /* log2; 0: the allocator's own */
};

static inline uint8_t tp_log2(size_t alignment)
{
	return alignment > 1 ? (uint8_t)__builtin_ctzl(alignment) : 0;
}

/*
 * After the real call: `block` is the program's now, but the program has not seen it yet, so no other thread can free it
 * before this is in the trace.
 */
TP_SLOW void tp_record_alloc(struct tp_thread *thread, const void *frame, void *block, struct tp_request request);

/* The same of a block that malloc_usable_size() can't be asked about. */
TP_SLOW void tp_record_block(struct tp_thread *thread, const void *frame, void *block, struct tp_request request,
			     uint64_t usable);

/*
 * Before the real call: once the block is handed over, another thread may get its address, and its ALLOC must not stand
 * before this FREE. False: it was not recorded, as its allocation was not.
 */
TP_SLOW bool tp_record_free(struct tp_thread *thread, void *block, uint8_t fn);

/* The real call failed after all: the block that tp_record_free() gave up lives on. */
TP_SLOW void tp_record_cancel(struct tp_thread *thread, void *block);

/* ---- the shortest way: of threads that tp_enters() let in ---- */

/*
 * What a hook ends with, `return tp_allocated(...)`: records the real function's result, if it is a block, and leaves.
 * `frame` is the hook's; `fn` an enum tprof_fn, with the log2 of the alignment in its second byte. Some 160
 * instructions when stack, size and address are as they mostly are, and those of tp_recall_same().
 */
void *tp_allocated(struct tp_thread *thread, const void *frame, void *block, uint64_t size, uint32_t fn);

/* All that tp_allocated() does not do itself. Scalars: a struct would be in memory on the shortest way too. */
TP_SLOW void tp_emit_unusual(struct tp_thread *thread, uint64_t ticks, void *block, uint64_t size, uint32_t fn,
			     uint32_t node);

/*
 * A block of glibc's has its chunk's size in the word before it, with three flags (malloc.c: struct malloc_chunk). When
 * that is what is to be expected, and the block was not mmapped (flag 2), it is so; whatever else it says, glibc is asked.
 */
TP_HOT bool has_usual_size(void *block, uint64_t size)
{
	uint64_t chunk;

	if (tp_unlikely(!tp_real.chunk_sizes))
		return false;
	chunk = ((const uint64_t *)block)[-1] & ~UINT64_C(5);
	return tp_likely(chunk - 8 - size < 16) || (chunk == 32 && size <= 24);
}

/* The event of an allocation, in its short form if it has one. Recording (TP_BUSY_RECORD). */
TP_HOT void tp_emit_block(struct tp_thread *thread, uint64_t ticks, void *block, uint64_t size, uint32_t fn,
			  uint32_t node)
{
	if (tp_likely(has_usual_size(block, size) && thread->at < thread->limit)) /* glibc's: a multiple of 16 */
		tp_emit_short_alloc(thread, ticks >> TP_CLOCK_TSC_SHIFT,
				    (struct tp_block){ .address = (uintptr_t)block,
						       .size = size,
						       .usable = tprof_usable_guess(size),
						       .node = node,
						       .fn = (uint8_t)fn,
						       .alignment = (uint8_t)(fn >> 8) });
	else
		tp_emit_unusual(thread, ticks, block, size, fn, node);
	thread->last_block = (uintptr_t)block;
}

/*
 * tp_allocated(), to be part of another function. `guess`: tp_walk_guess(), from before the real call if that can be.
 *
 * A stamp that waits for all that is before it comes after the walk, which then need not wait for the real call. But not that of
 * an event that is timed: the walk is part of what it costs.
 */
TP_HOT void *tp_allocated_here(struct tp_thread *thread, const void *frame, void *block, uint64_t size, uint32_t fn,
			       uint32_t guess)
{
	uint64_t ticks = 0;
	bool shared, late;
	uint32_t node;

	if (tp_unlikely(!block)) {
		tp_leave(thread);
		return block;
	}
	tp_emit_fetch_address(thread, (uintptr_t)block);
	shared = tp_clock_is_shared();
	late = shared && !tp_timed_due(&thread->timed, thread->events + 1);
	if (!late)
		ticks = shared ? tp_clock_counter_ordered() : tp_clock_counter();
	thread->busy = TP_BUSY_RECORD;
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
	node = tp_unlikely(tp_load_acquire(&tp_python_on)) ? tp_python_stack(thread, frame, guess)
							   : tp_walk_on(thread, frame, guess);
	tp_verify_walk(thread, tp_walk_caller(frame));
	if (late)
		ticks = tp_clock_counter_ordered();
	tp_emit_block(thread, ticks, block, size, fn, node);
	tp_recorded_hot(thread, ticks, TP_CALLED_ALLOC, NULL);
	tp_leave(thread);
	return block;
}

/* The event of a free on the shortest way. False: tp_emit_free() is to be called. Some 45 instructions. */
TP_HOT bool tp_emit_usual_free(struct tp_thread *thread, uint64_t ticks, void *block, uint8_t fn)
{
	return tp_likely(!((uintptr_t)block & 7) && thread->at < thread->limit) &&
	       tp_likely(tp_emit_near_free(thread, ticks >> TP_CLOCK_TSC_SHIFT, (uintptr_t)block, fn));
}

/* tp_record_free(), of a block that is to be reallocated. */
TP_HOT void tp_freeing(struct tp_thread *thread, void *block, uint8_t fn)
{
	uint64_t ticks = tp_clock_counter();

	thread->busy = TP_BUSY_RECORD;
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
	if (!tp_emit_usual_free(thread, ticks, block, fn))
		tp_emit_free(thread, ticks, (uintptr_t)block, fn);
	tp_recorded_hot(thread, ticks, TP_CALLED_MOVE, block);
	thread->busy = TP_BUSY_REAL;
}

/*
 * The real malloc, recorded under the name `fn`, and the real free: what hooks end with. One for all names, as a program that
 * allocates and frees by several goes from one to the other, and its own code pushes ours out of the processor's caches.
 */
TP_APART void *tp_record_malloc(struct tp_thread *thread, const void *frame, size_t size, uint8_t fn);
TP_APART void tp_record_release(struct tp_thread *thread, void *block, uint8_t fn);

/*
 * What a reallocation came to. `freed`: the old block was recorded as freed. In a pause the new one is recorded if the old
 * one was; of blocks that the trace may know that is all but the sampler's others.
 */
static inline void tp_record_moved(struct tp_thread *thread, const void *frame, void *old, bool freed, void *block,
				   struct tp_request request)
{
	if (tp_likely(block)) {
		if (tp_likely(freed) || tp_load(&tp_state.mode) != TP_MODE_PAUSED)
			tp_record_alloc(thread, frame, block, request);
	} else if (freed && request.size) {
		tp_record_cancel(thread, old); /* size 0: it was freed, and NULL says so */
	}
}

#endif
