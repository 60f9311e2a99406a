/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From registers to a stack node.
 *
 * The walk goes outwards by frame rules until it meets a frame of the thread's previous walk: same PC, same stack
 * pointer, and same fp where an outer frame needs it. From there on the outcome depends only on memory that the previous
 * walk read: the return addresses, and the saved fp's that matter. If all of them are as they were, so is the rest of
 * the stack: one load and one compare a frame, and exact. Nothing is patched, nothing is assumed.
 *
 * Memory is read between the start's stack pointer and the end of the stack only.
 */
#ifndef TPROF_STACKS_WALK_H
#define TPROF_STACKS_WALK_H

#include "core/thread.h"
#include "stacks/modules.h"
#include "stacks/recall.h"
#include "stacks/step.h"

/* What the shortest way needs of the thread's walk; the rest is walk.c's. All in front of `recall` is zero at first. */
struct tp_walk_front {
	uint32_t recall_epoch; /* tp_modules_epoch if `recall` is in use; else 0, and it is to be cleared first */
	uint8_t head[TP_WALK_HEAD - sizeof(uint32_t)];
	struct tp_recall recall;
};

/*
 * The node of the stack of an exported hook's caller; `frame` is the hook's __builtin_frame_address(0). The thread's
 * bounds must hold it. Own thread only.
 */
uint32_t tp_walk(struct tp_thread *thread, const void *frame);

/* That of a thread that was interrupted; `context` is the kernel's ucontext. The bounds must hold its stack pointer. */
uint32_t tp_walk_interrupted(struct tp_thread *thread, const void *context);

/*
 * Is the stack of the hook's caller known to its outermost frame, and is none of its frames a signal handler's, or in the code
 * `apart`? Goes through all of it, and remembers nothing.
 */
TP_SLOW bool tp_walk_is_plain(const struct tp_thread *thread, const void *frame, struct tp_range apart);

/*
 * Was the hook's caller called by a signal's handler, from however far? False also if the stack can't be followed that far.
 * The thread may be on another stack than its bounds; remembers nothing.
 */
TP_SLOW bool tp_walk_is_handlers(const struct tp_thread *thread, const void *frame);

/*
 * Was the hook's caller called, from however far, by the frame with that fp in `code`? Also true if the stack can't be followed
 * that far. Remembers nothing.
 */
TP_SLOW bool tp_walk_came_through(const struct tp_thread *thread, const void *frame, struct tp_range code,
				  uintptr_t bp);

/* Program counters of the last walk, innermost first; for tests. Returns how many there are. */
size_t tp_walk_last(const struct tp_thread *thread, uintptr_t *pcs, size_t max);

/* How it ended, enum tprof_node: TPROF_NODE_SHORT or TPROF_NODE_CUT, if early. For tests. */
uint32_t tp_walk_last_root(const struct tp_thread *thread);

/* `frame` is __builtin_frame_address(0) of an exported hook: its saved fp, with the return address behind. */
static inline struct tp_registers tp_walk_caller(const void *frame)
{
	const uintptr_t *words = frame;

	return (struct tp_registers){ .pc = words[1], .sp = (uintptr_t)(words + 2), .bp = words[0] };
}

/* tp_walk() where the guess was wrong, or none. */
TP_APART uint32_t tp_walk_missed(struct tp_thread *thread, const void *frame, uint32_t guess);

/* Of a thread that is on its own stack, which are its bounds then. */
TP_HOT struct tp_start tp_walk_start(const struct tp_thread *thread, const void *frame)
{
	struct tp_registers at = tp_walk_caller(frame);

	return (struct tp_start){ at.pc, at.sp, at.bp, thread->bounds.high };
}

/*
 * What tp_walk_hot() is to be told: where the stack is known by heart, most probably. Before the real call, so that it is
 * fetched meanwhile. Of a thread that is on its own stack. One that is expected was fetched before, and nothing is asked.
 */
TP_HOT uint32_t tp_walk_guess(struct tp_thread *thread, const void *frame)
{
	const struct tp_walk_front *walk = (const struct tp_walk_front *)thread->walk;
	struct tp_start start;

	if (tp_unlikely(walk->recall.expected))
		return walk->recall.expected;
	start = tp_walk_start(thread, frame);
	return tp_recall_guess(&walk->recall, &start);
}

/* What tp_walk_hot() will look at, if what is expected comes next, is fetched into the cache. */
TP_HOT void tp_walk_fetch(const struct tp_thread *thread)
{
	const struct tp_recall *recall = &((const struct tp_walk_front *)thread->walk)->recall;

	tp_recall_fetch(recall, recall->expected);
}

/* tp_walk() of a thread that is on its own stack. 25 instructions and those of tp_recall_same(). */
TP_HOT uint32_t tp_walk_hot(struct tp_thread *thread, const void *frame, uint32_t guess)
{
	struct tp_walk_front *walk = (struct tp_walk_front *)thread->walk;
	struct tp_start start = tp_walk_start(thread, frame);
	const struct tp_recall_leaf *leaf = tp_recall_leaf_at(&walk->recall, guess);

	if (tp_unlikely(!guess || walk->recall_epoch != tp_load_acquire(&tp_modules_epoch) ||
			!tp_recall_is(&walk->recall, leaf, &start)))
		return tp_walk_missed(thread, frame, guess);
	if (tp_unlikely(leaf->result.flags))
		return tp_walk(thread, frame); /* incomplete: to be counted */
	walk->recall.last = guess;
	return leaf->result.node;
}

/* The same, and what comes next is expected. */
TP_HOT uint32_t tp_walk_on(struct tp_thread *thread, const void *frame, uint32_t guess)
{
	struct tp_recall *recall = &((struct tp_walk_front *)thread->walk)->recall;
	uint32_t before = recall->last, node = tp_walk_hot(thread, frame, guess);

	tp_recall_follow(recall, before);
	return node;
}

#endif
