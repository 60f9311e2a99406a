/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops, marks and names that a program tells, by include/tprof.h or one of the collectors' interfaces that libtprof.so
 * speaks. Any thread, any time; texts are copied.
 */
#ifndef TPROF_OPS_TOLD_ANNOTATE_H
#define TPROF_OPS_TOLD_ANNOTATE_H

#include "core/base.h"

enum tp_annotator {
	TP_ANNOTATOR_TPROF,
	TP_ANNOTATOR_ITT,
	TP_ANNOTATOR_NVTX,
};

/*
 * `frame` is the frame of the function that the program called. An op is begun and ended by the same thread, by one annotator:
 * an end is of the one that has `inner` open ones of the same annotator's in it. What else is in it stays open.
 */
void tp_annotate_begin(const void *frame, enum tp_annotator by, const char *name, const char *category);
void tp_annotate_end(const void *frame, enum tp_annotator by, uint32_t inner);
void tp_annotate_skip(enum tp_annotator by); /* begins one that is not recorded, nor is its end */
void tp_annotate_detail(const char *shape, uint64_t flop, uint64_t bytes);
void tp_annotate_mark(const char *text);
/* `to_kernel`: it was told too, and is asked again with each chunk. */
void tp_annotate_thread(const char *name, bool to_kernel);

/* Are ops open on the thread, recorded or not? */
bool tp_annotate_any(void);

/* The thread ends: so do they, unwound. Recording (TP_BUSY_RECORD). */
struct tp_thread;
void tp_annotate_leave(struct tp_thread *thread);

/* In a forked child, by its only thread: the open ops are in the parent's trace. */
void tp_annotate_forget(void);

#endif
