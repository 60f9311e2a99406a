/* SPDX-License-Identifier: Apache-2.0 */
/* The hooked ops of a thread that are open: which is the innermost, and since when. Own thread only. */
#ifndef TPROF_CORE_SCOPE_H
#define TPROF_CORE_SCOPE_H

#include "core/thread.h"

/* Another op is innermost, or none. */
static inline void tp_scope_new(struct tp_fold *fold)
{
	if (tp_unlikely(!++fold->scopes))
		fold->scopes = 1; /* 0 is that of no call */
	fold->scope = (uint64_t)fold->scopes << 32;
}

/* The innermost op's frame; UINTPTR_MAX: none is open. */
static inline uintptr_t tp_scope_frame(const struct tp_thread *thread)
{
	return thread->op_depth ? thread->op_open[thread->op_depth - 1].frame : UINTPTR_MAX;
}

/* One more is open, with that frame: the caller fills in the rest of what is returned. At most TP_OPS_MAX. */
static inline struct tp_open_op *tp_scope_open(struct tp_thread *thread, uintptr_t frame)
{
	struct tp_open_op *open = &thread->op_open[thread->op_depth++];

	open->frame = frame;
	open->scope = thread->fold.scope;
	open->outer = thread->fold.outer;
	tp_scope_new(&thread->fold);
	thread->fold.outer = frame;
	return open;
}

/* The innermost one is open no longer. */
static inline struct tp_open_op *tp_scope_shut(struct tp_thread *thread)
{
	struct tp_open_op *open = &thread->op_open[--thread->op_depth];

	thread->fold.scope = open->scope;
	thread->fold.outer = open->outer;
	return open;
}

#endif
