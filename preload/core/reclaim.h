/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes the chunks of threads that have written nothing for a while, when a ring is full: a chunk that has not ended can't be
 * freed, and a program may have more threads than the ring has places.
 *
 * The hooks do nothing for it. Each makes its thread busy, and then asks whether the chunk has room, before it touches the
 * chunk; while an op is pending (core/fold.h), its thread alone changes the limit. So the taker changes the limit to a value
 * that nobody else writes, has the kernel order the memory accesses of all the process's threads (membarrier), and then looks
 * whether the thread is idle and its limit still that value. If so, that thread's next hook finds no room, and
 * tpc_thread_new_chunk() waits until the taker is done.
 */
#ifndef TPROF_CORE_RECLAIM_H
#define TPROF_CORE_RECLAIM_H

#include "core/ring.h"
#include "core/thread.h"

/* The limit of a thread whose chunk is about to be taken. Whoever asks finds no room. */
#define TPC_RECLAIM_LIMIT ((uint8_t *)1)

/* Ends the chunks of threads that have been idle for some time. Any thread, in a hook. No lock that a hook waits for. */
TPC_SLOW void tpc_reclaim_idle(void);

/* From here on the calling thread's chunk is not taken, whether it is busy or not; waits for one that takes it just now. */
TPC_SLOW void tpc_reclaim_forbid(struct tpc_thread *thread);
TPC_SLOW void tpc_reclaim_allow(struct tpc_thread *thread);

/* Waits for a thread that takes the calling thread's chunk just now. */
TPC_SLOW void tpc_reclaim_wait(struct tpc_thread *thread);

/* In a forked child, whose only thread that is. */
void tpc_reclaim_forget(struct tpc_thread *survivor);

/* The thread's chunk, in its own hook, where the hook has perhaps not asked for room. NULL: it has none. */
static inline struct tprof_chunk *tpc_reclaim_left(const struct tpc_thread *thread)
{
	const uint8_t *limit = tpc_load(&thread->limit);

	__atomic_signal_fence(__ATOMIC_ACQUIRE); /* pairs with the taker: the limit is read first */
	return tpc_ring_is_on() && limit <= TPC_RECLAIM_LIMIT ? NULL : thread->chunk;
}

#endif
