/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/window.h"

#include "hooks/ops/vectors.h"
#include "stacks/frames.h"

#define WINDOW_MAX 1024u /* bytes of stack arguments that are passed on at most, where their number is not known */

struct slow_caller {
	uintptr_t pc;
	struct tp_frame frame;
};

static void find_caller(void *context)
{
	struct slow_caller *slow = context;

	slow->frame = tp_frame_find(slow->pc, false);
}

static struct tp_rule rule_of(uintptr_t pc)
{
	struct slow_caller slow = { .pc = pc };

	if (!tp_frame_known(pc, &slow.frame))
		tp_with_vectors_kept(find_caller, &slow);
	return slow.frame.rule;
}

/* The rest of the caller's frame. */
static struct tp_window by_rule(const struct tp_thread *thread, const uintptr_t *frame)
{
	uintptr_t arguments = (uintptr_t)(frame + 2), end = thread->bounds.high;
	struct tp_rule rule = rule_of(frame[1]);
	struct tp_window window = { .kind = TP_WINDOW_VARIES };

	if (rule.kind == TP_RULE_RSP) {
		end = arguments + (uintptr_t)(intptr_t)rule.cfa;
		window.kind = TP_WINDOW_FIXED;
	} else if (rule.kind == TP_RULE_RBP) {
		end = frame[0] + (uintptr_t)(intptr_t)rule.cfa;
		window.kind = TP_WINDOW_BY_RBP;
	}
	window.bytes = end > arguments ? (end - arguments) & ~UINT64_C(15) : 0;
	if (window.bytes > WINDOW_MAX)
		window.bytes = WINDOW_MAX;
	return window;
}

struct tp_window tp_window_of(const struct tp_thread *thread, const struct tp_signature *signature,
			      const uintptr_t *frame)
{
	uint64_t window = ((uint64_t)signature->stack * 8 + 15) & ~UINT64_C(15);

	if (tp_likely(signature->stack_known && (uintptr_t)(frame + 2) + window <= thread->bounds.high))
		return (struct tp_window){ window, TP_WINDOW_FIXED };
	return by_rule(thread, frame);
}
