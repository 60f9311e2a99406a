/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/left.h"

#include "core/scope.h"
#include "core/sys.h"
#include "stacks/recall.h"

/* A call's frame holds a stamp that no other has; 0: this one's has none. */
static bool is_overwritten(const struct tp_open_op *open, bool readable)
{
	uintptr_t at = open->frame - TP_RECALL_STAMP;
	uint64_t stamp;

	if (readable)
		stamp = *(const uint64_t *)at;
	else if (!tp_sys_copy(&stamp, at, sizeof(stamp)))
		return true;
	return stamp && (uint32_t)stamp != (uint32_t)open->start;
}

/*
 * Is the innermost one? On the thread's own stack, what is not above `frame` is; what is above it may be, as there may have been
 * more on the stack since. Elsewhere the bounds are a guess, and that frame may be another coroutine's, which goes on later.
 */
static bool is_over(const struct tp_thread *thread, uintptr_t frame)
{
	const struct tp_open_op *open = &thread->op_open[thread->op_depth - 1];
	bool own = thread->bounds.high == thread->own.high;

	if (!tp_thread_on_stack(thread, open->frame)) /* a handler's that was left, or a coroutine's */
		return own && tp_range_holds(thread->alternate, open->frame);
	if (open->frame == frame || (own && open->frame < frame))
		return true;
	return is_overwritten(open, own);
}

static void settle(struct tp_thread *thread)
{
	if (thread->fold.frame)
		tp_fold_settle(thread);
}

void tp_ops_end_left_slow(struct tp_thread *thread, uintptr_t frame, uint64_t ticks)
{
	settle(thread);
	while (thread->op_depth > 0 && is_over(thread, frame))
		tp_scope_end(thread, ticks, true);
}

void tp_ops_end_within_slow(struct tp_thread *thread, uint32_t depth, uint64_t ticks)
{
	settle(thread);
	while (thread->op_depth > depth)
		tp_scope_end(thread, ticks, true);
}
