/* SPDX-License-Identifier: Apache-2.0 */
/* Results that are put into a trace beside what its program writes: whole table chunks, by the program's own protocol. */
#ifndef TPROF_TRACE_APPEND_H
#define TPROF_TRACE_APPEND_H

#include "trace/control.h"
#include "trace/trace.h"

/* Appends REACH records. The trace may be written to meanwhile. False: it could not be written, see errno. */
bool tpa_append_reach(struct tpa_control *control, const struct tpa_reach_sum *sums, size_t count);

#endif
