/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooked calls that an exception or a longjmp left: the program is back in the code around them, but they are still
 * open. An op's end ends the thread's innermost op. So everything that reports ops other than by hooked calls ends
 * these first.
 *
 * For an exception, the unwinder calls the trampolines' personality (Itanium C++ ABI, exception handling, 1.3 and
 * 2.5.2); nothing tells of a longjmp.
 */
#ifndef TPROF_OPS_UNWOUND_H
#define TPROF_OPS_UNWOUND_H

#include "core/fold.h"
#include "core/thread.h"

#include <unwind.h>

_Unwind_Reason_Code tpc_op_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
				       struct _Unwind_Exception *exception, struct _Unwind_Context *context)
	__attribute__((visibility("hidden")));

/* Ends the innermost op other than by its return; if it ends a step, the step ends, too. Needs room for three records. */
void tpc_ops_end_innermost(struct tpc_thread *thread, uint64_t ticks, bool unwound);

/* For tpc_fold_left. */
void tpc_ops_end_thrown(struct tpc_thread *thread, uint64_t ticks);

/*
 * Has a longjmp ended the innermost op? `frame` is that of a function that the program called, or of a hooked call that
 * ends.
 */
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

/*
 * An op of another kind ends that began when `depth` hooked ops were open: those that began within it are over,
 * wherever they are.
 */
static inline void tpc_ops_end_within(struct tpc_thread *thread, uint32_t depth, uint64_t ticks)
{
	if (tpc_unlikely(thread->op_depth > depth || tpc_fold_unsettled(&thread->fold)))
		tpc_ops_end_within_slow(thread, depth, ticks);
}

#endif
