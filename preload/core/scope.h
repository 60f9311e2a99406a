/* SPDX-License-Identifier: Apache-2.0 */
/* The hooked ops of a thread that are open: which is the innermost, and since when. Own thread only. */
#ifndef TPROF_CORE_SCOPE_H
#define TPROF_CORE_SCOPE_H

#include "core/emit.h"

#include "core/assert.h"

/* Another op becomes the innermost one, or none. */
static inline void tpc_scope_new(struct tpc_fold *fold)
{
	if (tpc_unlikely(!++fold->scopes))
		fold->scopes = 1; /* 0 is that of no call */
	fold->scope = (uint64_t)fold->scopes << 32;
}

/* The innermost op's frame; UINTPTR_MAX: none is open. */
static inline uintptr_t tpc_scope_frame(const struct tpc_thread *thread)
{
	return thread->op_depth ? thread->op_open[thread->op_depth - 1].frame : UINTPTR_MAX;
}

/*
 * An op is opened and shut by a record and by what is kept of it here. A longjmp out of a signal handler may come between
 * any two instructions: so it is noted where the record will end and how many are open then, before it is committed, and
 * forgotten once all is done. tpc_scope_recover() does what is left to do after one that was committed; one that was not has
 * not happened.
 */

/* The next to be open, with that frame, and not yet open: the caller fills in the rest. At most TPC_OPS_MAX. */
static inline struct tpc_open_op *tpc_scope_next(struct tpc_thread *thread, uintptr_t frame)
{
	struct tpc_open_op *open = &thread->op_open[thread->op_depth];

	tpc_assert(thread->op_depth < TPC_OPS_MAX);
	open->frame = frame;
	open->scope = thread->fold.scope;
	open->outer = thread->fold.outer;
	return open;
}

TPC_HOT void tpc_scope_commit(struct tpc_thread *thread, uint8_t *end, uint32_t depth)
{
	thread->fold.written_depth = depth;
	thread->fold.written = end;
	__atomic_signal_fence(__ATOMIC_RELEASE); /* with tpc_scope_recover(): it is noted before it is committed */
	tpc_emit_end(thread, end);
	__atomic_signal_fence(__ATOMIC_RELEASE); /* with the same: it is committed before anything is changed */
}

TPC_HOT void tpc_scope_forget(struct tpc_thread *thread)
{
	__atomic_signal_fence(__ATOMIC_RELEASE); /* with the same: all is changed */
	thread->fold.written = NULL;
}

TPC_HOT void tpc_scope_opened(struct tpc_thread *thread, const struct tpc_open_op *open, uint32_t depth)
{
	thread->op_depth = depth;
	tpc_scope_new(&thread->fold);
	thread->fold.outer = open->frame;
}

TPC_HOT void tpc_scope_left(struct tpc_thread *thread, const struct tpc_open_op *open, uint32_t depth)
{
	tpc_assert(depth < TPC_OPS_MAX && open == &thread->op_open[depth]);
	thread->op_depth = depth;
	thread->fold.scope = open->scope;
	thread->fold.outer = open->outer;
}

/* Commits the record up to `end`, which opens the next one: it is open from here on. */
TPC_HOT void tpc_scope_open(struct tpc_thread *thread, const struct tpc_open_op *open, uint8_t *end)
{
	uint32_t depth = thread->op_depth + 1;

	tpc_scope_commit(thread, end, depth);
	tpc_scope_opened(thread, open, depth);
	tpc_scope_forget(thread);
}

/* The same of a record that shuts the innermost one, `open`. */
TPC_HOT void tpc_scope_shut(struct tpc_thread *thread, const struct tpc_open_op *open, uint8_t *end)
{
	uint32_t depth = thread->op_depth - 1;

	tpc_scope_commit(thread, end, depth);
	tpc_scope_left(thread, open, depth);
	tpc_scope_forget(thread);
}

/* Both with the record, if there is room for it. */
static inline void tpc_scope_begin(struct tpc_thread *thread, const struct tpc_open_op *open, uint64_t ticks,
				   uint32_t op)
{
	uint8_t *end = tpc_put_op(thread, ticks, op);

	if (tpc_likely(end != NULL))
		tpc_scope_open(thread, open, end);
	else
		tpc_scope_opened(thread, open, thread->op_depth + 1);
}

static inline void tpc_scope_end(struct tpc_thread *thread, uint64_t ticks, bool unwound)
{
	const struct tpc_open_op *open = &thread->op_open[thread->op_depth - 1];
	uint8_t *end = tpc_put_op_end(thread, ticks, unwound);

	tpc_assert(thread->op_depth > 0 && thread->op_depth <= TPC_OPS_MAX);
	if (tpc_likely(end != NULL))
		tpc_scope_shut(thread, open, end);
	else
		tpc_scope_left(thread, open, thread->op_depth - 1);
}

/* One of these was left half-way; nothing was written since. What tpc_fold_reset() sets is to be set anew. */
static inline void tpc_scope_recover(struct tpc_thread *thread)
{
	const uint8_t *end = thread->fold.written;

	thread->fold.written = NULL;
	if (end && thread->chunk && end == tpc_chunk_bytes(thread->chunk) + tpc_chunk_committed(thread->chunk))
		thread->op_depth = thread->fold.written_depth;
}

#endif
