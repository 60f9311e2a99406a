/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TPROF_RING: a trace that never exceeds a size. Each chunk has a place in the file. Once all places were used, new chunks
 * take those whose events a process beside this one, the folder (core/folder.h), has replayed into a checkpoint. Threads
 * wait a while for it, TPROF_RING_WAIT, and then drop events until it has freed places. No lock.
 *
 * Each place has an address of its own, in address space that is reserved at the start.
 */
#ifndef TPROF_CORE_RING_H
#define TPROF_CORE_RING_H

#include <tprof/format.h>

#include "core/base.h"
#include "core/config.h"

struct tpc_obstacle; /* core/output.h */

static inline bool tpc_ring_is_on(void)
{
	return tpc_unlikely(tpc_config.ring != 0);
}

/* The trace was created: makes chunk 0, which tells what each place is used for. */
TPC_SLOW void tpc_ring_open(void);

/* In a forked child: the parent's chunks are no longer mapped. */
TPC_SLOW void tpc_ring_forget(void);

/*
 * A chunk whose header is zeros. Waits for the folder if there is no room for events; the time of that is added to *began. `whole`:
 * as in tpc_batch_take(). NULL: *obstacle says why not: TPROF_LOST_RING if it is full, and recording goes on. Any thread.
 */
TPC_SLOW struct tprof_chunk *tpc_ring_take(enum tprof_chunk_kind kind, bool whole, uint64_t *began,
					   struct tpc_obstacle *obstacle);

/* The chunk is complete. Ignores chunks that are not this process's. */
TPC_SLOW void tpc_ring_give(struct tprof_chunk *chunk);

#endif
