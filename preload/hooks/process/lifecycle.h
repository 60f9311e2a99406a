/* SPDX-License-Identifier: Apache-2.0 */
/* The recording's beginning and end in this process. */
#ifndef TPROF_PROCESS_LIFECYCLE_H
#define TPROF_PROCESS_LIFECYCLE_H

#include "core/base.h"

/* What the process's memory is made of as it ends: before tpc_mark_end(). `frame`: the exported hook's, as for tpc_enter(). */
TPC_SLOW void tpc_last_sample(const void *frame);

/* Writes down how the process ends, as far as it is known: enum tprof_end and the status. Recording goes on. */
TPC_SLOW void tpc_mark_end(uint32_t end, int status);

/* By what call: enum tprof_end_way. The first that says so is the one. */
void tpc_mark_way(uint32_t way);

#endif
