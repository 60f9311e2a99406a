/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops, marks and names that a program reports, by include/tprof.h or one of the collectors' interfaces that libtprof.so
 * implements. Any thread, any time; texts are copied.
 */
#ifndef TPROF_OPS_TOLD_ANNOTATE_H
#define TPROF_OPS_TOLD_ANNOTATE_H

#include "core/base.h"

enum tpc_annotator {
	TPC_ANNOTATOR_TPROF,
	TPC_ANNOTATOR_ITT,
	TPC_ANNOTATOR_NVTX,
};

/*
 * `frame` is the frame of the function that the program called. An op is begun and ended by the same thread and
 * annotator: an end is that of the op that contains `inner` open ops of this annotator. Everything else within it stays
 * open.
 */
void tpc_annotate_begin(const void *frame, enum tpc_annotator by, const char *name, const char *category);
void tpc_annotate_end(const void *frame, enum tpc_annotator by, uint32_t inner);
void tpc_annotate_skip(enum tpc_annotator by); /* begins an op that is not recorded, nor is its end */
void tpc_annotate_detail(const char *shape, uint64_t flop, uint64_t bytes);
void tpc_annotate_mark(const char *text);
/* `to_kernel`: the kernel was told, too, and is asked again with each chunk. */
void tpc_annotate_thread(const char *name, bool to_kernel);

/* Does the thread have open ops, recorded or not? */
bool tpc_annotate_any(void);

/* The thread ends: ends its ops as unwound. Recording (TPC_BUSY_RECORD). */
struct tpc_thread;
void tpc_annotate_leave(struct tpc_thread *thread);

/* In a forked child, by its only thread: the open ops are in the parent's trace. */
void tpc_annotate_forget(void);

#endif
