/* SPDX-License-Identifier: Apache-2.0 */
/* Finds unused parts of threads' stacks in a stopped process; a part of commands/search/roots.h. */
#ifndef TPROF_COMMANDS_SEARCH_STACKS_H
#define TPROF_COMMANDS_SEARCH_STACKS_H

#include "trace/snapshot.h"

#define TPA_RED_ZONE 128u /* A leaf function may use this many bytes below the stack pointer: psABI, 3.2.2. */

/*
 * Marks the dead stack parts of waiting and ended threads; glibc keeps ended threads' stacks for reuse. `still`:
 * header.snapshot_still. Calls `keep` with pointers that only a thread's descriptor holds.
 */
typedef void tpa_stacks_keep(void *context, uint64_t word);
void tpa_stacks_find(struct tpa_frozen *frozen, const uint64_t *still, tpa_stacks_keep *keep, void *context);

#endif
