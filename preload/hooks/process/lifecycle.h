/* SPDX-License-Identifier: Apache-2.0 */
/* Begin and end of recording in this process. */
#ifndef TPROF_PROCESS_LIFECYCLE_H
#define TPROF_PROCESS_LIFECYCLE_H

#include "core/base.h"

/*
 * Takes a last sample of memory as the process ends: before tpc_mark_end(). `frame`: the exported hook's, as for
 * tpc_enter().
 */
TPC_SLOW void tpc_last_sample(const void *frame);

/* Notes how the process ends, as far as that is known: enum tprof_end and the status. Recording continues. */
TPC_SLOW void tpc_mark_end(uint32_t end, int status);

/*
 * Starts recording in a process that was started without libtprof.so, paused. `settings`: NAME=value of the TPROF_*
 * variables, ended by NULL; they and the list stay. Returns NULL, or why there is no trace. The thread is in no hook
 * and holds no lock of the loader or the allocator. After tpc_lifecycle_leave() a further trace begins.
 */
const char *tpc_lifecycle_late(char *const *settings);

/*
 * Ends what tpc_lifecycle_late() began: takes the hooks back and finishes the trace. Threads may still be in hooks, which
 * do nothing then. Returns NULL, or what is wrong. The thread as there; `frame`: the exported function's.
 */
const char *tpc_lifecycle_leave(const void *frame);

/* Notes by which call: enum tprof_end_way. Only the first one counts. */
void tpc_mark_way(uint32_t way);

#endif
