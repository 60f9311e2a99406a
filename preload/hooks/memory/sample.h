/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TPROF_ALLOC=sample:BYTES. Each byte allocated is a hit with probability 1 / BYTES, independently; a block with a hit is
 * recorded, with its free. So a block of s bytes is recorded with probability 1 - exp(-s / BYTES), and a reader that
 * weights it with the inverse estimates without bias (Poisson sampling; Horvitz, Thompson 1952).
 *
 * An allocation without a hit costs a subtraction and some branches; a free, a look at one byte (tp_sample_known).
 */
#ifndef TPROF_HOOKS_MEMORY_SAMPLE_H
#define TPROF_HOOKS_MEMORY_SAMPLE_H

#include "core/thread.h"

#define TP_SAMPLE_KNOWN_BITS 14

/* How many recorded blocks that live have an address of this hash. */
extern uint8_t tp_sample_known[1u << TP_SAMPLE_KNOWN_BITS] TP_NEAR;

static inline uint8_t *tp_sample_known_at(uint64_t address)
{
	return &tp_sample_known[address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TP_SAMPLE_KNOWN_BITS)];
}

/*
 * Is an allocation passed by, without any of it being recorded? For threads that are open (hooks/gate/enter.h) and did not
 * enter: what is recorded, or who the caller is, is looked at closer then.
 */
TP_HOT bool tp_sample_passes(struct tp_thread *thread, const void *frame, uint64_t size)
{
	if (thread->until_sample <= size || (uintptr_t)frame - thread->bounds.low >= thread->pass_extent)
		return false;
	thread->until_sample -= size;
	return true;
}

/* Is a free passed by, as that of a block that was not recorded? */
TP_HOT bool tp_sample_passes_free(const struct tp_thread *thread, const void *frame, const void *block)
{
	return (uintptr_t)frame - thread->bounds.low < thread->pass_extent &&
	       !tp_load(tp_sample_known_at((uintptr_t)block));
}

/* The distance in bytes from the last byte seen to the thread's next hit, drawn anew. */
TP_SLOW void tp_sample_draw(struct tp_thread *thread);

/* Is a new block of `size` bytes one to record? */
static inline bool tp_sample_wanted(struct tp_thread *thread, uint64_t size)
{
	if (tp_likely(thread->until_sample > size)) {
		thread->until_sample -= size;
		return false;
	}
	if (tp_unlikely(!thread->random)) { /* the thread's first: the distance was not drawn yet */
		tp_sample_draw(thread);
		return tp_sample_wanted(thread, size);
	}
	tp_sample_draw(thread); /* the process has no memory: the rest of the block does not matter */
	return true;
}

/* Remembers a recorded block. False: no room, so it can't be recorded (counted as lost). */
TP_SLOW bool tp_sample_insert(uint64_t address);

/* Was the block recorded? Forgets it. Any thread. */
bool tp_sample_remove(uint64_t address);

#endif
