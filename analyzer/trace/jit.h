/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames in code that a compiler made at run time. The trace has only their addresses. If the compiler's jitdump says that
 * several pieces of code stood at an address one after the other, the address becomes several frames, and each event gets the
 * stack of its time when it is read.
 */
#ifndef TPROF_TRACE_JIT_H
#define TPROF_TRACE_JIT_H

#include "trace/events.h"

/*
 * Looks for the process's jitdump: in `folder` (may be NULL), where the process mapped it, beside the trace, in the process's
 * working directory, in /tmp. Fills trace->jit. Call it before events are read.
 */
void tpa_jit_load(struct tpa_trace *trace, const char *folder);

/* A stack that depends on time: the file's node, and a time of it. */
struct tpa_node_at {
	uint32_t node;
	uint64_t time;
};

/* The node of the stack as it was at that time, made when it is first asked for. */
uint32_t tpa_jit_node(struct tpa_trace *trace, struct tpa_node_at at);

/* What a node was made for: a number that the file has, and a time if its stack depends on that; else 0. */
struct tpa_node_at tpa_jit_node_at(const struct tpa_trace *trace, uint32_t node);

/* Reads the jitdump anew, after the trace has grown. Nodes that were made stay. */
void tpa_jit_refresh(struct tpa_trace *trace);

/* The last code at the address of a frame, + 1; 0: none is known, or it is in no such code. */
uint32_t tpa_jit_latest(const struct tpa_trace *trace, const struct tpa_frame *frame);

/* Frees what tpa_jit_load() made; tpa_trace_close() calls it. */
void tpa_jit_free(struct tpa_trace *trace);

#endif
