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

#define TP_JOINS 2048u	 /* a power of two */
#define TP_JOINS_WAYS 4u /* each has a choice of that many places side by side; a power of two */

struct tp_join {
	uint32_t native, python, joined; /* joined: 0 for an unused one */
	uint32_t next;			 /* the leaf of the stack that came next, of recall.last; 0: it had none */
	uint16_t after;			 /* and that one's join: where it is in the list, in bytes */
	uint8_t sure;			 /* how often `next` may be wrong; 0: nothing is expected */
};

/* The thread's: beside it a list of TP_JOINS. All zero at first; the list is to be cleared. */
struct tp_joins {
	uint32_t last; /* where the last one is in the list, in bytes */
	uint32_t age;  /* the recall's: after it, its leaves are others */
	uint32_t turn; /* whose place is another's next */
};

TP_SLOW void tp_joins_clear(struct tp_join *list);

/* The join of these two, found or made. It is what comes after the last one from now on. */
TP_APART struct tp_join *tp_joins_find(struct tp_joins *joins, struct tp_join *list, uint32_t native, uint32_t python);

/* The stack just walked is not what was expected. `index`: where its join is in the list, in bytes. */
TP_SLOW void tp_joins_learn(struct tp_joins *joins, struct tp_join *list, uint32_t index,
			    const struct tp_recall *recall);

TP_HOT struct tp_join *tp_join_at(struct tp_join *list, uint32_t bytes)
{
	return (struct tp_join *)((char *)list + bytes);
}

TP_HOT bool tp_join_is(const struct tp_join *join, uint32_t native, uint32_t python)
{
	return join->native == native && join->python == python && join->joined;
}

/* What is to be expected after `join`, which is not the one before, is fetched. */
TP_HOT void tp_joins_fetch(struct tp_join *list, const struct tp_join *join, const struct tp_recall *recall)
{
	__builtin_prefetch(tp_join_at(list, join->after));
	tp_recall_fetch(recall, join->next);
}

/* The joined node of the stack that was just walked and these Python frames; and what comes next is expected. */
TP_HOT uint32_t tp_joins_go_on(struct tp_joins *joins, struct tp_join *list, uint32_t native, uint32_t python,
			       struct tp_recall *recall)
{
	struct tp_join *join = tp_join_at(list, tp_join_at(list, joins->last)->after);
	uint32_t index;

	if (tp_unlikely(!tp_join_is(join, native, python)))
		join = tp_joins_find(joins, list, native, python);
	index = (uint32_t)((char *)join - (char *)list);
	if (tp_unlikely(!recall->expected || recall->expected != recall->last))
		tp_joins_learn(joins, list, index, recall);
	recall->expected = join->sure ? join->next : 0;
	if (joins->last == index) /* again: all of it is at hand */
		return join->joined;
	joins->last = index;
	if (tp_likely(join->sure))
		tp_joins_fetch(list, join, recall);
	return join->joined;
}

#endif
