/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that one thread at a time does, and that nobody waits for. A turn whose holder will never end it is passed on: it
 * left by a longjmp out of a signal handler, or is dead.
 */
#ifndef TPROF_CORE_TRYLOCK_H
#define TPROF_CORE_TRYLOCK_H

#include "core/base.h"

/* False: another thread is at it. *turn is 0 at first. Any thread; a thread that has the turn gets it again. */
TPC_SLOW bool tpc_trylock_take(tpc_shared_u32 *turn);

/* Release: what was done is seen by the next who takes it. */
static inline void tpc_trylock_end(tpc_shared_u32 *turn)
{
	tpc_store_release(turn, 0u);
}

#endif
