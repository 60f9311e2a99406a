/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a caller's frame can be stack arguments of the function that it calls. */
#ifndef TPROF_HOOKS_OPS_WINDOW_H
#define TPROF_HOOKS_OPS_WINDOW_H

#include "core/thread.h"
#include "hooks/ops/typed.h"
#include "stacks/frame_table.h"

struct tpc_window {
	uint64_t bytes; /* above the return address; a multiple of 16 */
	enum {
		TPC_WINDOW_FIXED, /* the same for all calls of that function from that place */
		TPC_WINDOW_BY_FP, /* the same while the distance between the caller's fp and the stub's frame is */
		TPC_WINDOW_VARIES,
	} kind;
};

/*
 * For a function whose signature tells how many arguments are on the stack. False: it does not tell, or they are not
 * there.
 */
static inline bool tpc_window_known(const struct tpc_thread *thread, const struct tpc_signature *signature,
				    const uintptr_t *frame, struct tpc_window *window)
{
	window->bytes = ((uint64_t)signature->stack * 8 + 15) & ~UINT64_C(15);
	window->kind = TPC_WINDOW_FIXED;
	return signature->stack_known && (uintptr_t)(frame + 2) + window->bytes <= thread->bounds.high;
}

#define TPC_CALLER_KIND 7 /* bits of tpc_caller.rule: enum tpc_rule_kind */

/* The place where such calls are noted; or beside it, within a multiple of TPC_CALLERS_WAYS. */
static inline struct tpc_caller *tpc_window_caller(struct tpc_thread *thread, uintptr_t pc)
{
	return &thread->callers[pc % TPC_CALLERS];
}

static inline bool tpc_window_is(const struct tpc_caller *caller, uintptr_t pc)
{
	return caller->pc == pc && caller->epoch == tpc_load_acquire(&tpc_frames_epoch);
}

TPC_APART struct tpc_window tpc_window_by_rule(struct tpc_thread *thread, const uintptr_t *frame);

/* `frame` is the stub's, on the thread's stack. Touches no vector register. */
static inline struct tpc_window tpc_window_of(struct tpc_thread *thread, const struct tpc_signature *signature,
					      const uintptr_t *frame)
{
	const struct tpc_caller *caller = tpc_window_caller(thread, frame[1]);
	struct tpc_window window;

	if (tpc_window_known(thread, signature, frame, &window))
		return window;
	if (tpc_likely(tpc_window_is(caller, frame[1]) && (caller->rule & TPC_CALLER_KIND) == TPC_RULE_SP))
		return (struct tpc_window){ (uint64_t)caller->rule & ~UINT64_C(15), TPC_WINDOW_FIXED };
	return tpc_window_by_rule(thread, frame);
}

/* Instead of bytes: jump to the function, which finds all that its caller passed. It does not return to the stub. */
#define TPC_WINDOW_PASS UINT64_MAX

#endif
