/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread joined lately, and which stack it was on next each time. A program that trains or serves does the same
 * things over and over, and its own data pushes ours out of the processor's caches each time round: so the next stack's
 * leaf (stacks/recall.h) is fetched while the program goes on, and is what the next walk looks at first. It is taken only
 * if every word of it is as it was: a wrong guess costs time, no more.
 */
#ifndef TPROF_HOOKS_PYTHON_JOINS_H
#define TPROF_HOOKS_PYTHON_JOINS_H

#include "stacks/nodes.h"
#include "stacks/walk.h"

#define TP_JOINS 2048u	     /* a power of two; each has a choice of two places side by side */
#define TP_LINE 64u	     /* bytes of a cache line */
#define TP_JOINS_FETCHED 20u /* cache lines of a leaf, at most: some 30 frames; the processor goes on by itself */

struct tp_join {
	uint32_t native, python, joined; /* joined: 0 for an unused one */
	uint32_t next;			 /* the leaf of the stack that came next, of recall.last; 0: it had none */
	uint16_t after;			 /* and that one's join, its index */
	uint8_t lines;			 /* of that leaf */
	bool sure;			 /* twice in a row */
};

/* The thread's: beside it a list of TP_JOINS. All zero at first; the list is to be cleared. */
struct tp_joins {
	uint32_t last;	   /* index of the last one */
	uint32_t expected; /* leaf of the next stack; 0: not known */
	uint32_t age;	   /* the recall's: after it, its leaves are others */
	uint32_t unused;
};

TP_SLOW void tp_joins_clear(struct tp_join *list);

/* Puts the join of these two into one of two places. */
TP_SLOW struct tp_join *tp_joins_make(struct tp_join *here, struct tp_join *beside, uint32_t native, uint32_t python);

TP_HOT bool tp_join_is(const struct tp_join *join, uint32_t native, uint32_t python)
{
	return join->native == native && join->python == python && join->joined;
}

/* The join of these two, found or made. */
TP_HOT struct tp_join *tp_joins_find(struct tp_join *list, uint32_t native, uint32_t python)
{
	uint64_t key = ((uint64_t)native << 32 | python) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t at = (uint32_t)(key >> 40) & (TP_JOINS - 1);

	if (tp_likely(tp_join_is(&list[at], native, python)))
		return &list[at];
	if (tp_likely(tp_join_is(&list[at ^ 1], native, python)))
		return &list[at ^ 1];
	return tp_joins_make(&list[at], &list[at ^ 1], native, python);
}

/* The recall was cleared. */
TP_SLOW void tp_joins_renew(struct tp_joins *joins, struct tp_join *list, uint32_t age);

/* It was another stack than last time after the join before. */
TP_SLOW void tp_joins_learn(struct tp_join *before, uint32_t index, const struct tp_recall *recall);

/* `join` is what the stack just walked came to. */
TP_HOT void tp_joins_go_on(struct tp_joins *joins, struct tp_join *list, const struct tp_join *join,
			   const struct tp_recall *recall)
{
	struct tp_join *before = &list[joins->last];
	const char *leaf;

	if (tp_unlikely(joins->age != recall->age))
		tp_joins_renew(joins, list, recall->age);
	else if (tp_unlikely(before->next != recall->last || !before->sure))
		tp_joins_learn(before, (uint32_t)(join - list), recall);
	joins->last = (uint32_t)(join - list);
	joins->expected = 0;
	if (tp_unlikely(!join->sure))
		return;
	joins->expected = join->next;
	leaf = (const char *)tp_recall_leaf_at(recall, join->next);
	__builtin_prefetch(&list[join->after]);
	for (uint32_t i = 0; i < join->lines; i++)
		__builtin_prefetch(leaf + (size_t)i * TP_LINE);
}

#endif
