/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/window.h"

#include "hooks/ops/vectors.h"
#include "stacks/frames.h"

/*
 * Bytes that are passed on at most. Arguments lie in their caller's frame, and its end is known by its rule: all of it is
 * passed on, so that none can be missing, unless somebody passes more than 16 KiB by value. Where there is no rule nobody
 * can tell, and more than a KiB would be read for nothing nearly always.
 */
#define WINDOW_MAX 16384u
#define WINDOW_UNKNOWN 1024u

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

/* Where the caller's frame ends; 0: nobody can tell. */
static uintptr_t end_of_frame(const struct tp_thread *thread, const uintptr_t *frame, struct tp_rule rule)
{
	uintptr_t at;

	switch (rule.kind) {
	case TP_RULE_RSP:
		return (uintptr_t)(frame + 2) + (uintptr_t)(intptr_t)rule.cfa;
	case TP_RULE_RBP:
		return frame[0] + (uintptr_t)(intptr_t)rule.cfa;
	case TP_RULE_RBP_LOAD: /* a frame that aligns itself */
		at = frame[0] + (uintptr_t)(intptr_t)rule.cfa;
		return at % sizeof(at) == 0 && tp_thread_on_stack(thread, at) ? *(const uintptr_t *)at : 0;
	default:
		return 0;
	}
}

static struct tp_window by_rule(const struct tp_thread *thread, const uintptr_t *frame)
{
	uintptr_t arguments = (uintptr_t)(frame + 2), high = thread->bounds.high;
	struct tp_rule rule = rule_of(frame[1]);
	uintptr_t end = end_of_frame(thread, frame, rule);
	bool known = end >= arguments && end <= high;
	uint64_t most = known ? WINDOW_MAX : WINDOW_UNKNOWN;
	struct tp_window window = { ((known ? end : high) - arguments) & ~UINT64_C(15), TP_WINDOW_VARIES };

	if (window.bytes > most)
		window.bytes = most;
	if (known)
		window.kind = rule.kind == TP_RULE_RSP ? TP_WINDOW_FIXED : TP_WINDOW_BY_RBP;
	return window;
}

struct tp_window tp_window_of(const struct tp_thread *thread, const struct tp_signature *signature,
			      const uintptr_t *frame)
{
	struct tp_window window;

	if (tp_window_known(thread, signature, frame, &window))
		return window;
	return by_rule(thread, frame);
}
