/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/window.h"

#include "stacks/frames.h"
#include "stacks/modules.h"

/*
 * Bytes that are passed on at most. Arguments lie in their caller's frame, and its end is known by its rule: all of it is
 * passed on, so that none can be missing, unless somebody passes more than 16 KiB by value. Where there is no rule nobody
 * can tell, and more than a KiB would be read for nothing nearly always.
 */
#define WINDOW_MAX 16384u
#define WINDOW_UNKNOWN 1024u

struct slow_caller {
	uintptr_t pc;
	struct tpc_frame frame;
};

static void find_caller(void *context)
{
	struct slow_caller *slow = context;

	slow->frame = tpc_frame_find(slow->pc, false);
}

/* Arguments may not be lost by a guess. */
static struct tpc_rule find_rule(uintptr_t pc)
{
	struct slow_caller slow = { .pc = pc };

	if (!tpc_frame_known(pc, &slow.frame))
		tpc_with_vectors_kept(find_caller, &slow);
	if (slow.frame.rule.guessed)
		return (struct tpc_rule){ .kind = TPC_RULE_NONE };
	return slow.frame.rule;
}

/* Notes the caller, so that it is found at once. Odd cases are not noted. */
static void note(struct tpc_thread *thread, uintptr_t pc, struct tpc_rule rule)
{
	struct tpc_caller *first = tpc_window_caller(thread, pc), *other;

	if (rule.cfa & TPC_CALLER_KIND || rule.kind > TPC_CALLER_KIND || rule.cfa > (int32_t)WINDOW_MAX ||
	    rule.cfa < -(int32_t)WINDOW_MAX)
		return;
	other = &thread->callers[(pc % TPC_CALLERS) ^ (1 + (pc >> 9) % (TPC_CALLERS_WAYS - 1))];
	if (first->pc != pc)
		*other = *first;
	*first = (struct tpc_caller){ pc, tpc_modules_renew(), rule.cfa | rule.kind };
}

/* NULL: that caller is not noted. */
static const struct tpc_caller *find_noted(struct tpc_thread *thread, uintptr_t pc)
{
	for (uint32_t i = 0; i < TPC_CALLERS_WAYS; i++) {
		const struct tpc_caller *caller = &thread->callers[(pc % TPC_CALLERS) ^ i];

		if (tpc_window_is(caller, pc))
			return caller;
	}
	return NULL;
}

/*
 * The end of the caller's frame; 0: unknown. A rule is passed as two numbers: as a struct it is built in memory field
 * by field, and a load of all of it waits for each of these stores.
 */
static inline uintptr_t end_of_frame(const struct tpc_thread *thread, const uintptr_t *frame, int32_t cfa,
				     unsigned kind)
{
	uintptr_t at;

	switch (kind) {
	case TPC_RULE_SP:
		return (uintptr_t)(frame + 2) + (uintptr_t)(intptr_t)cfa;
	case TPC_RULE_FP:
		return frame[0] + (uintptr_t)(intptr_t)cfa;
	case TPC_RULE_FP_LOAD: /* a realigned frame */
		at = frame[0] + (uintptr_t)(intptr_t)cfa;
		return at % sizeof(at) == 0 && tpc_thread_on_stack(thread, at) ? *(const uintptr_t *)at : 0;
	default:
		return 0;
	}
}

static inline struct tpc_window window_by(const struct tpc_thread *thread, const uintptr_t *frame, int32_t cfa,
					  unsigned kind)
{
	uintptr_t arguments = (uintptr_t)(frame + 2), high = thread->bounds.high;
	uintptr_t end = end_of_frame(thread, frame, cfa, kind);
	bool known = end >= arguments && end <= high;
	uint64_t most = known ? WINDOW_MAX : WINDOW_UNKNOWN;
	struct tpc_window window = { ((known ? end : high) - arguments) & ~UINT64_C(15), TPC_WINDOW_VARIES };

	if (window.bytes > most)
		window.bytes = most;
	if (known)
		window.kind = kind == TPC_RULE_SP ? TPC_WINDOW_FIXED : TPC_WINDOW_BY_FP;
	return window;
}

static TPC_SLOW struct tpc_window window_of_new(struct tpc_thread *thread, const uintptr_t *frame)
{
	struct tpc_rule rule = find_rule(frame[1]);

	note(thread, frame[1], rule);
	return window_by(thread, frame, rule.cfa, rule.kind);
}

struct tpc_window tpc_window_by_rule(struct tpc_thread *thread, const uintptr_t *frame)
{
	const struct tpc_caller *caller = find_noted(thread, frame[1]);

	if (tpc_unlikely(!caller))
		return window_of_new(thread, frame);
	return window_by(thread, frame, caller->rule & ~TPC_CALLER_KIND, (unsigned)(caller->rule & TPC_CALLER_KIND));
}
