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

#include "core/fold.h"
#include "core/thread.h"

#include <unwind.h>

_Unwind_Reason_Code tpc_op_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
				       struct _Unwind_Exception *exception, struct _Unwind_Context *context)
	__attribute__((visibility("hidden")));

/* The innermost one ends, other than by its return; if it ends a step, so does the step. Needs room for three records. */
void tpc_ops_end_innermost(struct tpc_thread *thread, uint64_t ticks, bool unwound);

/* For tpc_fold_left. */
void tpc_ops_end_thrown(struct tpc_thread *thread, uint64_t ticks);

/* By a longjmp: is the innermost op over? `frame` is that of a function that the program called, or of a hooked call that ends. */
bool tpc_op_is_over(const struct tpc_thread *thread, uintptr_t frame);

TPC_SLOW void tpc_ops_end_left_slow(struct tpc_thread *thread, uintptr_t frame, uint64_t ticks);
TPC_SLOW void tpc_ops_end_within_slow(struct tpc_thread *thread, uint32_t depth, uint64_t ticks);

static inline bool tpc_ops_any_open(const struct tpc_thread *thread)
{
	return thread->op_depth || thread->fold.frame;
}

/*
 * Something happens, in a function that the program called, whose frame that is: which hooked calls are known to be over?
 * Recording (TPC_BUSY_RECORD), as below.
 */
static inline void tpc_ops_end_left(struct tpc_thread *thread, const void *frame, uint64_t ticks)
{
	if (tpc_ops_any_open(thread))
		tpc_ops_end_left_slow(thread, (uintptr_t)frame, ticks);
}

/* An op of another kind ends, at whose begin `depth` hooked ones were open: those that began in it are over, wherever they were. */
static inline void tpc_ops_end_within(struct tpc_thread *thread, uint32_t depth, uint64_t ticks)
{
	if (tpc_unlikely(thread->op_depth > depth || tpc_fold_unsettled(&thread->fold)))
		tpc_ops_end_within_slow(thread, depth, ticks);
}

#endif
