/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that were freed in the current pause. Each free is recorded once: a later block at the same address began in
 * the pause, so its end is of no interest, and costs a look into this table instead of an event. Allocators hand out
 * the same addresses repeatedly.
 *
 * A table without chains. If an address is missing, its free is recorded, which does no harm; an address in the table
 * must be right. A block that is recorded in a pause nevertheless (a reallocation; the hook of a thread that entered
 * before) is removed before the program sees it: during a pause tpc_switch() sends every event through
 * tpc_recorded_called_slow().
 */
#ifndef TPROF_GATE_PAUSED_FREES_H
#define TPROF_GATE_PAUSED_FREES_H

#include "core/state.h"

#define TPC_PAUSED_FREES_BITS 15

extern tpc_shared_u64 tpc_paused_frees[1u << TPC_PAUSED_FREES_BITS] TPC_NEAR; /* addresses; 0: none */

static inline tpc_shared_u64 *tpc_paused_free_at(uint64_t address)
{
	return &tpc_paused_frees[address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TPC_PAUSED_FREES_BITS)];
}

/* To be called before a pause begins. */
TPC_SLOW void tpc_paused_free_clear(void);

/*
 * The gate is closed. May the free of the block be skipped: because everything began in the pause, or because a block
 * at this address was freed in it?
 */
static inline bool tpc_paused_free_passes(uint32_t gate, const void *block)
{
	return gate == TPROF_GATE_ALL || tpc_load(tpc_paused_free_at((uintptr_t)block)) == (uintptr_t)block;
}

/* In a pause: its free was recorded, and its memory is not returned yet. */
static inline void tpc_paused_free_note(const void *block)
{
	tpc_store(tpc_paused_free_at((uintptr_t)block), (uintptr_t)block);
}

/* Its beginning was recorded. */
static inline void tpc_paused_free_forget(uint64_t address)
{
	tpc_store(tpc_paused_free_at(address), UINT64_C(0));
}

/*
 * A reallocation in a pause, whose free of the old block was recorded: to be called before the real call, and after it
 * if it failed. (If the new block is at the old address, its allocation is recorded.)
 */
static inline void tpc_paused_free_note_moving(const void *old, bool freed)
{
	if (freed && tpc_load(&tpc_state.mode) == TPC_MODE_PAUSED)
		tpc_paused_free_note(old);
}

static inline void tpc_paused_free_note_moved(const void *old, bool freed, const void *block)
{
	if (freed && !block)
		tpc_paused_free_forget((uintptr_t)old);
}

#endif
