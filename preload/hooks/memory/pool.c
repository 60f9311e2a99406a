/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/memory/pool.h"

#include "hooks/memory/record.h"

/* A pool's first block may have the address of the heap block that it lies in: in the sample they are two. */
static uint64_t sample_key(const void *block)
{
	return (uintptr_t)block ^ UINT64_C(1) << 63;
}

static bool is_sampled(struct tp_thread *thread, const void *block, size_t size)
{
	return tp_config.alloc == TP_ALLOC_SAMPLE && tp_sample_wanted(thread, size) &&
	       tp_sample_insert(sample_key(block));
}

void tp_pool_alloc(const void *frame, const void *pool, const void *block, size_t size)
{
	struct tp_thread *thread = block ? tp_enter(frame) : NULL;
	struct tp_block record = { .address = (uintptr_t)block, .size = size };
	uint64_t ticks;

	if (!thread)
		return;
	if (tp_config.alloc == TP_ALLOC_TRACE || is_sampled(thread, block, size)) {
		if (!(tp_load(&tp_header->flags) & TPROF_FLAG_POOLS))
			__atomic_fetch_or(&tp_header->flags, TPROF_FLAG_POOLS, __ATOMIC_RELAXED);
		ticks = tp_clock_after();
		tp_record(thread, ticks);
		record.node = tp_caller_stack(thread, frame);
		tp_emit_pool_alloc(thread, ticks, (uintptr_t)pool, &record);
		tp_recorded(thread);
	}
	tp_leave(thread);
}

static void end(const void *frame, const void *address, bool whole_pool)
{
	struct tp_thread *thread = address ? tp_enter_end(frame) : NULL;
	uint64_t ticks;

	if (!thread)
		return;
	if (tp_config.alloc == TP_ALLOC_TRACE ||
	    (tp_config.alloc == TP_ALLOC_SAMPLE && (whole_pool || tp_sample_remove(sample_key(address))))) {
		ticks = tp_clock_before();
		tp_record(thread, ticks);
		tp_emit_pool_free(thread, ticks, (uintptr_t)address, whole_pool);
		tp_recorded(thread);
	}
	tp_leave(thread);
}

void tp_pool_free(const void *frame, const void *block)
{
	end(frame, block, false);
}

void tp_pool_reset(const void *frame, const void *pool)
{
	end(frame, pool, true);
}
