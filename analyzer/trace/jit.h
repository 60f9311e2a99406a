/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames in code that a compiler made at run time. The trace has only their addresses. If the compiler's jitdump says that
 * several pieces of code stood at an address one after the other, the address becomes several frames, and the stack of each
 * event gets those of its time.
 */
#ifndef TPROF_TRACE_JIT_H
#define TPROF_TRACE_JIT_H

#include "trace/events.h"

/*
 * Looks for the process's jitdump: in `folder` (may be NULL), where the process mapped it, beside the trace, in the process's
 * working directory, in /tmp. Fills trace->jit, and adds frames and nodes. Call it before events are read.
 */
void tpa_jit_load(struct tpa_trace *trace, const char *folder);

/* Replaces the nodes of events by those of the events' times; the merge of events calls it. */
struct tpa_jit_times;
void tpa_jit_time(const struct tpa_jit_times *times, const struct tpa_trace *trace, struct tpa_event *events,
		  size_t count);

/* Frees what tpa_jit_load() made; tpa_trace_close() calls it. */
void tpa_jit_free(struct tpa_trace *trace);

#endif
