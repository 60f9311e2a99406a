/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers what a thread joined lately, and which stack followed each time. A program that trains or serves repeats
 * itself, and its own data evicts ours from the processor's caches each time round. So the next stack's leaf
 * (stacks/recall.h) is prefetched while the program continues, and is what the next walk tries first. It is used only
 * if every word of it is unchanged: a wrong guess costs time, no more.
 */
#ifndef TPROF_HOOKS_PYTHON_JOINS_H
#define TPROF_HOOKS_PYTHON_JOINS_H

#include "stacks/nodes.h"
#include "stacks/walk.h"

#define TPC_JOINS 4096u	  /* a power of two: half as many were too few for a step of a small convolutional network */
#define TPC_JOINS_WAYS 4u /* places for each, in one cache line */

struct tpc_join {
	uint32_t native, python, joined; /* joined: 0 for an unused one */
	uint16_t next;			 /* the leaf of the next stack (recall.last), as a cache line; 0: it had none */
	uint16_t after : 14;		 /* number of that stack's join in the list */
	uint16_t sure : 2;		 /* how often `next` may be wrong; 0: nothing is expected */
};

_Static_assert(TPC_JOINS_WAYS * sizeof(struct tpc_join) == 64,
	       "a join is in one cache line, with all that it is looked for among");

/* The state of a thread, which also has a list of TPC_JOINS. All zero at first; the list must be cleared. */
struct tpc_joins {
	uint32_t last;	/* the last one's number in the list */
	uint32_t after; /* its `after`, known before its cache line is loaded */
	uint32_t age;	/* of the recall: when it changes, the leaves are different ones */
	uint32_t turn;	/* the next place to be reused */
};

TPC_SLOW void tpc_joins_clear(struct tpc_join *list);

/* The join of these two, found or made. From now on it is what follows the last one. */
TPC_APART struct tpc_join *tpc_joins_find(struct tpc_joins *joins, struct tpc_join *list, uint32_t native,
					  uint32_t python);

/* The stack just walked was not expected. `index`: number of its join in the list. */
TPC_SLOW void tpc_joins_learn(struct tpc_joins *joins, struct tpc_join *list, uint32_t index,
			      const struct tpc_recall *recall);

/* Converts a leaf of a recall to a cache line of its words, and back; 0: none. */
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

/* Prefetches the join that probably comes next, before the stack is looked at. */
TPC_HOT void tpc_joins_fetch(const struct tpc_joins *joins, const struct tpc_join *list)
{
	__builtin_prefetch(&list[joins->after]);
}

/* The joined node of the stack just walked and these Python frames; also predicts and prefetches what comes next. */
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
	if (joins->last == index) /* the same again: everything is cached */
		return join->joined;
	joins->last = index;
	if (tpc_likely(join->sure)) {
		tpc_joins_fetch(joins, list);
		tpc_recall_fetch(recall, recall->expected);
	}
	return join->joined;
}

#endif
