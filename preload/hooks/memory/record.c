/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/memory/record.h"

/* TPROF_ALLOC is not `trace`: is this block to be recorded? */
static bool alloc_wanted(struct tpc_thread *thread, void *block, uint64_t size)
{
	if (tpc_config.alloc == TPC_ALLOC_OFF) {
		thread->until_sample = UINT64_MAX; /* let the next ones pass */
		return false;
	}
	return tpc_sample_wanted(thread, size) && tpc_sample_insert((uintptr_t)block);
}

void tpc_record_block(struct tpc_thread *thread, const void *frame, void *block, struct tpc_request request,
		      uint64_t usable)
{
	struct tpc_block record = {
		.address = (uintptr_t)block,
		.size = request.size,
		.usable = usable,
		.fn = request.fn,
		.alignment = request.alignment,
	};
	uint64_t ticks;

	if (tpc_config.alloc != TPC_ALLOC_TRACE && !alloc_wanted(thread, block, request.size))
		return;
	record.mean = tpc_sample_mean(thread);
	if (tpc_unlikely(!thread->allocates))
		tpc_thread_allocates(thread);
	ticks = tpc_clock_after();
	tpc_record(thread, ticks);
	record.node = tpc_caller_stack(thread, frame);
	tpc_emit_alloc(thread, ticks, &record);
	thread->last_block = record.address;
	tpc_recorded_called(thread, TPC_CALLED_ALLOC, NULL);
}

void tpc_record_alloc(struct tpc_thread *thread, const void *frame, void *block, struct tpc_request request)
{
	/* Asked before recording begins, because it may allocate, as tcmalloc's first call does. */
	uint64_t usable = tpc_likely(tpc_real.usable) ? tpc_real.usable(block) : request.size;

	tpc_record_block(thread, frame, block, request, usable);
}

/* Python's own blocks do not come from the allocator. */
static bool moves(uint8_t fn)
{
	return fn == TPROF_FN_REALLOC || fn == TPROF_FN_REALLOCARRAY || fn == TPROF_FN_RALLOCX ||
	       fn == TPROF_FN_XALLOCX || fn == TPROF_FN_RULED_REALLOC;
}

bool tpc_record_free(struct tpc_thread *thread, void *block, uint8_t fn)
{
	uint64_t ticks;

	if (tpc_config.alloc != TPC_ALLOC_TRACE &&
	    (tpc_config.alloc == TPC_ALLOC_OFF || !tpc_sample_remove((uintptr_t)block)))
		return false;
	if (tpc_unlikely(!thread->allocates))
		tpc_thread_allocates(thread);
	ticks = tpc_clock_before();
	tpc_record(thread, ticks);
	tpc_emit_free(thread, ticks, (uintptr_t)block, fn);
	tpc_recorded_called(thread, moves(fn) ? TPC_CALLED_MOVE : TPC_CALLED_FREE, block);
	thread->busy = TPC_BUSY_REAL;
	return true;
}

void tpc_record_cancel(struct tpc_thread *thread, void *block)
{
	uint64_t ticks = tpc_clock_after();

	if (tpc_config.alloc == TPC_ALLOC_SAMPLE && !tpc_sample_insert((uintptr_t)block))
		return;
	tpc_record(thread, ticks);
	tpc_emit_cancel(thread, ticks);
}

void tpc_emit_unusual(struct tpc_thread *thread, uint64_t ticks, void *block, uint64_t size, uint32_t fn, uint32_t node)
{
	struct tpc_block record = { .address = (uintptr_t)block,
				    .size = size,
				    .usable = size,
				    .node = node,
				    .fn = (uint8_t)fn,
				    .alignment = (uint8_t)(fn >> 8) };

	if (tpc_real.usable) {
		thread->busy = TPC_BUSY_REAL; /* it may allocate, as tcmalloc's first call does */
		record.usable = tpc_real.usable(block);
		thread->busy = TPC_BUSY_RECORD;
	}
	tpc_emit_alloc(thread, ticks, &record);
}

void *tpc_allocated(struct tpc_thread *thread, const void *frame, void *block, uint64_t size, uint32_t fn)
{
	return tpc_allocated_here(thread, frame, block, size, fn, tpc_walk_guess(thread, frame));
}

void *tpc_record_malloc(struct tpc_thread *thread, const void *frame, size_t size, uint8_t fn)
{
	uint32_t guess = tpc_walk_guess(thread, frame);

	return tpc_allocated_here(thread, frame, tpc_real.malloc(size), size, fn, guess);
}

/* The allocator may call hooked functions; these calls are part of this event. */
static TPC_APART void release_within(struct tpc_thread *thread, void *block)
{
	thread->busy = TPC_BUSY_REAL;
	tpc_real.free(block);
	tpc_leave(thread);
}

/* The event is recorded, and more is to be done (tpc_recorded_due()). */
static TPC_SLOW void released_slow(struct tpc_thread *thread, uint64_t ticks, void *block)
{
	thread->event_start = ticks;
	tpc_recorded_called_slow(thread, TPC_CALLED_FREE, NULL);
	release_within(thread, block);
}

static TPC_APART void release_unusual(struct tpc_thread *thread, uint64_t ticks, void *block, uint8_t fn)
{
	tpc_emit_free(thread, ticks, (uintptr_t)block, fn);
	if (tpc_recorded_due(thread, ticks))
		released_slow(thread, ticks, block);
	else
		release_within(thread, block);
}

void tpc_record_release(struct tpc_thread *thread, void *block, uint8_t fn)
{
	uint64_t ticks = tpc_clock_counter();

	thread->busy = TPC_BUSY_RECORD;
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
	if (!tpc_emit_usual_free(thread, ticks, block, fn)) {
		release_unusual(thread, ticks, block, fn);
	} else if (tpc_unlikely(tpc_recorded_due(thread, ticks))) {
		released_slow(thread, ticks, block);
	} else if (tpc_unlikely(!tpc_real.chunk_sizes)) {
		release_within(thread, block);
	} else {
		tpc_leave(thread);
		tpc_real.free(block);
	}
}
