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

#define TPC_JOINS 4096u	  /* a power of two: half as many were too few for a small convolutional network's step */
#define TPC_JOINS_WAYS 4u /* each has a choice of that many places side by side, in one cache line */

struct tpc_join {
	uint32_t native, python, joined; /* joined: 0 for an unused one */
	uint16_t next;	     /* the leaf of the stack that came next, of recall.last, as a line; 0: it had none */
	uint16_t after : 14; /* and that one's join: its number in the list */
	uint16_t sure : 2;   /* how often `next` may be wrong; 0: nothing is expected */
};

_Static_assert(TPC_JOINS_WAYS * sizeof(struct tpc_join) == 64,
	       "a join is in one cache line, with all that it is looked for among");

/* The thread's: beside it a list of TPC_JOINS. All zero at first; the list is to be cleared. */
struct tpc_joins {
	uint32_t last;	/* the last one's number in the list */
	uint32_t after; /* what its `after` says: known before its line is there */
	uint32_t age;	/* the recall's: after it, its leaves are others */
	uint32_t turn;	/* whose place is another's next */
};

TPC_SLOW void tpc_joins_clear(struct tpc_join *list);

/* The join of these two, found or made. It is what comes after the last one from now on. */
TPC_APART struct tpc_join *tpc_joins_find(struct tpc_joins *joins, struct tpc_join *list, uint32_t native,
					  uint32_t python);

/* The stack just walked is not what was expected. `index`: its join's number in the list. */
TPC_SLOW void tpc_joins_learn(struct tpc_joins *joins, struct tpc_join *list, uint32_t index,
			      const struct tpc_recall *recall);

/* A leaf of a recall as a cache line of its words, and back; 0: none. */
TPC_HOT uint16_t tpc_join_line(uint32_t leaf)
{
	return (uint16_t)(leaf / 64);
}

TPC_HOT uint32_t tpc_join_leaf(uint16_t line)
{
	return line ? line * 64u + TPC_RECALL_LEAF : 0;
}

TPC_HOT bool tpc_join_is(const struct tpc_join *join, uint32_t native, uint32_t python)
{
	return join->native == native && join->python == python && join->joined;
}

/* The join that comes next, most probably, on its way into the cache: before the stack is looked at. */
TPC_HOT void tpc_joins_fetch(const struct tpc_joins *joins, const struct tpc_join *list)
{
	__builtin_prefetch(&list[joins->after]);
}

/* The joined node of the stack that was just walked and these Python frames; and what comes next is expected, and fetched. */
TPC_HOT uint32_t tpc_joins_go_on(struct tpc_joins *joins, struct tpc_join *list, uint32_t native, uint32_t python,
				 struct tpc_recall *recall)
{
	struct tpc_join *join = &list[joins->after];
	uint32_t index;

	if (tpc_unlikely(!tpc_join_is(join, native, python)))
		join = tpc_joins_find(joins, list, native, python);
	index = (uint32_t)(join - list);
	if (tpc_unlikely(!recall->expected || recall->expected != recall->last))
		tpc_joins_learn(joins, list, index, recall);
	recall->expected = join->sure ? tpc_join_leaf(join->next) : 0;
	joins->after = join->after;
	if (joins->last == index) /* again: all of it is at hand */
		return join->joined;
	joins->last = index;
	if (tpc_likely(join->sure)) {
		tpc_joins_fetch(joins, list);
		tpc_recall_fetch(recall, recall->expected);
	}
	return join->joined;
}

#endif
