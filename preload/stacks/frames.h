/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every PC ever seen on a stack: its number in the trace and its frame rule, worked out once (stacks/frame_table.h keeps them).
 */
#ifndef TPROF_STACKS_FRAMES_H
#define TPROF_STACKS_FRAMES_H

#include "stacks/frame_table.h"

/* `exact`: pc is an interrupted instruction, not a return address. */
struct tpc_frame tpc_frame_find(uintptr_t pc, bool exact);

/*
 * Those of return addresses that a thread came by lately: with a program like `import torch`, whose stacks change all the time,
 * the table of all is 3 MB, of which each look-up waits for a line; more than nine in ten
 * are for one of these (the look-ups of that program, replayed). All zero: none.
 * To be cleared when tpc_frames_epoch changes, and not asked while a dlclose is under way. Own thread only.
 */
struct tpc_frames_lately {
	struct tpc_frames_set {
		uintptr_t pcs[2];
		struct tpc_frame frames[2]; /* the one that came later first */
	} __attribute__((aligned(64))) sets[256];
};

/* Where the frame is not there: finds it, and puts it there. */
TPC_APART struct tpc_frame tpc_frame_find_anew(struct tpc_frames_set *set, uintptr_t pc);

/* Multiplicative hashing (Knuth, TAOCP 6.4). */
TPC_HOT struct tpc_frame tpc_frame_find_lately(struct tpc_frames_lately *lately, uintptr_t pc)
{
	struct tpc_frames_set *set = &lately->sets[pc * UINT64_C(0x9e3779b97f4a7c15) >> 56];

	if (tpc_likely(set->pcs[0] == pc))
		return set->frames[0];
	if (tpc_likely(set->pcs[1] == pc))
		return set->frames[1];
	return tpc_frame_find_anew(set, pc);
}

/* Is the frame of a return address known? Looks, and touches no vector register. */
bool tpc_frame_known(uintptr_t pc, struct tpc_frame *frame);

/* A number for a frame that is not found by its PC; its record is the caller's to write. */
uint32_t tpc_frame_number(void);

/*
 * The code of an interpreter's loop, in its pieces, that stands on a stack for the frames of the language that it runs.
 * Set before frames of it are met; empty: there is none.
 */
#define TPC_LOOP_PIECES 4u
extern struct tpc_range tpc_frame_loop[TPC_LOOP_PIECES];

/* `at`: an instruction, not a return address. */
bool tpc_frame_in_loop(uintptr_t at);

/* In a forked child: nothing is numbered in its trace yet. */
void tpc_frames_forget(void);

#endif
