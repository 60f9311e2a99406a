/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether the program's calls of the malloc family reach the hooks, and which library precedes them if not. */
#ifndef TPROF_MEMORY_REACHED_H
#define TPROF_MEMORY_REACHED_H

#include "core/base.h"

/* Set while malloc is called to see whether the hook is reached: the hook then returns a block of the bootstrap arena. */
extern tpc_shared_bool tpc_malloc_probing;

/* Does the program call the hooks' malloc? If not, says so in the trace. After relocation. */
void tpc_malloc_check(void);

/*
 * Does another object's malloc precede ours and get the program's calls? Functions of the family that it lacks still
 * reach us, and must behave like those of libc and the C++ library: call that malloc and free, whose blocks they get.
 */
bool tpc_malloc_is_second(void);

/* Finds the operators new and delete behind the hooks (memory/new.c). Once, after tpc_real_find(). */
void tpc_new_find(void);

#endif
