/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a caller's frame can be the stack arguments of the function that it calls. */
#ifndef TPROF_HOOKS_OPS_WINDOW_H
#define TPROF_HOOKS_OPS_WINDOW_H

#include "core/thread.h"
#include "hooks/ops/typed.h"

struct tp_window {
	uint64_t bytes; /* above the return address; a multiple of 16 */
	enum {
		TP_WINDOW_FIXED,  /* the same for each call of that function from that place */
		TP_WINDOW_BY_RBP, /* the same as long as the caller's rbp is as far from the stub's frame */
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

/* `frame` is the stub's, on the thread's stack. Touches no vector register. */
struct tp_window tp_window_of(const struct tp_thread *thread, const struct tp_signature *signature,
			      const uintptr_t *frame);

/* Instead of bytes: the function is jumped to, and finds all that its caller passed. It does not come back to the stub. */
#define TP_WINDOW_PASS UINT64_MAX

#endif
