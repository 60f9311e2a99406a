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

/* Notes by which call: enum tprof_end_way. Only the first one counts. */
void tpc_mark_way(uint32_t way);

#endif
