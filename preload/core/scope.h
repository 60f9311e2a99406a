/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps track of the thread's open hooked ops: which one is innermost, and since when. Own thread only. */
#ifndef TPROF_CORE_SCOPE_H
#define TPROF_CORE_SCOPE_H

#include "core/emit.h"

#include "core/assert.h"

/* Another op becomes the innermost one, or none. */
static inline void tpc_scope_new(struct tpc_fold *fold)
{
	if (tpc_unlikely(!++fold->scopes))
		fold->scopes = 1; /* 0 means no call */
	fold->scope = (uint64_t)fold->scopes << 32;
}

/* The innermost op's frame; UINTPTR_MAX: none is open. */
static inline uintptr_t tpc_scope_frame(const struct tpc_thread *thread)
{
	return thread->op_depth ? thread->op_open[thread->op_depth - 1].frame : UINTPTR_MAX;
}

/*
 * Opening or closing an op takes a record and a change of the fields here. A longjmp out of a signal handler may happen
 * between any two instructions. So the end of the record and the new depth are noted before the record is committed,
 * and forgotten once all is done. tpc_scope_recover() completes an op whose record was committed; otherwise the op was
 * not opened or closed.
 */

/* The entry of the next op, with that frame; it is not open yet, and the caller fills in the rest. At most TPC_OPS_MAX. */
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
	__atomic_signal_fence(__ATOMIC_RELEASE); /* pairs with tpc_scope_recover(): noted before it is committed */
	tpc_emit_end(thread, end);
	__atomic_signal_fence(__ATOMIC_RELEASE); /* with the same: committed before anything is changed */
}

TPC_HOT void tpc_scope_forget(struct tpc_thread *thread)
{
	__atomic_signal_fence(__ATOMIC_RELEASE); /* with the same: everything is changed */
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

/* Commits the record that ends at `end` and opens the next op. */
TPC_HOT void tpc_scope_open(struct tpc_thread *thread, const struct tpc_open_op *open, uint8_t *end)
{
	uint32_t depth = thread->op_depth + 1;

	tpc_scope_commit(thread, end, depth);
	tpc_scope_opened(thread, open, depth);
	tpc_scope_forget(thread);
}

/* Commits the record that ends at `end` and closes the innermost op, `open`. */
TPC_HOT void tpc_scope_shut(struct tpc_thread *thread, const struct tpc_open_op *open, uint8_t *end)
{
	uint32_t depth = thread->op_depth - 1;

	tpc_scope_commit(thread, end, depth);
	tpc_scope_left(thread, open, depth);
	tpc_scope_forget(thread);
}

/* Open and close an op, with its record if there is room for it. */
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

/*
 * One of these functions was interrupted by a longjmp; nothing was written since. The caller resets what
 * tpc_fold_reset() sets.
 */
static inline void tpc_scope_recover(struct tpc_thread *thread)
{
	const uint8_t *end = thread->fold.written;

	thread->fold.written = NULL;
	if (end && thread->chunk && end == tpc_chunk_bytes(thread->chunk) + tpc_chunk_committed(thread->chunk))
		thread->op_depth = thread->fold.written_depth;
}

#endif
