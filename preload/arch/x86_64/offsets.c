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
#include "hooks/memory/ruled.h"
#include "hooks/ops/hot.h"
#include "hooks/ops/stubs.h"
#include "stacks/recall.h"

#define VALUE(name, value) __asm__ volatile("\n#@ " #name " %c0" : : "i"(value))
#define OFFSET(name, type, field) VALUE(name, offsetof(type, field))

static void of_thread(void)
{
	OFFSET(TPC_THREAD_AT, struct tpc_thread, at);
	OFFSET(TPC_THREAD_LIMIT, struct tpc_thread, limit);
	OFFSET(TPC_THREAD_CHUNK, struct tpc_thread, chunk);
	OFFSET(TPC_THREAD_BUSY, struct tpc_thread, busy);
	OFFSET(TPC_THREAD_BUSY_FRAME, struct tpc_thread, busy_frame);
	OFFSET(TPC_THREAD_BUSY_RETURN, struct tpc_thread, busy_return);
	OFFSET(TPC_THREAD_LOW, struct tpc_thread, bounds.low);
	OFFSET(TPC_THREAD_EXTENT, struct tpc_thread, extent);
	VALUE(TPC_HANDLER_STACK_END, sizeof(((struct tpc_thread *)0)->handler_stack));
	_Static_assert(offsetof(struct tpc_thread, handler_stack) == 0,
		       "sample_handler.S: the stack begins the thread");
	OFFSET(TPC_WAIT_SP, struct tpc_thread, wait.sp);
	OFFSET(TPC_WAIT_CALLER, struct tpc_thread, wait.caller);
	OFFSET(TPC_WAIT_KEPT, struct tpc_thread, wait.kept);
	VALUE(TPC_WAIT_STUBS, TPC_WAIT_STUBS);
	VALUE(TPC_WAIT_STUB, TPC_WAIT_STUB);
	VALUE(TPC_RULED_STUBS, TPC_RULED_MAX);
	VALUE(TPC_RULED_STUB, TPC_RULED_STUB);
}

static void of_fold(void)
{
	OFFSET(TPC_FOLD_FRAME, struct tpc_thread, fold.frame);
	OFFSET(TPC_FOLD_START, struct tpc_thread, fold.start);
	OFFSET(TPC_FOLD_HOT_NOW, struct tpc_thread, fold.hot);
	OFFSET(TPC_FOLD_SCOPE, struct tpc_thread, fold.scope);
	OFFSET(TPC_FOLD_OUTER, struct tpc_thread, fold.outer);
	OFFSET(TPC_FOLD_UNTIMED, struct tpc_thread, fold.untimed);
	OFFSET(TPC_FOLD_FILLED, struct tpc_thread, fold.filled);
	OFFSET(TPC_FOLD_STOP, struct tpc_thread, fold.stop);
	OFFSET(TPC_FOLD_HOTS_AT, struct tpc_thread, fold.hots);
	VALUE(TPC_LAYOUT_HOTS, TPC_FOLD_HOTS);
}

static void of_hot(void)
{
	OFFSET(TPC_HOT_KEY, struct tpc_fold_hot, key);
	OFFSET(TPC_HOT_CALLER, struct tpc_fold_hot, caller);
	OFFSET(TPC_HOT_FUNCTION, struct tpc_fold_hot, function);
	OFFSET(TPC_HOT_COPY, struct tpc_fold_hot, copy);
	OFFSET(TPC_HOT_COUNT, struct tpc_fold_hot, count);
	OFFSET(TPC_HOT_UNTIL, struct tpc_fold_hot, until);
	OFFSET(TPC_HOT_UNITS, struct tpc_fold_hot, units);
	OFFSET(TPC_HOT_EPOCH, struct tpc_fold_hot, epoch);
	OFFSET(TPC_HOT_ALIGN, struct tpc_fold_hot, align);
	OFFSET(TPC_HOT_TYPED, struct tpc_fold_hot, typed);
	OFFSET(TPC_HOT_WINDOW, struct tpc_fold_hot, window);
	OFFSET(TPC_HOT_SHARE, struct tpc_fold_hot, share);
	OFFSET(TPC_HOT_RAW, struct tpc_fold_hot, raw);
	VALUE(TPC_HOT_SHIFT, __builtin_ctz(sizeof(struct tpc_fold_hot)));
	_Static_assert((sizeof(struct tpc_fold_hot) & (sizeof(struct tpc_fold_hot) - 1)) == 0, "indices are shifted");
	VALUE(TPC_HOT_SHARE_PLAIN, TPC_FOLD_SHARE_PLAIN);
	VALUE(TPC_HOT_SHARE_WINDOW, TPC_FOLD_SHARE_WINDOW);
	VALUE(TPC_HOT_BY_FIRST, TPC_HOT_BY_FIRST);
	VALUE(TPC_HOT_BY_REFERENCE, TPC_HOT_BY_REFERENCE);
	VALUE(TPC_WINDOW_NEAR, TPC_WINDOW_NEAR);
}

static void of_count(void)
{
	OFFSET(TPC_COUNT_TICKS, struct tprof_fold, ticks);
	OFFSET(TPC_COUNT_UNITS, struct tprof_fold, units);
	OFFSET(TPC_COUNT_CALLS, struct tprof_fold, calls);
	OFFSET(TPC_COUNT_MIN, struct tprof_fold, min);
	OFFSET(TPC_COUNT_MAX, struct tprof_fold, max);
	OFFSET(TPC_COUNT_HISTOGRAM, struct tprof_fold, histogram);
	VALUE(TPC_LAYOUT_SHORTEST, 4); /* ticks: what is shorter has a bucket of another kind, tprof_fold_bucket() */
	VALUE(TPC_LAYOUT_TICKS, TPC_FOLD_TICKS);
	VALUE(TPC_LAYOUT_CALLS, TPC_FOLD_FULL - 1); /* the last call is counted by tpc_fold_end() */
}

static void of_others(void)
{
	VALUE(TPC_LAYOUT_STAMP, TPC_RECALL_STAMP);
	OFFSET(TPC_LAYOUT_GATE, struct tprof_header, gate);
	OFFSET(TPC_LAYOUT_MODE, union tpc_state_page, s.mode);
	VALUE(TPC_LAYOUT_MODE_ON, TPC_MODE_ON);
	VALUE(TPC_LAYOUT_BUSY_RECORD, TPC_BUSY_RECORD);
	VALUE(TPC_LAYOUT_FUNCTION, sizeof(struct tpc_op_function));
	OFFSET(TPC_FUNCTION_ADDRESS, struct tpc_op_function, address);
	VALUE(TPC_LAYOUT_LIMIT, TPROF_CHUNK_SIZE - TPC_RECORD_MAX); /* from the chunk's begin */
	VALUE(TPC_LAYOUT_ROOM, 2 * TPC_RECORD_MAX);		    /* has_room() of hooks/ops/call.c */
}

/* So that none of them is left out. */
void (*const tpc_offsets[])(void) = { of_thread, of_fold, of_hot, of_count, of_others };
