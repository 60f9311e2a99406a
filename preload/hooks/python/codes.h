/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code objects and the places in them, numbered in the trace when they are first seen. A number stands for what the code
 * is (function, file, first line, line table), not for where it lies: a code object that dies and one that is made anew
 * at its address are told apart, because the interpreter is seen to take the first down (tpc_code_died()); two with the
 * same content have one number.
 */
#ifndef TPROF_HOOKS_PYTHON_CODES_H
#define TPROF_HOOKS_PYTHON_CODES_H

#include "hooks/python/layout.h"
#include "hooks/python/read.h"

extern struct tpc_python_layout tpc_python;
extern uintptr_t tpc_python_code_type; /* address of PyCode_Type */

/* Changes whenever a code object has died, or may have: what was known of one by its address may be wrong. Load it before. */
extern tpc_shared_u64 tpc_code_deaths;

/* A place: instruction and whether its frame is the outermost of a call of the interpreter's loop. */
struct tpc_python_place {
	uintptr_t code; /* 0, and TPC_PYTHON_DESERTED: that call has no frame any more */
	uintptr_t at;	/* the instruction's address, or its number; even, the lowest bit says `entry` */
};

#define TPC_PYTHON_DESERTED 1u

/* The number of a frame in the trace. 0: what is there can't be read. */
uint32_t tpc_python_frame(struct tpc_reader *reader, const struct tpc_python_place *place);

/* A code object is about to be taken down. Any thread. */
void tpc_code_died(uintptr_t code);

/* In a forked child: nothing is numbered in its trace yet. */
void tpc_codes_forget(void);

#endif
