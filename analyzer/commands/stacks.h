/* SPDX-License-Identifier: Apache-2.0 */
/* What of the threads' stacks the program does not use, in a process that stands still; a part of commands/roots.h. */
#ifndef TPROF_COMMANDS_STACKS_H
#define TPROF_COMMANDS_STACKS_H

#include "trace/snapshot.h"

#define TPA_RED_ZONE 128u /* below the stack pointer functions that call none may use so much: psABI, 3.2.2 */

/*
 * Notes what is dead of threads that wait, and of those that have ended: glibc keeps their stacks for the next ones. `still`:
 * header.snapshot_still. What else has a thread's descriptor alone, `keep` is called with.
 */
typedef void tpa_stacks_keep(void *context, uint64_t word);
void tpa_stacks_find(struct tpa_frozen *frozen, const uint64_t *still, tpa_stacks_keep *keep, void *context);

#endif
