/* SPDX-License-Identifier: Apache-2.0 */
/* The trace file: its name, its creation, its growth. */
#ifndef TPROF_CORE_OUTPUT_H
#define TPROF_CORE_OUTPUT_H

#include <tprof/format.h>

#include "core/base.h"

struct tpc_identity; /* core/process.h */

/*
 * Creates the trace file of this process as TPROF_OUTPUT says; its header is described, locked and mapped. `origin` is
 * TPROF_ORIGIN_FORK (with the parent's trace) or 0: then it is found out. NULL: *reason says why, and tpc_output_path()
 * which file; or *reason is NULL: this is a further process of a run that does not want them (TPROF_CHILDREN=0).
 */
struct tprof_header *tpc_output_create(const struct tpc_identity *identity, uint32_t origin, const char *parent,
				       const char **reason);

/* Absolute path of the trace; "" before the first create. */
const char *tpc_output_path(void);

/* What was in the way of one more chunk. */
struct tpc_obstacle {
	enum tprof_lost cause;
	const char *reason;
	bool passes;	 /* the disk is full: others may make room on it */
	uint64_t offset; /* where in the file the chunk would stand; nothing else will */
};

/*
 * Makes room for chunks `number` and as many behind it as make `count`, and maps them. NULL: *obstacle says what was in the
 * way; nothing is mapped. The file is looked at by its number, and by its name when the program closed that; never is a file
 * touched that is not the trace. `whole`: all of them will be written to, so their pages are made now.
 */
struct tprof_chunk *tpc_output_grow(uint64_t number, uint32_t count, bool whole, struct tpc_obstacle *obstacle);

/* A descriptor of the trace, the caller's to close: another thread can't take it away. Or a negative errno. */
int tpc_output_reach(void);

/* In a forked child: lets go of the parent's file. */
void tpc_output_forget(void);

#endif
