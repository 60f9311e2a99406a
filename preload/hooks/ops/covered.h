/* SPDX-License-Identifier: Apache-2.0 */
/* What was hooked in which object, and what not: in the trace, and kept for the traces of forked children. */
#ifndef TPROF_HOOKS_OPS_COVERED_H
#define TPROF_HOOKS_OPS_COVERED_H

#include <tprof/format.h>

#include "core/base.h"

/* So many more of that object; of TPROF_HOOKS_UNREACHED, so many now. One thread at a time. */
void tpc_covered_add(enum tprof_hooks state, uint64_t pointers, uint64_t functions, const char *object);

/* In a forked child, by its only thread: what holds for it too stands in its own trace. No lock, no allocation. */
void tpc_covered_tell(void);

#endif
