/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From registers to a stack node.
 *
 * The walk goes outwards by frame rules until it meets a frame of the thread's previous walk: same PC, same stack
 * pointer, and same rbp where an outer frame needs it. From there on the outcome depends only on memory that the previous
 * walk read: the return addresses, and the saved rbp's that matter. If all of them are as they were, so is the rest of
 * the stack: one load and one compare a frame, and exact. Nothing is patched, nothing is assumed.
 *
 * Memory is read between the start's stack pointer and the end of the stack only.
 */
#ifndef TPROF_STACKS_WALK_H
#define TPROF_STACKS_WALK_H

#include "core/thread.h"

struct tp_registers {
	uintptr_t pc, sp, bp;
};

/*
 * The node of the stack whose innermost frame is `at`. The thread's bounds must hold at.sp. Own thread only.
 * tp_walk_caller() below gives the registers of a hook's caller.
 */
uint32_t tp_walk(struct tp_thread *thread, struct tp_registers at);

/* The same for a thread that was interrupted: at.pc is the instruction that it was at, not a return address. */
uint32_t tp_walk_interrupted(struct tp_thread *thread, struct tp_registers at);

/* Program counters of the last walk, innermost first; for tests. Returns how many there are. */
size_t tp_walk_last(const struct tp_thread *thread, uintptr_t *pcs, size_t max);

/* `frame` is __builtin_frame_address(0) of an exported hook: its saved rbp, with the return address behind. */
static inline struct tp_registers tp_walk_caller(const void *frame)
{
	const uintptr_t *words = frame;

	return (struct tp_registers){ .pc = words[1], .sp = (uintptr_t)(words + 2), .bp = words[0] };
}

#endif
