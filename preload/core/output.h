/* SPDX-License-Identifier: Apache-2.0 */
/* The trace file: its name, its creation, its growth. */
#ifndef TPROF_CORE_OUTPUT_H
#define TPROF_CORE_OUTPUT_H

#include <tprof/format.h>

#include "core/base.h"

struct tpc_identity; /* core/process.h */

/*
 * Creates the trace file of this process as TPROF_OUTPUT says, with its header filled in, locked and mapped. `origin`
 * is TPROF_ORIGIN_FORK (with the path of the parent's trace), or 0: then it is determined here. NULL: *reason says why,
 * and tpc_output_path() which file; if *reason is NULL, this is a further process of a run that records only one
 * (TPROF_CHILDREN=0).
 */
struct tprof_header *tpc_output_create(const struct tpc_identity *identity, uint32_t origin, const char *parent,
				       const char **reason);

/* Absolute path of the trace; "" before the first create. */
const char *tpc_output_path(void);

/* Why a chunk could not be allocated. */
struct tpc_obstacle {
	enum tprof_lost cause;
	const char *reason;
	bool passes;	 /* the disk is full, which may pass */
	bool full;	 /* or RLIMIT_FSIZE is reached */
	uint64_t offset; /* the chunk's place in the file; it stays reserved */
};

/*
 * Reserves and maps `count` chunks from `number` on. NULL: *obstacle says why; nothing is mapped. The trace is reached
 * by its descriptor, or by its name if the program closed that; a file that is not the trace is never touched. `whole`:
 * all of the chunks will be filled, so their pages are allocated now.
 */
struct tprof_chunk *tpc_output_grow(uint64_t number, uint32_t count, bool whole, struct tpc_obstacle *obstacle);

/* A new descriptor of the trace, which the caller closes; so another thread can't take it away. Or a negative errno. */
int tpc_output_reach(void);

/* In a forked child: closes the parent's file. */
void tpc_output_forget(void);

#endif
