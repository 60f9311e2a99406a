/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code objects and places in them, numbered in the trace when first seen. A number stands for the content of the code
 * (function, file, first line, line table), not for its address. A new code object at the address of a dead one is
 * recognized, because tpc_code_died() reports the death; two with the same content have the same number.
 */
#ifndef TPROF_HOOKS_PYTHON_CODES_H
#define TPROF_HOOKS_PYTHON_CODES_H

#include "hooks/python/layout.h"
#include "hooks/python/read.h"

extern struct tpc_python_layout tpc_python;
extern uintptr_t tpc_python_code_type; /* address of PyCode_Type */

/*
 * Changes whenever a code object has died, or may have: what was known by its address may be wrong. To be loaded before
 * a look-up.
 */
extern tpc_shared_u64 tpc_code_deaths;

/* A place: an instruction, and whether its frame is the outermost of a call of the interpreter's loop. */
struct tpc_python_place {
	uintptr_t code; /* 0, with TPC_PYTHON_DESERTED: that call has no frame any more */
	uintptr_t at;	/* the instruction's address, or its number; even, the lowest bit says `entry` */
};

#define TPC_PYTHON_DESERTED 1u

/* The number of a frame in the trace. 0: it can't be read. */
uint32_t tpc_python_frame(struct tpc_reader *reader, const struct tpc_python_place *place);

/* A code object is about to be deallocated. Any thread. */
void tpc_code_died(uintptr_t code);

/* In a forked child: nothing is numbered in its trace yet. */
void tpc_codes_forget(void);

#endif
