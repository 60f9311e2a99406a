/* SPDX-License-Identifier: Apache-2.0 */
/* The events of memory hooks: what every allocating and freeing function does around its real one. */
#ifndef TPROF_HOOKS_MEMORY_RECORD_H
#define TPROF_HOOKS_MEMORY_RECORD_H

#include "core/config.h"
#include "hooks/enter.h"
#include "hooks/memory/sample.h"
#include "hooks/real.h"

struct tp_request {
	uint64_t size;	   /* bytes asked for */
	uint8_t fn;	   /* enum tprof_fn */
	uint8_t alignment; /* log2; 0: the allocator's own */
};

static inline uint8_t tp_log2(size_t alignment)
{
	return alignment > 1 ? (uint8_t)__builtin_ctzl(alignment) : 0;
}

/* TPROF_ALLOC is not `trace`: is this block one to record all the same? */
static inline bool tp_alloc_wanted(struct tp_thread *thread, void *block, uint64_t size)
{
	return tp_config.alloc == TP_ALLOC_SAMPLE && tp_sample_wanted(thread, size) &&
	       tp_sample_insert((uintptr_t)block);
}

/*
 * After the real call: `block` is the program's now, but the program has not seen it yet, so no other thread can free it
 * before this is in the trace.
 */
static inline void tp_record_alloc(struct tp_thread *thread, const void *frame, void *block, struct tp_request request)
{
	struct tp_block record = {
		.address = (uintptr_t)block,
		.size = request.size,
		.fn = request.fn,
		.alignment = request.alignment,
	};
	uint64_t ticks;

	if (tp_unlikely(tp_config.alloc != TP_ALLOC_TRACE) && !tp_alloc_wanted(thread, block, request.size))
		return;
	ticks = tp_clock_after();
	record.usable = tp_likely(tp_real.usable) ? tp_real.usable(block)
						  : request.size; /* may allocate: tcmalloc's first call does */
	tp_record(thread, ticks);
	record.node = tp_caller_stack(thread, frame);
	tp_emit_alloc(thread, ticks, &record);
	thread->last_block = record.address;
	tp_recorded(thread);
}

/*
 * Before the real call: once the block is handed over, another thread may get its address, and its ALLOC must not stand
 * before this FREE. False: it was not recorded, as its allocation was not.
 */
static inline bool tp_record_free(struct tp_thread *thread, void *block, uint8_t fn)
{
	uint64_t ticks;

	if (tp_unlikely(tp_config.alloc != TP_ALLOC_TRACE) &&
	    (tp_config.alloc == TP_ALLOC_OFF || !tp_sample_remove((uintptr_t)block)))
		return false;
	ticks = tp_clock_before();
	tp_record(thread, ticks);
	tp_emit_free(thread, ticks, (uintptr_t)block, fn);
	tp_recorded(thread);
	thread->busy = TP_BUSY_REAL;
	return true;
}

/* The real call failed after all: the block that tp_record_free() gave up lives on. */
static inline void tp_record_cancel(struct tp_thread *thread, void *block)
{
	uint64_t ticks = tp_clock_after();

	if (tp_config.alloc == TP_ALLOC_SAMPLE && !tp_sample_insert((uintptr_t)block))
		return;
	tp_record(thread, ticks);
	tp_emit_cancel(thread, ticks);
}

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
