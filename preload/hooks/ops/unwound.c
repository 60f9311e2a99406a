/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/unwound.h"

#include "core/clock.h"
#include "core/scope.h"
#include "core/sys.h"
#include "core/usage.h"
#include "hooks/ops/stubs.h"
#include "stacks/recall.h"
#include "stacks/walk.h"

void tp_ops_end_innermost(struct tp_thread *thread, uint64_t ticks, bool unwound)
{
	const struct tp_op_function *function = thread->op_open[thread->op_depth - 1].ending;
	bool ends_step = function && function->ends_step;
	uint64_t after = ends_step ? tp_usage_emit(thread, ticks) : ticks;

	tp_scope_end(thread, ticks, unwound);
	if (!ends_step)
		return;
	tp_emit_step(thread, after, 0);
	tp_fold_close(&thread->fold);
}

/* ---- an exception ---- */

_Unwind_Reason_Code tp_op_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
				      struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	struct tp_thread *thread = tp_self;

	(void)version;
	(void)class;
	(void)exception;
	(void)context;
	if (actions & _UA_CLEANUP_PHASE && thread && thread->busy != TP_BUSY_RECORD && tp_ops_any_open(thread))
		tp_fold_throw(thread, tp_clock_before());
	return _URC_CONTINUE_UNWIND;
}

/* Does the stack that the program goes on with lead no more through the call with that frame? */
static bool is_left(const struct tp_thread *thread, uintptr_t frame)
{
	struct tp_range code = { (uintptr_t)tp_op_trampoline, (uintptr_t)tp_op_trampolines_end };

	if (!thread->busy_frame || !tp_thread_on_stack(thread, frame))
		return false; /* in no hook, or a coroutine's */
	return frame != thread->fold.ending &&
	       !tp_walk_came_through(thread, (const void *)thread->busy_frame, code, frame);
}

struct thrown {
	struct tp_thread *thread;
	uint64_t ticks;
};

static void end_thrown(void *context)
{
	const struct thrown *thrown = context;
	struct tp_thread *thread = thrown->thread;

	while (thread->op_depth > 0 && is_left(thread, thread->op_open[thread->op_depth - 1].frame))
		tp_ops_end_innermost(thread, thrown->ticks, true);
}

void tp_ops_end_thrown(struct tp_thread *thread, uint64_t ticks)
{
	tp_with_vectors_kept(end_thrown, &(struct thrown){ thread, ticks });
}

/* ---- a longjmp ---- */

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
bool tp_op_is_over(const struct tp_thread *thread, uintptr_t frame)
{
	const struct tp_open_op *open = &thread->op_open[thread->op_depth - 1];
	bool own = thread->bounds.high == thread->own.high;

	if (!tp_thread_on_stack(thread, open->frame)) /* a handler's that was left, or a coroutine's */
		return own && tp_range_holds(thread->alternate, open->frame);
	if (open->frame == frame || (own && open->frame < frame))
		return true;
	return is_overwritten(open, own);
}

void tp_ops_end_left_slow(struct tp_thread *thread, uintptr_t frame, uint64_t ticks)
{
	tp_fold_settle(thread);
	while (thread->op_depth > 0 && tp_op_is_over(thread, frame))
		tp_ops_end_innermost(thread, ticks, true);
}

void tp_ops_end_within_slow(struct tp_thread *thread, uint32_t depth, uint64_t ticks)
{
	tp_fold_settle(thread);
	while (thread->op_depth > depth)
		tp_ops_end_innermost(thread, ticks, true);
}
