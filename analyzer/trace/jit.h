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
bool tpa_jit_load(struct tpa_trace *trace, const char *folder);

/* Gives events the stacks of their time; for the reader of events. */
struct tpa_jit_times;
void tpa_jit_time(const struct tpa_jit_times *times, const struct tpa_trace *trace, struct tpa_event *events,
		  size_t count);

/* Of a trace that is closed. */
void tpa_jit_free(struct tpa_trace *trace);

#endif
