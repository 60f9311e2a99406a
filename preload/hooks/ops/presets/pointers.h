/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers of a library's own, in its tables, through which its functions are called: they are led to stubs. */
#ifndef TPROF_HOOKS_OPS_PRESETS_POINTERS_H
#define TPROF_HOOKS_OPS_PRESETS_POINTERS_H

#include <tprof/format.h>

#include "core/base.h"

/* Outside of any hook. False: its page can't be made writable. */
bool tpc_pointer_store(void **slot, void *value);

/* Adds to the coverage of the object that has `target` that many pointers. */
void tpc_pointers_tell(enum tprof_hooks state, uint64_t pointers, const void *target);

/* Calls `visit` for each pointer, in what the loader made read-only of the object that has `target`, into that range. */
void tpc_pointers_each(const void *target, struct tpc_range range, void (*visit)(void **slot));

#endif
