/* SPDX-License-Identifier: Apache-2.0 */
#include "core/chunk.h"

#include "core/assert.h"
#include "core/spill.h"
#include "core/batch.h"
#include "core/clock.h"
#include "core/output.h"
#include "core/ring.h"
#include "core/state.h"

struct tprof_chunk *tpc_chunk_begin(enum tprof_chunk_kind kind, uint32_t thread, uint32_t tid, bool whole)
{
	struct tpc_obstacle obstacle;
	struct tprof_chunk *chunk;
	uint64_t began = tpc_clock_before();

	if (tpc_state_is_child())
		return NULL;
	chunk = tpc_ring_is_on() ? tpc_ring_take(kind, whole, &began, &obstacle) : tpc_batch_take(whole, &obstacle);
	if (tpc_state_is_child()) /* again: the chunk may have been mapped after the fork, from the parent's trace */
		return NULL;
	if (chunk && tpc_spill_waits())
		tpc_spill_write(TPC_SPILL_AT_ONCE);
	if (!chunk && obstacle.passes)
		chunk = tpc_spill_take(kind, obstacle.offset);
	if (!chunk) {
		if (obstacle.cause == TPROF_LOST_RING) {
			tpc_lost(kind == TPROF_CHUNK_TABLES ? TPROF_LOST_STACK : TPROF_LOST_RING, 1);
			return NULL;
		}
		if (kind == TPROF_CHUNK_TABLES)
			tpc_spill_no_tables();
		tpc_stop(obstacle.cause, obstacle.reason);
		return NULL;
	}
	tpc_assert((uintptr_t)chunk % TPC_PAGE == 0);
	tpc_assert(!tpc_load(&chunk->magic) && !tpc_load(&chunk->committed));
	chunk->kind = kind;
	chunk->thread = thread;
	chunk->tid = tid;
	chunk->begin = tpc_clock_moment();
	tpc_store_release(&chunk->magic, TPROF_CHUNK_MAGIC); /* pairs with the reader: the fields above are set */
	tpc_spent(began);
	return chunk;
}

void tpc_chunk_end(struct tprof_chunk *chunk)
{
	tpc_assert((uintptr_t)chunk % TPC_PAGE == 0);
	if (tpc_ring_is_on())
		tpc_ring_give(chunk);
	else if (!tpc_spill_give(chunk))
		tpc_batch_give(chunk);
}
