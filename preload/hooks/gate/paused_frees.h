/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that were freed in the current pause of recording. Each is recorded once: whatever has its address later began in
 * the pause, so its end is nobody's business, and costs a look into this table instead of an event. An allocator hands out
 * the same addresses again and again.
 *
 * A table without chains: an address that is not in it is recorded, which does no harm. One that is must be right. A
 * block that is recorded all the same in a pause (a reallocation; the hook of a thread that came in before it) is taken out
 * again before the program sees it: tpc_switch() has every event of a pause come by tpc_recorded_called_slow().
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

/* Before a pause begins. */
TPC_SLOW void tpc_paused_free_clear(void);

/* The gate is closed. Is the end of the block nobody's: as all began in the pause, or as one of its address ended in it? */
static inline bool tpc_paused_free_passes(uint32_t gate, const void *block)
{
	return gate == TPROF_GATE_ALL || tpc_load(tpc_paused_free_at((uintptr_t)block)) == (uintptr_t)block;
}

/* In a pause: its end was recorded, and its memory not yet given back. */
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
 * A reallocation in a pause: the end of the old block was recorded; before the real call, and after it, when that failed. (If the
 * new one is where the old one was, its beginning is recorded.)
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
