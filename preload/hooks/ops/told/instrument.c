/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs built with -finstrument-functions call these at the begin and end of each function (libc has empty ones).
 * Each function is an op, named by its address. The compiler reports an end also if an exception leaves the function,
 * but not if a longjmp does. So each open function is kept with its frame, and functions that were left are ended at
 * the next begin or end that shows it. Other listeners are called, too.
 *
 * The frame of a function is identified by where its caller's stack ended. Two calls at the same place are a function
 * and one that the compiler inlined into it, or one that came after the other was left.
 */
#include "hooks/ops/told/instrument.h"

#include "core/sys.h"
#include "hooks/gate/enter.h"
#include "hooks/ops/entry.h"
#include "hooks/ops/unwound.h"
#include "hooks/ops/select.h"
#include "hooks/ops/window.h"
#include "hooks/link/real.h"

#define FRAME __builtin_frame_address(0)

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

struct place {
	uintptr_t frame;
	bool known; /* else `frame` is the stack pointer, which is within the frame */
};

/* The place of the function that called the hook with that frame. */
static struct place place_of(struct tpc_thread *thread, const void *frame)
{
	struct tpc_window window = tpc_window_by_rule(thread, frame);
	uintptr_t sp = (uintptr_t)frame + 2 * sizeof(uintptr_t);

	if (window.kind == TPC_WINDOW_VARIES)
		return (struct place){ sp, false };
	return (struct place){ sp + window.bytes, true };
}

static struct tpc_instrumented *top_of(struct tpc_thread *thread)
{
	return thread->instrumented_depth ? &thread->instrumented[thread->instrumented_depth - 1] : NULL;
}

static void end_top(struct tpc_thread *thread, uint64_t ticks, bool unwound)
{
	tpc_ops_end_within(thread, top_of(thread)->hooked, ticks);
	thread->instrumented_depth--;
	tpc_emit_op_end(thread, ticks, unwound);
}

/* Another call's return address has replaced its own. */
static bool is_overwritten(const struct tpc_instrumented *top, bool readable)
{
	const uintptr_t *at = (const uintptr_t *)top->frame - 1;
	uintptr_t there;

	if (!top->known)
		return false;
	if (readable)
		there = *at;
	else if (!tpc_sys_copy(&there, (uintptr_t)at, sizeof(there)))
		return true;
	return there != top->caller;
}

/* A function begins or ends in a frame at that place: is the innermost open one over? Like tpc_op_is_over(). */
static bool is_over(const struct tpc_thread *thread, const struct tpc_instrumented *top, uintptr_t frame)
{
	bool own = thread->bounds.high == thread->own.high;

	if (!tpc_thread_on_stack(thread, top->frame)) /* of a handler that was left, or of a coroutine */
		return own && tpc_range_holds(thread->alternate, top->frame);
	return (own && top->frame < frame) || (top->frame != frame && is_overwritten(top, own));
}

static void end_left(struct tpc_thread *thread, uintptr_t frame, uint64_t ticks)
{
	while (thread->instrumented_depth && is_over(thread, top_of(thread), frame))
		end_top(thread, ticks, true);
}

/*
 * Ends functions at the very place where one begins now: they began by another call, or by the same instruction.
 * Otherwise this one is inlined into them.
 */
static void end_replaced(struct tpc_thread *thread, const struct tpc_instrumented *new, uint64_t ticks)
{
	uint32_t keep = thread->instrumented_depth;

	for (uint32_t i = keep; i-- > 0 && thread->instrumented[i].frame == new->frame;)
		if (thread->instrumented[i].caller != new->caller || thread->instrumented[i].begin == new->begin)
			keep = i;
	while (thread->instrumented_depth > keep)
		end_top(thread, ticks, true);
}

static void push(struct tpc_thread *thread, struct tpc_instrumented *new, uintptr_t function, uint64_t ticks)
{
	if (thread->instrumented_depth == TPC_INSTRUMENTED_MAX) {
		tpc_lost(TPROF_LOST_OP_DEPTH, 1);
		return;
	}
	new->op = tpc_entry_known(function, TPC_ENTRY_INSTRUMENTED);
	if (tpc_unlikely(!new->op))
		new->op = tpc_entry_number(function, TPC_ENTRY_INSTRUMENTED);
	if (!new->op)
		return;
	new->hooked = (uint16_t)thread->op_depth;
	thread->instrumented[thread->instrumented_depth] = *new;
	tpc_emit_op(thread, ticks, new->op);
	thread->instrumented_depth++;
}

