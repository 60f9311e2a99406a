/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From registers to a stack node.
 *
 * The walk goes outwards by frame rules until it meets a frame of the thread's previous walk: same PC, same stack
 * pointer, and same fp where an outer frame needs it. From there on the outcome depends only on memory that the
 * previous walk read: the return addresses, and the saved fp's that matter. If all of them are unchanged, so is the
 * rest of the stack: one load and one compare a frame, and exact. Nothing is patched, nothing is assumed.
 *
 * Reads memory only between the initial stack pointer and the end of the stack.
 */
#ifndef TPROF_STACKS_WALK_H
#define TPROF_STACKS_WALK_H

#include "core/thread.h"
#include "stacks/frame_table.h"
#include "stacks/recall.h"
#include "stacks/step.h"

/* What the shortest path needs of the thread's walk; the rest is in walk.c. Everything before `recall` is zero at first. */
struct tpc_walk_front {
	uint32_t recall_epoch; /* tpc_frames_epoch if `recall` is in use; 0: it must be cleared first */
	uint8_t head[TPC_WALK_HEAD - sizeof(uint32_t)];
	struct tpc_recall recall;
};

/*
 * The node of the stack of an exported hook's caller; `frame` is the hook's __builtin_frame_address(0). The thread's
 * bounds must hold it. Own thread only.
 */
uint32_t tpc_walk(struct tpc_thread *thread, const void *frame);

/* The node of an interrupted thread; `context` is the kernel's ucontext. The bounds must contain its stack pointer. */
uint32_t tpc_walk_interrupted(struct tpc_thread *thread, const void *context);

/*
 * Is the stack of the hook's caller known to its outermost frame, and is none of its frames a signal handler's, or in
 * the code `apart`? Walks all of it, and remembers nothing.
 */
TPC_SLOW bool tpc_walk_is_plain(const struct tpc_thread *thread, const void *frame, struct tpc_range apart);

/*
 * Was the hook's caller called, directly or not, by a signal handler? False also if the stack can't be followed that
 * far. The thread may be on another stack than its bounds; remembers nothing.
 */
TPC_SLOW bool tpc_walk_is_handlers(const struct tpc_thread *thread, const void *frame);

/*
 * Was the hook's caller called, directly or not, by the frame with that fp in `code`? True also if the stack can't be
 * followed that far. Remembers nothing.
 */
TPC_SLOW bool tpc_walk_came_through(const struct tpc_thread *thread, const void *frame, struct tpc_range code,
				    uintptr_t bp);

/* Program counters of the last walk, innermost first; for tests. Returns how many there are. */
size_t tpc_walk_last(const struct tpc_thread *thread, uintptr_t *pcs, size_t max);

/* How the last walk ended, enum tprof_node: TPROF_NODE_SHORT or TPROF_NODE_CUT if early. For tests. */
uint32_t tpc_walk_last_root(const struct tpc_thread *thread);

/* `frame` is __builtin_frame_address(0) of an exported hook: its saved fp, with the return address behind. */
static inline struct tpc_registers tpc_walk_caller(const void *frame)
{
	const uintptr_t *words = frame;

	return (struct tpc_registers){ .pc = words[1], .sp = (uintptr_t)(words + 2), .bp = words[0] };
}

/* tpc_walk() after a wrong guess, or none. */
TPC_APART uint32_t tpc_walk_missed(struct tpc_thread *thread, const void *frame, uint32_t guess);

/* For a thread on its own stack, which its bounds are then. */
TPC_HOT struct tpc_start tpc_walk_start(const struct tpc_thread *thread, const void *frame)
{
	struct tpc_registers at = tpc_walk_caller(frame);

	return (struct tpc_start){ at.pc, at.sp, at.bp, thread->bounds.high };
}

/*
 * A guess for tpc_walk_hot(): where the stack is probably remembered. To be called before the real call, so that it is
 * fetched meanwhile, for a thread on its own stack. An expected stack was fetched before, and needs no look-up.
 */
TPC_HOT uint32_t tpc_walk_guess(struct tpc_thread *thread, const void *frame)
{
	const struct tpc_walk_front *walk = (const struct tpc_walk_front *)thread->walk;
	struct tpc_start start;

	if (tpc_unlikely(walk->recall.expected))
		return walk->recall.expected;
	start = tpc_walk_start(thread, frame);
	return tpc_recall_guess(&walk->recall, &start);
}

/* Prefetches what tpc_walk_hot() will read if the expected stack comes next. */
TPC_HOT void tpc_walk_fetch(const struct tpc_thread *thread)
{
	const struct tpc_recall *recall = &((const struct tpc_walk_front *)thread->walk)->recall;

	tpc_recall_fetch(recall, recall->expected);
}

/* tpc_walk() for a thread on its own stack. 25 instructions and those of tpc_recall_same(). */
TPC_HOT uint32_t tpc_walk_hot(struct tpc_thread *thread, const void *frame, uint32_t guess)
{
	struct tpc_walk_front *walk = (struct tpc_walk_front *)thread->walk;
	struct tpc_start start = tpc_walk_start(thread, frame);
	const struct tpc_recall_leaf *leaf = tpc_recall_leaf_at(&walk->recall, guess);

	if (tpc_unlikely(!guess || walk->recall_epoch != tpc_load_acquire(&tpc_frames_epoch) ||
			 !tpc_recall_is(&walk->recall, leaf, &start)))
		return tpc_walk_missed(thread, frame, guess);
	if (tpc_unlikely(leaf->result.flags))
		return tpc_walk(thread, frame); /* incomplete: to be counted */
	walk->recall.last = guess;
	return leaf->result.node;
}

/* The same; also predicts the next stack. */
TPC_HOT uint32_t tpc_walk_on(struct tpc_thread *thread, const void *frame, uint32_t guess)
{
	struct tpc_recall *recall = &((struct tpc_walk_front *)thread->walk)->recall;
	uint32_t before = recall->last, node = tpc_walk_hot(thread, frame, guess);

	tpc_recall_follow(recall, before);
	return node;
}

#endif
