/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/memory/record.h"

/* TPROF_ALLOC is not `trace`: is this block one to record all the same? */
static bool alloc_wanted(struct tp_thread *thread, void *block, uint64_t size)
{
	if (tp_config.alloc == TP_ALLOC_OFF) {
		thread->until_sample = UINT64_MAX; /* let the next ones pass */
		return false;
	}
	return tp_sample_wanted(thread, size) && tp_sample_insert((uintptr_t)block);
}

void tp_record_block(struct tp_thread *thread, const void *frame, void *block, struct tp_request request,
		     uint64_t usable)
{
	struct tp_block record = {
		.address = (uintptr_t)block,
		.size = request.size,
		.usable = usable,
		.fn = request.fn,
		.alignment = request.alignment,
	};
	uint64_t ticks;

	if (tp_config.alloc != TP_ALLOC_TRACE && !alloc_wanted(thread, block, request.size))
		return;
	if (tp_unlikely(!thread->allocates))
		tp_thread_allocates(thread);
	ticks = tp_clock_after();
	tp_record(thread, ticks);
	record.node = tp_caller_stack(thread, frame);
	tp_emit_alloc(thread, ticks, &record);
	thread->last_block = record.address;
	tp_recorded_called(thread, TP_CALLED_ALLOC, NULL);
}

void tp_record_alloc(struct tp_thread *thread, const void *frame, void *block, struct tp_request request)
{
	/* Asked before recording begins, as it may allocate: tcmalloc's first call does. */
	uint64_t usable = tp_likely(tp_real.usable) ? tp_real.usable(block) : request.size;

	tp_record_block(thread, frame, block, request, usable);
}

/* Python's own blocks are no allocator's. */
static bool moves(uint8_t fn)
{
	return fn == TPROF_FN_REALLOC || fn == TPROF_FN_REALLOCARRAY || fn == TPROF_FN_RALLOCX ||
	       fn == TPROF_FN_XALLOCX;
}

bool tp_record_free(struct tp_thread *thread, void *block, uint8_t fn)
{
	uint64_t ticks;

	if (tp_config.alloc != TP_ALLOC_TRACE &&
	    (tp_config.alloc == TP_ALLOC_OFF || !tp_sample_remove((uintptr_t)block)))
		return false;
	if (tp_unlikely(!thread->allocates))
		tp_thread_allocates(thread);
	ticks = tp_clock_before();
	tp_record(thread, ticks);
	tp_emit_free(thread, ticks, (uintptr_t)block, fn);
	tp_recorded_called(thread, moves(fn) ? TP_CALLED_MOVE : TP_CALLED_FREE, block);
	thread->busy = TP_BUSY_REAL;
	return true;
}

void tp_record_cancel(struct tp_thread *thread, void *block)
{
	uint64_t ticks = tp_clock_after();

	if (tp_config.alloc == TP_ALLOC_SAMPLE && !tp_sample_insert((uintptr_t)block))
		return;
	tp_record(thread, ticks);
	tp_emit_cancel(thread, ticks);
}

void tp_emit_unusual(struct tp_thread *thread, uint64_t ticks, void *block, uint64_t size, uint32_t fn, uint32_t node)
{
	struct tp_block record = { .address = (uintptr_t)block,
				   .size = size,
				   .usable = size,
				   .node = node,
				   .fn = (uint8_t)fn,
				   .alignment = (uint8_t)(fn >> 8) };

	if (tp_real.usable) {
		thread->busy = TP_BUSY_REAL; /* it may allocate: tcmalloc's first call does */
		record.usable = tp_real.usable(block);
		thread->busy = TP_BUSY_RECORD;
	}
	tp_emit_alloc(thread, ticks, &record);
}

void *tp_allocated(struct tp_thread *thread, const void *frame, void *block, uint64_t size, uint32_t fn)
{
	return tp_allocated_here(thread, frame, block, size, fn, tp_walk_guess(thread, frame));
}

void *tp_record_malloc(struct tp_thread *thread, const void *frame, size_t size, uint8_t fn)
{
	uint32_t guess = tp_walk_guess(thread, frame);

	return tp_allocated_here(thread, frame, tp_real.malloc(size), size, fn, guess);
}

/* The allocator may call what is hooked, which is part of this event. */
static TP_APART void release_within(struct tp_thread *thread, void *block)
{
	thread->busy = TP_BUSY_REAL;
	tp_real.free(block);
	tp_leave(thread);
}

/* The event is recorded, and due for more (tp_recorded_due()). */
static TP_SLOW void released_slow(struct tp_thread *thread, uint64_t ticks, void *block)
{
	thread->event_start = ticks;
	tp_recorded_called_slow(thread, TP_CALLED_FREE, NULL);
	release_within(thread, block);
}

static TP_APART void release_unusual(struct tp_thread *thread, uint64_t ticks, void *block, uint8_t fn)
{
	tp_emit_free(thread, ticks, (uintptr_t)block, fn);
	if (tp_recorded_due(thread, ticks))
		released_slow(thread, ticks, block);
	else
		release_within(thread, block);
}

void tp_record_release(struct tp_thread *thread, void *block, uint8_t fn)
{
	uint64_t ticks = tp_clock_counter();

	thread->busy = TP_BUSY_RECORD;
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
	if (!tp_emit_usual_free(thread, ticks, block, fn)) {
		release_unusual(thread, ticks, block, fn);
	} else if (tp_unlikely(tp_recorded_due(thread, ticks))) {
		released_slow(thread, ticks, block);
	} else if (tp_unlikely(!tp_real.chunk_sizes)) {
		release_within(thread, block);
	} else {
		tp_leave(thread);
		tp_real.free(block);
	}
}
