/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooked calls that an exception or a longjmp went past: the program is back in what is around them, and they are open still.
 * An end ends the thread's innermost op. So who tells of ops otherwise than by hooked calls ends these first.
 *
 * Of an exception the unwinder tells, which asks the trampolines' personality as it goes past them (Itanium C++ ABI, exception
 * handling, 1.3 and 2.5.2); of a longjmp nobody does.
 */
#ifndef TPROF_OPS_UNWOUND_H
#define TPROF_OPS_UNWOUND_H

#include "core/thread.h"

#include <unwind.h>

_Unwind_Reason_Code tp_op_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
				      struct _Unwind_Exception *exception, struct _Unwind_Context *context)
	__attribute__((visibility("hidden")));

/* The innermost one ends, other than by its return; if it ends a step, so does the step. Needs room for three records. */
void tp_ops_end_innermost(struct tp_thread *thread, uint64_t ticks, bool unwound);

/* For tp_fold_left. */
void tp_ops_end_thrown(struct tp_thread *thread, uint64_t ticks);

/* By a longjmp: is the innermost op over? `frame` is that of a function that the program called, or of a hooked call that ends. */
bool tp_op_is_over(const struct tp_thread *thread, uintptr_t frame);

TP_SLOW void tp_ops_end_left_slow(struct tp_thread *thread, uintptr_t frame, uint64_t ticks);
TP_SLOW void tp_ops_end_within_slow(struct tp_thread *thread, uint32_t depth, uint64_t ticks);

static inline bool tp_ops_any_open(const struct tp_thread *thread)
{
	return thread->op_depth || thread->fold.frame;
}

/*
 * Something happens, in a function that the program called, whose frame that is: which hooked calls are known to be over?
 * Recording (TP_BUSY_RECORD), as below.
 */
static inline void tp_ops_end_left(struct tp_thread *thread, const void *frame, uint64_t ticks)
{
	if (tp_ops_any_open(thread))
		tp_ops_end_left_slow(thread, (uintptr_t)frame, ticks);
}

/* An op of another kind ends, at whose begin `depth` hooked ones were open: those that began in it are over, wherever they were. */
static inline void tp_ops_end_within(struct tp_thread *thread, uint32_t depth, uint64_t ticks)
{
	if (tp_unlikely(thread->op_depth > depth || tp_fold_unsettled(&thread->fold)))
		tp_ops_end_within_slow(thread, depth, ticks);
}

#endif
