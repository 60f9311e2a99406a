/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that the program itself maps from a file, beside the loader: V8 maps its builtins a second time, close to the code
 * that it makes; loaders map a file to be read, and let it be run when they are done with it. No unwind tables are known for
 * it, but the file has names, or at least a name of its own. Fixed room: what does not fit has none.
 */
#ifndef TPROF_STACKS_MAPPED_H
#define TPROF_STACKS_MAPPED_H

#include "core/base.h"

extern tpc_shared_u32 tpc_mapped_count TPC_NEAR; /* ranges that are known; mostly none */

/* `fd` was mapped executable at [start, end), from `offset` on. The calling thread may record. Keeps no descriptor. */
void tpc_mapped_add(uintptr_t start, uintptr_t end, int fd, uint64_t offset);

/* A file was mapped at [start, end), from `offset` on, not to be run. Any thread. */
void tpc_mapped_file(uintptr_t start, uintptr_t end, uint64_t offset);

/* Does a file lie in the range that was mapped so, as far as is remembered? Any thread. */
bool tpc_mapped_is_file(uintptr_t start, uintptr_t end);

/* What is in the range may be run from now on: a file that lies in it is code. The calling thread may record. */
void tpc_mapped_runs(uintptr_t start, uintptr_t end);

/* Something else is or will be mapped there, or nothing. The calling thread may record. */
void tpc_mapped_remove(uintptr_t start, uintptr_t end);

/* The module of the trace that has the PC, and where it starts. 0: none. */
uint32_t tpc_mapped_find(uintptr_t pc, uintptr_t *start);

/* In a forked child: nothing is registered in its trace yet. */
void tpc_mapped_forget(void);

#endif
