/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TPROF_ALLOC=sample:BYTES. Each byte allocated is a hit with probability 1 / BYTES, independently; a block with a hit is
 * recorded, with its free. So a block of s bytes is recorded with probability 1 - exp(-s / BYTES), and a reader that
 * weights it with the inverse estimates without bias (Poisson sampling; Horvitz, Thompson 1952).
 *
 * With TPROF_MAX_OVERHEAD the mean changes (core/budget.h), and a block's event has the mean by which it was drawn. At times all
 * blocks are recorded: then each is a hit, and is remembered as such, so that its free is recorded whatever the mean is by then.
 *
 * An allocation without a hit costs a subtraction and some branches; a free, a look at one byte (tpc_sample_known).
 */
#ifndef TPROF_HOOKS_MEMORY_SAMPLE_H
#define TPROF_HOOKS_MEMORY_SAMPLE_H

#include "core/config.h"
#include "core/thread.h"

#define TPC_SAMPLE_KNOWN_BITS 16

/* How many live recorded blocks have an address with this hash. */
extern tpc_shared_u8 tpc_sample_known[1u << TPC_SAMPLE_KNOWN_BITS] TPC_NEAR;

static inline tpc_shared_u8 *tpc_sample_known_at(uint64_t address)
{
	return &tpc_sample_known[address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TPC_SAMPLE_KNOWN_BITS)];
}

/*
 * May an allocation be passed by without recording anything? For open threads (hooks/gate/enter.h) that did not enter:
 * the slow path looks closer at what is recorded and at the caller.
 */
TPC_HOT bool tpc_sample_passes(struct tpc_thread *thread, const void *frame, uint64_t size)
{
	if (thread->until_sample <= size || (uintptr_t)frame - thread->bounds.low >= thread->pass_extent)
		return false;
	thread->until_sample -= size;
	return true;
}

/* May a free be passed by, because its block was not recorded? */
TPC_HOT bool tpc_sample_passes_free(const struct tpc_thread *thread, const void *frame, const void *block)
{
	return (uintptr_t)frame - thread->bounds.low < thread->pass_extent &&
	       !tpc_load(tpc_sample_known_at((uintptr_t)block));
}

/* A new block of `size` bytes ends the distance that was drawn last, or none was drawn, or all blocks are recorded: is it a hit? */
TPC_SLOW bool tpc_sample_hits(struct tpc_thread *thread, uint64_t size);

/* Is a new block of `size` bytes to be recorded? */
static inline bool tpc_sample_wanted(struct tpc_thread *thread, uint64_t size)
{
	if (tpc_unlikely(thread->until_sample <= size || tpc_config_takes_all()))
		return tpc_sample_hits(thread, size);
	thread->until_sample -= size;
	return false;
}

/* What the event of the thread's last hit says of its mean, as struct tpc_block does. */
static inline uint8_t tpc_sample_mean(const struct tpc_thread *thread)
{
	return tpc_config.alloc == TPC_ALLOC_SAMPLE && !tpc_config.sample_bytes ? (uint8_t)(thread->hit_log2 + 1) : 0;
}

/* Remembers a recorded block. False: no room, so it can't be recorded (counted as lost). */
TPC_SLOW bool tpc_sample_insert(uint64_t address);

/* Was the block recorded? Forgets it. Any thread. */
bool tpc_sample_remove(uint64_t address);

#endif
