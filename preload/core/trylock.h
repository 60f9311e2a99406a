/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks for work that one thread at a time does, and that no other thread waits for. A lock passes on if its holder
 * will never release it: a longjmp out of a signal handler left the work, or the thread is dead.
 */
#ifndef TPROF_CORE_TRYLOCK_H
#define TPROF_CORE_TRYLOCK_H

#include "core/base.h"

/* False: another thread has the lock. *turn is 0 at first. Any thread; the holder gets it again. */
TPC_SLOW bool tpc_trylock_take(tpc_shared_u32 *turn);

/* Release: the next holder sees what was done. */
static inline void tpc_trylock_end(tpc_shared_u32 *turn)
{
	tpc_store_release(turn, 0u);
}

#endif
