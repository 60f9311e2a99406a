/* SPDX-License-Identifier: Apache-2.0 */
/* Folded calls, as trampoline.S looks them up. */
#ifndef TPROF_HOOKS_OPS_HOT_H
#define TPROF_HOOKS_OPS_HOT_H

#include "core/fold.h"
#include "core/thread.h"
#include "hooks/ops/stubs.h"
#include "hooks/ops/window.h"
#include "stacks/modules.h"

/* Bits of tpc_fold_hot.typed. */
#define TPC_HOT_BY_PARTS 1
#define TPC_HOT_BY_FP 2	       /* raw[0] is the caller's frame pointer, in the stub's frame */
#define TPC_HOT_BY_FIRST 4     /* with BY_PARTS: only raw[0], which is the first argument, 32 bits */
#define TPC_HOT_BY_REFERENCE 8 /* with BY_FIRST: what that points to */

/* Up to so many bytes of stack arguments are copied one by one: a block copy takes some tens of cycles to begin. */
#define TPC_WINDOW_NEAR 256

/* A call of a hot op begins; its work is in the thread's fold.work. */
struct tpc_hot_call {
	uint32_t index; /* of the function */
	uint32_t op;
	const uintptr_t *frame;
	struct tpc_window window;
	struct tpc_fold_slot *slot;
	uint64_t shape;
	uint64_t ticks;
};

/* The call is pending from now on; trampoline.S handles the next one like it. */
void tpc_hot_begin(struct tpc_thread *thread, const struct tpc_hot_call *call);

/*
 * The call has `hot`'s function and caller: does the rest match, too? Updates *hot where it may differ. Called by
 * trampoline.S if arguments tell the work.
 */
bool tpc_op_same(const uintptr_t *frame, struct tpc_fold_hot *hot, uint32_t index)
	__attribute__((visibility("hidden")));

#endif
