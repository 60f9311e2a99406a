/* SPDX-License-Identifier: Apache-2.0 */
/* The hooked ops of a thread that are open: which is the innermost, and since when. Own thread only. */
#ifndef TPROF_CORE_SCOPE_H
#define TPROF_CORE_SCOPE_H

#include "core/emit.h"

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

/*
 * An op is opened and shut by a record and by what is kept of it here. A longjmp out of a signal handler may come between
 * any two instructions: so it is noted where the record will end and how many are open then, before it is committed, and
 * forgotten once all is done. tp_scope_recover() does what is left to do after one that was committed; one that was not has
 * not happened.
 */

/* The next to be open, with that frame, and not yet open: the caller fills in the rest. At most TP_OPS_MAX. */
static inline struct tp_open_op *tp_scope_next(struct tp_thread *thread, uintptr_t frame)
{
	struct tp_open_op *open = &thread->op_open[thread->op_depth];

	open->frame = frame;
	open->scope = thread->fold.scope;
	open->outer = thread->fold.outer;
	return open;
}

TP_HOT void tp_scope_commit(struct tp_thread *thread, uint8_t *end, uint32_t depth)
{
	thread->fold.written_depth = depth;
	thread->fold.written = end;
	__atomic_signal_fence(__ATOMIC_RELEASE); /* with tp_scope_recover(): it is noted before it is committed */
	tp_emit_end(thread, end);
	__atomic_signal_fence(__ATOMIC_RELEASE); /* with the same: it is committed before anything is changed */
}

TP_HOT void tp_scope_forget(struct tp_thread *thread)
{
	__atomic_signal_fence(__ATOMIC_RELEASE); /* with the same: all is changed */
	thread->fold.written = NULL;
}

TP_HOT void tp_scope_opened(struct tp_thread *thread, const struct tp_open_op *open, uint32_t depth)
{
	thread->op_depth = depth;
	tp_scope_new(&thread->fold);
	thread->fold.outer = open->frame;
}

TP_HOT void tp_scope_left(struct tp_thread *thread, const struct tp_open_op *open, uint32_t depth)
{
	thread->op_depth = depth;
	thread->fold.scope = open->scope;
	thread->fold.outer = open->outer;
}

/* Commits the record up to `end`, which opens the next one: it is open from here on. */
TP_HOT void tp_scope_open(struct tp_thread *thread, const struct tp_open_op *open, uint8_t *end)
{
	uint32_t depth = thread->op_depth + 1;

	tp_scope_commit(thread, end, depth);
	tp_scope_opened(thread, open, depth);
	tp_scope_forget(thread);
}

/* The same of a record that shuts the innermost one, `open`. */
TP_HOT void tp_scope_shut(struct tp_thread *thread, const struct tp_open_op *open, uint8_t *end)
{
	uint32_t depth = thread->op_depth - 1;

	tp_scope_commit(thread, end, depth);
	tp_scope_left(thread, open, depth);
	tp_scope_forget(thread);
}

/* Both with the record, if there is room for it. */
static inline void tp_scope_begin(struct tp_thread *thread, const struct tp_open_op *open, uint64_t ticks, uint32_t op)
{
	uint8_t *end = tp_put_op(thread, ticks, op);

	if (tp_likely(end != NULL))
		tp_scope_open(thread, open, end);
	else
		tp_scope_opened(thread, open, thread->op_depth + 1);
}

static inline void tp_scope_end(struct tp_thread *thread, uint64_t ticks, bool unwound)
{
	const struct tp_open_op *open = &thread->op_open[thread->op_depth - 1];
	uint8_t *end = tp_put_op_end(thread, ticks, unwound);

	if (tp_likely(end != NULL))
		tp_scope_shut(thread, open, end);
	else
		tp_scope_left(thread, open, thread->op_depth - 1);
}

/* One of these was left half-way; nothing was written since. What tp_fold_reset() sets is to be set anew. */
static inline void tp_scope_recover(struct tp_thread *thread)
{
	const uint8_t *end = thread->fold.written;

	thread->fold.written = NULL;
	if (end && thread->chunk && end == tp_chunk_bytes(thread->chunk) + tp_chunk_committed(thread->chunk))
		thread->op_depth = thread->fold.written_depth;
}

#endif
