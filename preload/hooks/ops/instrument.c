/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs built with -finstrument-functions call these at each function's begin and end (libc has empty ones). Each
 * function is an op, named by its address. Ends are the compiler's: also when an exception leaves the function, not when
 * a longjmp does; the end of an outer function ends what was left so. Whoever else listens is called too.
 */
#include "hooks/enter.h"
#include "hooks/ops/entry.h"
#include "hooks/ops/left.h"
#include "hooks/ops/select.h"
#include "hooks/real.h"

#define FRAME __builtin_frame_address(0)

/* The open functions, as far as they were recorded: 0 is one that was not. Deeper ones are not recorded. */
static TP_TLS struct {
	uint32_t depth;
	uint32_t ops[TP_INSTRUMENTED_MAX];
} open;

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

/* In `depth` others. */
static uint32_t begin(const void *frame, uintptr_t function, uint32_t depth)
{
	struct tp_thread *thread = tp_enter(frame);
	uint64_t ticks = tp_clock_before();
	uint32_t op;

	if (!thread)
		return 0;
	tp_record(thread, ticks);
	tp_ops_end_left(thread, frame, ticks);
	thread->instrumented[depth] = (uint16_t)thread->op_depth;
	op = tp_entry_known(function, TP_ENTRY_INSTRUMENTED);
	if (tp_unlikely(!op))
		op = tp_entry_number(function, TP_ENTRY_INSTRUMENTED);
	if (op)
		tp_emit_op(thread, ticks, op);
	tp_recorded(thread);
	tp_leave(thread);
	return op;
}

/* The same. */
static void end(const void *frame, uint32_t depth, bool unwound)
{
	struct tp_thread *thread = tp_enter_end(frame);
	uint64_t ticks = tp_clock_before();

	if (!thread)
		return;
	tp_record(thread, ticks);
	tp_ops_end_within(thread, thread->instrumented[depth], ticks);
	tp_emit_op_end(thread, ticks, unwound);
	tp_recorded(thread);
	tp_leave(thread);
}

bool tp_instrument_any(void)
{
	return open.depth > 0;
}

void tp_instrument_leave(struct tp_thread *thread)
{
	for (uint32_t i = 0; i < open.depth && i < TP_INSTRUMENTED_MAX; i++)
		if (open.ops[i])
			tp_emit_op_end(thread, tp_clock_before(), true);
	tp_instrument_forget();
}

void tp_instrument_forget(void)
{
	memset(open.ops, 0, sizeof(open.ops));
}

static void note_exit(const void *frame, uintptr_t function)
{
	uint32_t op, depth;

	if (!open.depth)
		return;
	if (open.depth > TP_INSTRUMENTED_MAX) {
		open.depth--;
		return;
	}
	op = tp_entry_known(function, TP_ENTRY_INSTRUMENTED);
	for (depth = open.depth; op && depth > 0 && open.ops[depth - 1] != op; depth--)
		;
	if (!depth)
		depth = open.depth; /* its begin was not recorded */
	while (open.depth > depth) {
		if (open.ops[--open.depth])
			end(frame, open.depth, true);
	}
	if (open.ops[--open.depth])
		end(frame, open.depth, false);
}

TP_EXPORT void __cyg_profile_func_enter(void *function, void *caller)
{
	uint32_t depth = open.depth++;

	if (depth < TP_INSTRUMENTED_MAX)
		open.ops[depth] = tp_ops_instrumented ? begin(FRAME, (uintptr_t)function, depth) : 0;
	if (tp_real.__cyg_profile_func_enter)
		tp_real.__cyg_profile_func_enter(function, caller);
}

TP_EXPORT void __cyg_profile_func_exit(void *function, void *caller)
{
	if (tp_real.__cyg_profile_func_exit)
		tp_real.__cyg_profile_func_exit(function, caller);
	note_exit(FRAME, (uintptr_t)function);
}
