/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that the program maps from a file without the loader: V8 maps its builtins a second time, near the code that it
 * generates; other loaders map a file readable, and make it executable when they are done. There are no unwind tables
 * for such code, but the file has symbols, or at least a name. Fixed capacity: further mappings have no names.
 */
#ifndef TPROF_STACKS_MAPPED_H
#define TPROF_STACKS_MAPPED_H

#include "core/base.h"

extern tpc_shared_u32 tpc_mapped_count TPC_NEAR; /* known ranges; mostly none */

/* `fd` was mapped executable at [start, end), from `offset` on. The calling thread may record. Keeps no descriptor. */
void tpc_mapped_add(uintptr_t start, uintptr_t end, int fd, uint64_t offset);

/* A file was mapped at [start, end), from `offset` on, not executable. Any thread. */
void tpc_mapped_file(uintptr_t start, uintptr_t end, uint64_t offset);

/* Is a file, mapped so, known to lie in the range? Any thread. */
bool tpc_mapped_is_file(uintptr_t start, uintptr_t end);

/* The range becomes executable: a file in it is code. The calling thread may record. */
void tpc_mapped_runs(uintptr_t start, uintptr_t end);

/* The range is or will be unmapped, or mapped to something else. The calling thread may record. */
void tpc_mapped_remove(uintptr_t start, uintptr_t end);

/* The trace's module that contains the PC, and its start. 0: none. */
uint32_t tpc_mapped_find(uintptr_t pc, uintptr_t *start);

/* In a forked child: nothing is registered in its trace yet. */
void tpc_mapped_forget(void);

#endif
