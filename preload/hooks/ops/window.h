/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a caller's frame can be the stack arguments of the function that it calls. */
#ifndef TPROF_HOOKS_OPS_WINDOW_H
#define TPROF_HOOKS_OPS_WINDOW_H

#include "core/thread.h"
#include "hooks/ops/typed.h"
#include "stacks/modules.h"
#include "stacks/rule.h"

struct tp_window {
	uint64_t bytes; /* above the return address; a multiple of 16 */
	enum {
		TP_WINDOW_FIXED, /* the same for each call of that function from that place */
		TP_WINDOW_BY_FP, /* the same as long as the caller's fp is as far from the stub's frame */
		TP_WINDOW_VARIES,
	} kind;
};

/* Of a function whose signature says how many arguments are on the stack. False: it does not, or they are not there. */
static inline bool tp_window_known(const struct tp_thread *thread, const struct tp_signature *signature,
				   const uintptr_t *frame, struct tp_window *window)
{
	window->bytes = ((uint64_t)signature->stack * 8 + 15) & ~UINT64_C(15);
	window->kind = TP_WINDOW_FIXED;
	return signature->stack_known && (uintptr_t)(frame + 2) + window->bytes <= thread->bounds.high;
}

#define TP_CALLER_KIND 7 /* of tp_caller.rule: enum tp_rule_kind */

/* Where calls from there are noted lately; or beside it, within a multiple of TP_CALLERS_WAYS. */
static inline struct tp_caller *tp_window_caller(struct tp_thread *thread, uintptr_t pc)
{
	return &thread->callers[pc % TP_CALLERS];
}

static inline bool tp_window_is(const struct tp_caller *caller, uintptr_t pc)
{
	return caller->pc == pc && caller->epoch == tp_load_acquire(&tp_modules_epoch);
}

TP_APART struct tp_window tp_window_by_rule(struct tp_thread *thread, const uintptr_t *frame);

/* `frame` is the stub's, on the thread's stack. Touches no vector register. */
static inline struct tp_window tp_window_of(struct tp_thread *thread, const struct tp_signature *signature,
					    const uintptr_t *frame)
{
	const struct tp_caller *caller = tp_window_caller(thread, frame[1]);
	struct tp_window window;

	if (tp_window_known(thread, signature, frame, &window))
		return window;
	if (tp_likely(tp_window_is(caller, frame[1]) && (caller->rule & TP_CALLER_KIND) == TP_RULE_SP))
		return (struct tp_window){ (uint64_t)caller->rule & ~UINT64_C(15), TP_WINDOW_FIXED };
	return tp_window_by_rule(thread, frame);
}

/* Instead of bytes: the function is jumped to, and finds all that its caller passed. It does not come back to the stub. */
#define TP_WINDOW_PASS UINT64_MAX

#endif