static void begin(struct tpc_thread *thread, const void *frame, uintptr_t function, uintptr_t caller)
{
	uint64_t ticks = tpc_clock_before();
	struct tpc_instrumented new = { .caller = caller, .begin = ((const uintptr_t *)frame)[1] };
	struct place place;

	tpc_record(thread, ticks);
	place = place_of(thread, frame);
	new.frame = place.frame;
	new.known = place.known && ((const uintptr_t *)place.frame)[-1] == caller;
	tpc_ops_end_left(thread, frame, ticks);
	end_left(thread, place.frame, ticks);
	if (place.known)
		end_replaced(thread, &new, ticks);
	push(thread, &new, function, ticks);
	tpc_recorded(thread);
}

/* A function whose last act is the report may jump to the hook, which then returns to its caller: the frame is gone. */
static const struct tpc_instrumented *find_jump(const struct tpc_thread *thread, const uintptr_t *frame, uint32_t op)
{
	for (uint32_t i = thread->instrumented_depth; op && i-- > 0;)
		if (thread->instrumented[i].op == op)
			return thread->instrumented[i].caller == frame[1] ? &thread->instrumented[i] : NULL;
	return NULL;
}

/* How many are open within the innermost open call of that op, at that place if it is known; UINT32_MAX: there is none. */
static uint32_t find_open(const struct tpc_thread *thread, uint32_t op, struct place place)
{
	for (uint32_t i = thread->instrumented_depth; op && i-- > 0;) {
		if (place.known && thread->instrumented[i].frame != place.frame)
			break;
		if (thread->instrumented[i].op == op)
			return i;
	}
	return UINT32_MAX;
}

/* A function whose begin was not recorded ends no other. */
static void end(struct tpc_thread *thread, const void *frame, uintptr_t function)
{
	uint64_t ticks = tpc_clock_before();
	uint32_t op = tpc_entry_known(function, TPC_ENTRY_INSTRUMENTED), depth;
	const struct tpc_instrumented *jump = find_jump(thread, frame, op);
	struct place place;

	tpc_record(thread, ticks);
	place = jump ? (struct place){ jump->frame, true } : place_of(thread, frame);
	end_left(thread, place.frame, ticks);
	depth = find_open(thread, op, place);
	while (depth != UINT32_MAX && thread->instrumented_depth > depth)
		end_top(thread, ticks, thread->instrumented_depth > depth + 1);
	tpc_recorded(thread);
}

bool tpc_instrument_any(void)
{
	return tpc_self && tpc_self->instrumented_depth > 0;
}

void tpc_instrument_leave(struct tpc_thread *thread)
{
	while (thread->instrumented_depth)
		end_top(thread, tpc_clock_before(), true);
}

static void note_enter(const void *frame, uintptr_t function, uintptr_t caller)
{
	struct tpc_thread *thread;

	/* In .preinit_array the settings have not been read: the process's first event starts the recording. */
	if (!tpc_ops_instrumented && tpc_load(&tpc_state.mode) != TPC_MODE_NEW)
		return;
	thread = tpc_enter(frame);
	if (!thread)
		return;
	if (tpc_ops_instrumented)
		begin(thread, frame, function, caller);
	tpc_leave(thread);
}

static void note_exit(const void *frame, uintptr_t function)
{
	struct tpc_thread *thread = tpc_self;

	if (!thread || !thread->instrumented_depth || !(thread = tpc_enter_end(frame)))
		return;
	end(thread, frame, function);
	tpc_leave(thread);
}

TPC_EXPORT void __cyg_profile_func_enter(void *function, void *caller)
{
	note_enter(FRAME, (uintptr_t)function, (uintptr_t)caller);
	if (tpc_real.__cyg_profile_func_enter)
		tpc_real.__cyg_profile_func_enter(function, caller);
}

TPC_EXPORT void __cyg_profile_func_exit(void *function, void *caller)
{
	if (tpc_real.__cyg_profile_func_exit)
		tpc_real.__cyg_profile_func_exit(function, caller);
	note_exit(FRAME, (uintptr_t)function);
}
