/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the program's calls of malloc and its family reach the hooks, and who stands before them if not. */
#ifndef TPROF_MEMORY_REACHED_H
#define TPROF_MEMORY_REACHED_H

#include "core/base.h"

/* The hook's malloc is being asked whether it is reached: it answers with a block of the bootstrap arena. */
extern tpc_shared_bool tpc_malloc_probing;

/* Is the hooks' malloc the one that the program calls? If not, says so in the trace. After relocation. */
void tpc_malloc_check(void);

/*
 * Does another object's malloc stand before ours, and have the program's calls? Those of the family that it lacks reach us
 * all the same, and must do as libc's and the C++ library's would: call what stands first, whose blocks they get.
 */
bool tpc_malloc_is_second(void);

/* Finds the operators new and delete behind the hooks (memory/new.c). Once, after tpc_real_find(). */
void tpc_new_find(void);

#endif
