/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frame rules: how to get from a PC's frame to its caller's, read from .eh_frame (DWARF 5, section 6.4; LSB 5.0, Core,
 * chapter 10.6). Only what x86-64 code uses is understood: a CFA from a register, or one load away from sp or fp, the
 * return address just below the CFA, fp kept, saved or lost. All else is TPC_RULE_UNKNOWN: never a guess.
 */
#ifndef TPROF_STACKS_RULE_H
#define TPROF_STACKS_RULE_H

#include "core/base.h"

enum tpc_rule_kind {
	TPC_RULE_NONE,	  /* no table covers this PC: try the frame pointer */
	TPC_RULE_UNKNOWN, /* one does, and is not understood */
	TPC_RULE_END,	  /* the outermost frame: its return address is undefined */
	TPC_RULE_SP,	  /* CFA = sp + cfa */
	TPC_RULE_FP,	  /* CFA = fp + cfa */
	TPC_RULE_FP_LOAD, /* CFA = load(fp + cfa) + more: realigned stacks */
	TPC_RULE_SP_LOAD, /* CFA = load(sp + cfa) + more: as OpenSSL's assembly realigns them */
	TPC_RULE_OTHER, /* CFA = register number `more` + cfa: for a few instructions; the lazy binder of ld.so all along */
	TPC_RULE_SIGNAL, /* sp points to the ucontext that the kernel pushed */
};

enum tpc_rule_fp {
	TPC_FP_SAME,
	TPC_FP_AT_CFA, /* load(CFA + fp) */
	TPC_FP_AT_FP,  /* load(fp + fp) */
	TPC_FP_LOST,   /* can't be known: a frame outside that needs it is the last one */
};

struct tpc_rule {
	int32_t cfa, fp;     /* offsets, bytes */
	uint8_t kind : 5;    /* enum tpc_rule_kind */
	uint8_t fp_kind : 3; /* enum tpc_rule_fp */
	uint8_t more;	     /* bytes, or a register's number (x86-64 psABI, figure 3.36) */
	uint16_t module;     /* low bits of its number; set by who keeps the rule */
};

/*
 * The rule at `pc`, from the module's .eh_frame_hdr. `pc` is where the frame stands: a return address is looked up one
 * byte before (its call may be the last instruction of a function), an interrupted instruction as it is. *holds: the code
 * around where it was looked up whose rule is the same, as far as was seen; empty if nothing was.
 */
struct tpc_rule tpc_rule_find(const void *eh_frame_hdr, uintptr_t pc, bool exact, struct tpc_range *holds);

/* The same rule, where fp stands for register number `reg`: what the caller had in that is where the rule says of fp. */
struct tpc_rule tpc_rule_find_for(const void *eh_frame_hdr, uintptr_t pc, bool exact, unsigned int reg);

/*
 * The code of the function that begins at `start`: compilers put what they take to be rarely run elsewhere, under a name
 * that is not exported. The FDEs of such pieces stand behind the function's own, and begin in the middle of a frame (one
 * that begins without a frame can't be told from the next function). Returns how many were put, at most `most`; 0: the
 * function has no FDE. Looks at the whole table: not for a hook.
 */
unsigned int tpc_rule_pieces(const void *eh_frame_hdr, uintptr_t start, struct tpc_range *pieces, unsigned int most);

#endif
