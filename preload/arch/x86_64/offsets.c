/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the assembly finds what it looks at itself, and the constants that it shares with C. Compiled to assembly only; make
 * takes the lines of offsets.h out of it (scripts/preload.mk), so that none of these numbers is kept by hand. This file
 * includes headers of all floors, and is part of no program.
 */
#include "core/emit.h"
#include "core/state.h"
#include "core/thread.h"
#include "hooks/leakcheck/stubs.h"
#include "hooks/ops/hot.h"
#include "hooks/ops/stubs.h"
#include "stacks/recall.h"

#define VALUE(name, value) __asm__ volatile("\n#@ " #name " %c0" : : "i"(value))
#define OFFSET(name, type, field) VALUE(name, offsetof(type, field))

static void of_thread(void)
{
	OFFSET(TP_THREAD_AT, struct tp_thread, at);
	OFFSET(TP_THREAD_LIMIT, struct tp_thread, limit);
	OFFSET(TP_THREAD_CHUNK, struct tp_thread, chunk);
	OFFSET(TP_THREAD_BUSY, struct tp_thread, busy);
	OFFSET(TP_THREAD_BUSY_FRAME, struct tp_thread, busy_frame);
	OFFSET(TP_THREAD_BUSY_RETURN, struct tp_thread, busy_return);
	OFFSET(TP_THREAD_LOW, struct tp_thread, bounds.low);
	OFFSET(TP_THREAD_EXTENT, struct tp_thread, extent);
	VALUE(TP_HANDLER_STACK_END, sizeof(((struct tp_thread *)0)->handler_stack));
	_Static_assert(offsetof(struct tp_thread, handler_stack) == 0, "sample_handler.S: the stack begins the thread");
	OFFSET(TP_WAIT_SP, struct tp_thread, wait.sp);
	OFFSET(TP_WAIT_CALLER, struct tp_thread, wait.caller);
	OFFSET(TP_WAIT_KEPT, struct tp_thread, wait.kept);
	VALUE(TP_WAIT_STUBS, TP_WAIT_STUBS);
	VALUE(TP_WAIT_STUB, TP_WAIT_STUB);
}

static void of_fold(void)
{
	OFFSET(TP_FOLD_FRAME, struct tp_thread, fold.frame);
	OFFSET(TP_FOLD_START, struct tp_thread, fold.start);
	OFFSET(TP_FOLD_HOT_NOW, struct tp_thread, fold.hot);
	OFFSET(TP_FOLD_SCOPE, struct tp_thread, fold.scope);
	OFFSET(TP_FOLD_OUTER, struct tp_thread, fold.outer);
	OFFSET(TP_FOLD_UNTIMED, struct tp_thread, fold.untimed);
	OFFSET(TP_FOLD_FILLED, struct tp_thread, fold.filled);
	OFFSET(TP_FOLD_STOP, struct tp_thread, fold.stop);
	OFFSET(TP_FOLD_HOTS_AT, struct tp_thread, fold.hots);
	VALUE(TP_LAYOUT_HOTS, TP_FOLD_HOTS);
}

static void of_hot(void)
{
	OFFSET(TP_HOT_KEY, struct tp_fold_hot, key);
	OFFSET(TP_HOT_CALLER, struct tp_fold_hot, caller);
	OFFSET(TP_HOT_FUNCTION, struct tp_fold_hot, function);
	OFFSET(TP_HOT_COPY, struct tp_fold_hot, copy);
	OFFSET(TP_HOT_COUNT, struct tp_fold_hot, count);
	OFFSET(TP_HOT_UNTIL, struct tp_fold_hot, until);
	OFFSET(TP_HOT_UNITS, struct tp_fold_hot, units);
	OFFSET(TP_HOT_EPOCH, struct tp_fold_hot, epoch);
	OFFSET(TP_HOT_ALIGN, struct tp_fold_hot, align);
	OFFSET(TP_HOT_TYPED, struct tp_fold_hot, typed);
	OFFSET(TP_HOT_WINDOW, struct tp_fold_hot, window);
	OFFSET(TP_HOT_SHARE, struct tp_fold_hot, share);
	OFFSET(TP_HOT_RAW, struct tp_fold_hot, raw);
	VALUE(TP_HOT_SHIFT, __builtin_ctz(sizeof(struct tp_fold_hot)));
	_Static_assert((sizeof(struct tp_fold_hot) & (sizeof(struct tp_fold_hot) - 1)) == 0, "indices are shifted");
	VALUE(TP_HOT_SHARE_PLAIN, TP_FOLD_SHARE_PLAIN);
	VALUE(TP_HOT_SHARE_WINDOW, TP_FOLD_SHARE_WINDOW);
	VALUE(TP_HOT_BY_FIRST, TP_HOT_BY_FIRST);
	VALUE(TP_HOT_BY_REFERENCE, TP_HOT_BY_REFERENCE);
	VALUE(TP_WINDOW_NEAR, TP_WINDOW_NEAR);
}

static void of_count(void)
{
	OFFSET(TP_COUNT_TICKS, struct tprof_fold, ticks);
	OFFSET(TP_COUNT_UNITS, struct tprof_fold, units);
	OFFSET(TP_COUNT_CALLS, struct tprof_fold, calls);
	OFFSET(TP_COUNT_MIN, struct tprof_fold, min);
	OFFSET(TP_COUNT_MAX, struct tprof_fold, max);
	OFFSET(TP_COUNT_HISTOGRAM, struct tprof_fold, histogram);
	VALUE(TP_LAYOUT_SHORTEST, 4); /* ticks: what is shorter has a bucket of another kind, tprof_fold_bucket() */
	VALUE(TP_LAYOUT_TICKS, TP_FOLD_TICKS);
	VALUE(TP_LAYOUT_CALLS, TP_FOLD_FULL - 1); /* the last call is counted by tp_fold_end() */
}

static void of_others(void)
{
	VALUE(TP_LAYOUT_STAMP, TP_RECALL_STAMP);
	OFFSET(TP_LAYOUT_GATE, struct tprof_header, gate);
	OFFSET(TP_LAYOUT_MODE, union tp_state_page, s.mode);
	VALUE(TP_LAYOUT_MODE_ON, TP_MODE_ON);
	VALUE(TP_LAYOUT_BUSY_RECORD, TP_BUSY_RECORD);
	VALUE(TP_LAYOUT_FUNCTION, sizeof(struct tp_op_function));
	OFFSET(TP_FUNCTION_ADDRESS, struct tp_op_function, address);
	VALUE(TP_LAYOUT_LIMIT, TPROF_CHUNK_SIZE - TP_RECORD_MAX); /* from the chunk's begin */
	VALUE(TP_LAYOUT_ROOM, 2 * TP_RECORD_MAX);		  /* has_room() of hooks/ops/call.c */
}

/* So that none of them is left out. */
void (*const tp_offsets[])(void) = { of_thread, of_fold, of_hot, of_count, of_others };
