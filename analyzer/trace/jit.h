/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames in code that a compiler made at run time. A trace knows an address only; where the compiler's jitdump says that
 * several pieces of code stood there one after the other, the address stands for several frames, and each event's stack
 * has those of its time.
 */
#ifndef TPROF_TRACE_JIT_H
#define TPROF_TRACE_JIT_H

#include "trace/events.h"

/*
 * Looks for the process's jitdump: in `folder` (NULL: none is named), where the process mapped it, beside the trace, in
 * the process's directory, in /tmp. Fills trace->jit, and frames and nodes where they are needed. Before events are read.
 * False: no memory.
 */
bool tp_jit_load(struct tp_trace *trace, const char *folder);

/* Gives events the stacks of their time; for the reader of events. */
struct tp_jit_times;
void tp_jit_time(const struct tp_jit_times *times, const struct tp_trace *trace, struct tp_event *events, size_t count);

/* Of a trace that is closed. */
void tp_jit_free(struct tp_trace *trace);

#endif
