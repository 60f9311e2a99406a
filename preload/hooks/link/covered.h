/* SPDX-License-Identifier: Apache-2.0 */
/* Records what was hooked in each object, and what was not; and keeps that for the traces of forked children. */
#ifndef TPROF_LINK_COVERED_H
#define TPROF_LINK_COVERED_H

#include <tprof/format.h>

#include "core/base.h"

/* Adds to the numbers of that object; for TPROF_HOOKS_UNREACHED, and a function that is
 * named, replaces them. One thread at a time. */
void tpc_covered_add(enum tprof_hooks state, uint64_t pointers, uint64_t functions, const char *object);

/*
 * In a forked child, by its only thread: writes what also holds for the child into its own trace. No lock, no
 * allocation.
 */
void tpc_covered_tell(void);

/* Nothing is hooked any more. */
void tpc_covered_forget(void);

#endif
