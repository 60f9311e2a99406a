/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are folded, as trampoline.S finds them again. */
#ifndef TPROF_HOOKS_OPS_HOT_H
#define TPROF_HOOKS_OPS_HOT_H

#include "core/fold.h"
#include "core/thread.h"
#include "hooks/ops/stubs.h"
#include "hooks/ops/window.h"
#include "stacks/modules.h"

/* Bits of tpc_fold_hot.typed. */
#define TPC_HOT_BY_PARTS 1
#define TPC_HOT_BY_FP 2	       /* raw[0]: the caller's frame pointer, from the stub's frame */
#define TPC_HOT_BY_FIRST 4     /* beside BY_PARTS: raw[0] alone, which is the first argument, 32 bits */
#define TPC_HOT_BY_REFERENCE 8 /* beside BY_FIRST: or what it points to */

/* Bytes of stack arguments that are copied one by one: copying them all at once takes some tens of cycles to begin. */
#define TPC_WINDOW_NEAR 256

/* A call of an op that is hot begins: the thread's fold.work, and this. */
struct tpc_hot_call {
	uint32_t index; /* of the function */
	uint32_t op;
	const uintptr_t *frame;
	struct tpc_window window;
	struct tpc_fold_slot *slot;
	uint64_t shape;
	uint64_t ticks;
};

/* It is pending from here on, and the next like it will not come here. */
void tpc_hot_begin(struct tpc_thread *thread, const struct tpc_hot_call *call);

/*
 * Of a call that has `hot`'s function and caller: is the rest the same too? What differs and may is put right in *hot.
 * trampoline.S asks, where arguments tell what the call works on.
 */
bool tpc_op_same(const uintptr_t *frame, struct tpc_fold_hot *hot, uint32_t index)
	__attribute__((visibility("hidden")));

#endif
