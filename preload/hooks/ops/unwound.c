/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/unwound.h"

#include "core/clock.h"
#include "core/scope.h"
#include "core/sys.h"
#include "core/usage.h"
#include "hooks/ops/stubs.h"
#include "stacks/recall.h"
#include "stacks/walk.h"

void tpc_ops_end_innermost(struct tpc_thread *thread, uint64_t ticks, bool unwound)
{
	const struct tpc_op_function *function = thread->op_open[thread->op_depth - 1].ending;
	bool ends_step = function && function->ends_step;
	uint64_t after = ends_step ? tpc_usage_emit(thread, ticks) : ticks;

	tpc_scope_end(thread, ticks, unwound);
	if (!ends_step)
		return;
	tpc_emit_step(thread, after, 0);
	tpc_fold_close(&thread->fold);
}

/* ---- an exception ---- */

_Unwind_Reason_Code tpc_op_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
				       struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	struct tpc_thread *thread = tpc_self;

	(void)version;
	(void)class;
	(void)exception;
	(void)context;
	if (actions & _UA_CLEANUP_PHASE && thread && thread->busy != TPC_BUSY_RECORD && tpc_ops_any_open(thread))
		tpc_fold_throw(thread, tpc_clock_before());
	return _URC_CONTINUE_UNWIND;
}

/* Does the stack on which the program continues no longer lead through the call with that frame? */
static bool is_left(const struct tpc_thread *thread, uintptr_t frame)
{
	struct tpc_range code = { (uintptr_t)tpc_op_trampoline, (uintptr_t)tpc_op_trampolines_end };

	if (!thread->busy_frame || !tpc_thread_on_stack(thread, frame))
		return false; /* in no hook, or on a coroutine's stack */
	return frame != thread->fold.ending &&
	       !tpc_walk_came_through(thread, (const void *)thread->busy_frame, code, frame);
}

struct thrown {
	struct tpc_thread *thread;
	uint64_t ticks;
};

static void end_thrown(void *context)
{
	const struct thrown *thrown = context;
	struct tpc_thread *thread = thrown->thread;

	while (thread->op_depth > 0 && is_left(thread, thread->op_open[thread->op_depth - 1].frame))
		tpc_ops_end_innermost(thread, thrown->ticks, true);
}

void tpc_ops_end_thrown(struct tpc_thread *thread, uint64_t ticks)
{
	tpc_with_vectors_kept(end_thrown, &(struct thrown){ thread, ticks });
}

/* ---- a longjmp ---- */

/* A call's frame contains a unique stamp; 0: this one has none. */
static bool is_overwritten(const struct tpc_open_op *open, bool readable)
{
	uintptr_t at = open->frame - TPC_RECALL_STAMP;
	uint64_t stamp;

	if (readable)
		stamp = *(const uint64_t *)at;
	else if (!tpc_sys_copy(&stamp, at, sizeof(stamp)))
		return true;
	return stamp && (uint32_t)stamp != (uint32_t)open->start;
}

/*
 * Is the innermost op over? On the thread's own stack a frame that is not above `frame` is; a frame above may be, as
 * the stack may have been deeper since. On other stacks the bounds are a guess, and the frame may belong to another
 * coroutine, which continues later.
 */
bool tpc_op_is_over(const struct tpc_thread *thread, uintptr_t frame)
{
	const struct tpc_open_op *open = &thread->op_open[thread->op_depth - 1];
	bool own = thread->bounds.high == thread->own.high;

	if (!tpc_thread_on_stack(thread, open->frame)) /* of a handler that was left, or of a coroutine */
		return own && tpc_range_holds(thread->alternate, open->frame);
	if (open->frame == frame || (own && open->frame < frame))
		return true;
	return is_overwritten(open, own);
}

void tpc_ops_end_left_slow(struct tpc_thread *thread, uintptr_t frame, uint64_t ticks)
{
	tpc_fold_settle(thread);
	while (thread->op_depth > 0 && tpc_op_is_over(thread, frame))
		tpc_ops_end_innermost(thread, ticks, true);
}

void tpc_ops_end_within_slow(struct tpc_thread *thread, uint32_t depth, uint64_t ticks)
{
	tpc_fold_settle(thread);
	while (thread->op_depth > depth)
		tpc_ops_end_innermost(thread, ticks, true);
}
