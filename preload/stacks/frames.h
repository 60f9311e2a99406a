/* SPDX-License-Identifier: Apache-2.0 */
/* The number and the frame rule of each PC that was seen on a stack, worked out once (stacks/frame_table.h stores them). */
#ifndef TPROF_STACKS_FRAMES_H
#define TPROF_STACKS_FRAMES_H

#include "stacks/frame_table.h"

/* `exact`: pc is an interrupted instruction, not a return address. */
struct tpc_frame tpc_frame_find(uintptr_t pc, bool exact);

/*
 * The frames of return addresses that a thread met lately. For a program like `import torch`, whose stacks change all
 * the time, the table of all frames is 3 MB and each look-up waits for a cache line; more than nine in ten look-ups of
 * that program find their frame here (measured by replaying them). All zero: empty. Must be cleared when
 * tpc_frames_epoch changes, and not be used during a dlclose. Own thread only.
 */
struct tpc_frames_lately {
	struct tpc_frames_set {
		uintptr_t pcs[2];
		struct tpc_frame frames[2]; /* the later one first */
	} __attribute__((aligned(64))) sets[256];
};

/* Finds the frame in the table of all, and adds it. */
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

/* Is the frame of a return address known? Only looks, and touches no vector register. */
bool tpc_frame_known(uintptr_t pc, struct tpc_frame *frame);

/* A number for a frame that is not found by PC; the caller writes its record. */
uint32_t tpc_frame_number(void);

/*
 * The code of an interpreter's loop, in pieces: on a stack it stands for the frames of the language that it runs. Set
 * before such frames are met; empty: there is none.
 */
#define TPC_LOOP_PIECES 4u
extern struct tpc_range tpc_frame_loop[TPC_LOOP_PIECES];

/* `at`: an instruction, not a return address. */
bool tpc_frame_in_loop(uintptr_t at);

/* In a forked child: nothing is numbered in its trace yet. */
void tpc_frames_forget(void);

#endif
