/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/memory/pool.h"

#include "hooks/memory/record.h"

/* A pool's first block may have the address of the heap block that contains it: the sample needs different keys. */
static uint64_t sample_key(const void *block)
{
	return (uintptr_t)block ^ UINT64_C(1) << 63;
}

static bool is_sampled(struct tpc_thread *thread, const void *block, size_t size)
{
	return tpc_config.alloc == TPC_ALLOC_SAMPLE && tpc_sample_wanted(thread, size) &&
	       tpc_sample_insert(sample_key(block));
}

static void note_pools(void)
{
	if (!(tpc_load(&tpc_header->flags) & TPROF_FLAG_POOLS))
		tpc_set_bits(&tpc_header->flags, TPROF_FLAG_POOLS);
}

void tpc_pool_alloc(const void *frame, const void *pool, const void *block, size_t size)
{
	struct tpc_thread *thread = block ? tpc_enter(frame) : NULL;
	struct tpc_block record = { .address = (uintptr_t)block, .size = size };
	uint64_t ticks;

	if (!thread)
		return;
	if (tpc_config.alloc == TPC_ALLOC_TRACE || is_sampled(thread, block, size)) {
		note_pools();
		record.mean = tpc_sample_mean(thread);
		ticks = tpc_clock_after();
		tpc_record(thread, ticks);
		record.node = tpc_caller_stack(thread, frame);
		tpc_emit_pool_alloc(thread, ticks, (uintptr_t)pool, &record);
		tpc_recorded(thread);
	}
	tpc_leave(thread);
}

static void end(const void *frame, const void *address, bool whole_pool)
{
	struct tpc_thread *thread = address ? tpc_enter_end(frame) : NULL;
	uint64_t ticks;

	if (!thread)
		return;
	if (tpc_config.alloc == TPC_ALLOC_TRACE ||
	    (tpc_config.alloc == TPC_ALLOC_SAMPLE && (whole_pool || tpc_sample_remove(sample_key(address))))) {
		if (whole_pool)
			note_pools();
		ticks = tpc_clock_before();
		tpc_record(thread, ticks);
		tpc_emit_pool_free(thread, ticks, (uintptr_t)address, whole_pool);
		tpc_recorded(thread);
	}
	tpc_leave(thread);
}

void tpc_pool_free(const void *frame, const void *block)
{
	end(frame, block, false);
}

void tpc_pool_reset(const void *frame, const void *pool)
{
	end(frame, pool, true);
}
