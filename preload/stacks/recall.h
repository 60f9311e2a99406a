/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's memory of stacks that it was on before, so that coming back to one costs a check instead of a walk.
 *
 * A walk is a function of the registers that it starts with and of the words that it loads: return addresses, and saved
 * rbp's that matter. Two walks that start at the same PC and stack pointer load the same slots until one of them holds
 * another value: there they part. So the known stacks of one start form a trie over slots, with a branch only where two
 * of them part (Morrison's PATRICIA, JACM 15(4), 1968): a look-up loads the slots of the branches on its way, and what it
 * arrives at is then compared in full, one load and one compare a word. A stack is recalled only when every word that its
 * walk depended on is as it was: exact.
 *
 * One for each thread, used by that thread alone. It holds about a thousand stacks; when it is full it starts over.
 */
#ifndef TPROF_STACKS_RECALL_H
#define TPROF_STACKS_RECALL_H

#include "core/base.h"

#define TP_RECALL_WORDS 122880u /* 960 KiB */
#define TP_RECALL_EDGES 8192u	/* 128 KiB; a power of two */

#define TP_RECALL_LEAF 1u
#define TP_RECALL_GROUP 4u

struct tp_recall_edge {
	uint64_t key;	   /* 0: unused */
	uint32_t to;	   /* a branch: twice its place in words[]; with TP_RECALL_LEAF a leaf: its place in bytes */
	uint32_t distance; /* of a branch: from the start's sp to the slot that it asks, in bytes */
};

/*
 * In words[], a branch is one word: the leaf that stands for all below it. A leaf is this header, and behind it what its
 * walk loaded, slots ascending, in whole groups: a group is four values and where they stood. Its first slot is counted
 * in words from the first of the group before (or the start's sp), the others from its own first. The last group is
 * filled up with what it begins with. Behind the groups, 16 bits each, the indices of those words that are no return
 * addresses.
 */
struct tp_recall_group {
	uint64_t values[TP_RECALL_GROUP];
	uint16_t steps[TP_RECALL_GROUP];
};

struct tp_recalled { /* what comes of a walk; what `flags` mean is the walker's business */
	uint32_t node, flags;
};

struct tp_recall_leaf {
	uintptr_t pc, sp;
	uintptr_t bp, bp_matters; /* all bits set if it does, else 0 */
	uintptr_t top;		  /* behind the outermost slot */
	struct tp_recalled result;
	uint16_t groups, words, others, unused;
	struct tp_recall_group group[];
};

/* All zero is an empty one, but for `used` and `edge_mask`: call tp_recall_clear(). */
struct tp_recall {
	struct tp_recall_edge edges[TP_RECALL_EDGES];
	uint64_t words[TP_RECALL_WORDS];
	uint32_t used; /* words */
	uint32_t edge_count;
	uint32_t edge_mask; /* of an edge's place in edges[], in bytes: those in use lie close together */
	uint32_t last;	    /* where the leaf that was recalled last is; 0: the last walk was none of them */
};

struct tp_start { /* where a walk starts, and how far up its stack goes */
	uintptr_t pc, sp, bp, high;
};

struct tp_word { /* what a walk loaded */
	uintptr_t slot, value;
};

void tp_recall_clear(struct tp_recall *recall);

/* Multiplicative hashing (Knuth, TAOCP 6.4). Two keys that meet cost a failed check, no more. */
static inline uint64_t tp_recall_start_key(uintptr_t pc, uintptr_t sp)
{
	return (pc ^ sp << 17) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

static inline uint64_t tp_recall_value_key(uint32_t branch, uint64_t value)
{
	return (value ^ (uint64_t)branch << 45) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

/* The edge of that key; NULL: there is none. */
TP_HOT const struct tp_recall_edge *tp_recall_edge(const struct tp_recall *recall, uint64_t key)
{
	for (uint64_t at = key >> 36;; at += sizeof(struct tp_recall_edge)) {
		const struct tp_recall_edge *edge =
			(const void *)((const char *)recall->edges + (at & recall->edge_mask));

		if (tp_likely(edge->key == key))
			return edge;
		if (!edge->key)
			return NULL;
	}
}

/* Down the branches. NULL: there is no way on. *to: where it got. */
TP_HOT const struct tp_recall_leaf *tp_recall_descend(const struct tp_recall *recall, const struct tp_start *start,
						      uint32_t *to)
{
	const struct tp_recall_edge *edge = tp_recall_edge(recall, tp_recall_start_key(start->pc, start->sp));

	while (tp_likely(edge)) {
		uintptr_t slot = start->sp + edge->distance;

		*to = edge->to;
		if (edge->to & TP_RECALL_LEAF)
			return (const void *)((const char *)recall->words + (edge->to - TP_RECALL_LEAF));
		if (tp_unlikely(slot + sizeof(uintptr_t) > start->high))
			return NULL;
		edge = tp_recall_edge(recall, tp_recall_value_key(edge->to, *(const uint64_t *)slot));
	}
	return NULL;
}

/* What differs in what the leaf's walk loaded; 0: nothing. Four instructions a word and four a group, no branch on them. */
TP_HOT uint64_t tp_recall_difference(const struct tp_recall_leaf *leaf)
{
	const struct tp_recall_group *group = leaf->group, *end = group + leaf->groups;
	const uint64_t *slot = (const uint64_t *)leaf->sp;
	uint64_t difference = 0;

	for (; group < end; group++) {
		slot += group->steps[0];
		difference |= slot[0] ^ group->values[0];
		difference |= slot[group->steps[1]] ^ group->values[1];
		difference |= slot[group->steps[2]] ^ group->values[2];
		difference |= slot[group->steps[3]] ^ group->values[3];
	}
	return difference;
}

/*
 * The leaf of the stack that the thread is on; NULL: it is not known. Some 40 instructions, 15 for each branch, and those of
 * tp_recall_difference().
 */
TP_HOT const struct tp_recall_leaf *tp_recall_find(struct tp_recall *recall, const struct tp_start *start)
{
	uint32_t to;
	const struct tp_recall_leaf *leaf = tp_recall_descend(recall, start, &to);

	if (tp_unlikely(!leaf || leaf->pc != start->pc || leaf->sp != start->sp || leaf->top > start->high ||
			(tp_recall_difference(leaf) | ((leaf->bp ^ start->bp) & leaf->bp_matters))))
		return NULL;
	recall->last = to;
	return leaf;
}

/* A walk's outcome: what is remembered of it. */
struct tp_outcome {
	const struct tp_word *returns; /* innermost first, slots ascending */
	size_t return_count;
	const struct tp_word *others; /* saved rbp's and CFAs, slots ascending */
	size_t other_count;
	bool needs_bp; /* it depends on start.bp */
	struct tp_recalled result;
};

/* Remembers a walk that tp_recall_find() did not know. One that has no short form is left out. */
void tp_recall_add(struct tp_recall *recall, const struct tp_start *start, const struct tp_outcome *outcome);

/* The stack recalled last, as program counters, innermost first; for tests. */
size_t tp_recall_last(const struct tp_recall *recall, uintptr_t *pcs, size_t max);

#endif
