/* SPDX-License-Identifier: Apache-2.0 */
#include "core/chunk.h"

#include "core/spill.h"
#include "core/batch.h"
#include "core/clock.h"
#include "core/output.h"
#include "core/state.h"

struct tprof_chunk *tp_chunk_begin(enum tprof_chunk_kind kind, uint32_t thread, uint32_t tid, bool whole)
{
	struct tp_obstacle obstacle;
	struct tprof_chunk *chunk;
	uint64_t began = tp_clock_before();

	if (tp_state_is_child())
		return NULL;
	chunk = tp_batch_take(whole, &obstacle);
	if (tp_state_is_child()) /* by now: it may have been mapped after the fork, from the parent's trace */
		return NULL;
	if (chunk && tp_spill_waits())
		tp_spill_write(TP_SPILL_AT_ONCE);
	if (!chunk && obstacle.passes)
		chunk = tp_spill_take(kind, obstacle.offset);
	if (!chunk) {
		if (kind == TPROF_CHUNK_TABLES)
			tp_spill_no_tables();
		tp_stop(obstacle.cause, obstacle.reason);
		return NULL;
	}
	chunk->kind = kind;
	chunk->thread = thread;
	chunk->tid = tid;
	chunk->begin = tp_clock_moment();
	tp_store_release(&chunk->magic, TPROF_CHUNK_MAGIC); /* pairs with the reader: the fields above are set */
	tp_spent(began);
	return chunk;
}

void tp_chunk_end(struct tprof_chunk *chunk)
{
	if (!tp_spill_give(chunk))
		tp_batch_give(chunk);
}
