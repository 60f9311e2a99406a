/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frame rules: how to get from a PC's frame to its caller's, read from .eh_frame or .debug_frame (DWARF 5, section
 * 6.4; LSB 5.0, Core, chapter 10.6). Understands what x86-64 code uses: a CFA from a register, or one load away from sp or fp, the return
 * address just below the CFA, fp kept, saved or lost. Everything else is TPC_RULE_UNKNOWN: never a guess.
 */
#ifndef TPROF_STACKS_RULE_H
#define TPROF_STACKS_RULE_H

#include "core/base.h"

enum tpc_rule_kind {
	TPC_RULE_NONE,	  /* no table covers this PC: try the frame pointer */
	TPC_RULE_UNKNOWN, /* a table covers it, but is not understood */
	TPC_RULE_END,	  /* the outermost frame: its return address is undefined */
	TPC_RULE_SP,	  /* CFA = sp + cfa */
	TPC_RULE_FP,	  /* CFA = fp + cfa */
	TPC_RULE_FP_LOAD, /* CFA = load(fp + cfa) + more: realigned stacks */
	TPC_RULE_SP_LOAD, /* CFA = load(sp + cfa) + more: realigned stacks of OpenSSL's assembly */
	TPC_RULE_OTHER, /* CFA = register number `more` + cfa: for a few instructions, and in all of ld.so's lazy binder */
	TPC_RULE_SIGNAL, /* sp points to the ucontext that the kernel pushed */
};

enum tpc_rule_fp {
	TPC_FP_SAME,
	TPC_FP_AT_CFA, /* load(CFA + fp) */
	TPC_FP_AT_FP,  /* load(fp + fp) */
	TPC_FP_LOST,   /* unknown: the walk ends at a frame further out that needs it */
};

struct tpc_rule {
	int32_t cfa, fp;     /* offsets, bytes */
	uint8_t kind : 4;    /* enum tpc_rule_kind */
	uint8_t guessed : 1; /* no table tells it: it was read from the code */
	uint8_t fp_kind : 3; /* enum tpc_rule_fp */
	uint8_t more;	     /* bytes, or a register's number (x86-64 psABI, figure 3.36) */
	uint16_t module;     /* low bits of its number; set where the rule is kept */
};

#endif
