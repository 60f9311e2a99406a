/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/python/joins.h"

_Static_assert(TPC_JOINS <= 1u << 14, "a number in the list fits tpc_join.after");
_Static_assert(TPC_RECALL_WORDS / TPC_RECALL_LINE <= UINT16_MAX, "a line of a recall fits tpc_join.next");
_Static_assert(TPC_RECALL_TWICE < 1u << 2, "tpc_join.sure");

void tpc_joins_clear(struct tpc_join *list)
{
	memset(list, 0, TPC_JOINS * sizeof(*list));
}

/*
 * Chooses a place for a new join: an empty one, or one in turn. A join that is part of a repeating pattern stays,
 * unless it is passed over repeatedly: then the pattern is over.
 */
static struct tpc_join *choose(struct tpc_joins *joins, struct tpc_join *set)
{
	struct tpc_join *chosen = NULL;

	joins->turn++;
	for (uint32_t i = 0; i < TPC_JOINS_WAYS; i++) {
		struct tpc_join *join = &set[(joins->turn + i) % TPC_JOINS_WAYS];

		if (!join->joined)
			return join;
		if (join->sure)
			join->sure--;
		else if (!chosen)
			chosen = join;
	}
	return chosen ? chosen : &set[joins->turn % TPC_JOINS_WAYS];
}

static struct tpc_join *make(struct tpc_joins *joins, struct tpc_join *set, uint32_t native, uint32_t python)
{
	struct tpc_join *join = choose(joins, set);

	*join = (struct tpc_join){ .native = native, .python = python, .joined = tpc_node_join(native, python) };
	return join;
}

static struct tpc_join *find(struct tpc_joins *joins, struct tpc_join *list, uint32_t native, uint32_t python)
{
	uint64_t key = ((uint64_t)native << 32 | python) * UINT64_C(0x9e3779b97f4a7c15);
	struct tpc_join *set = &list[(uint32_t)(key >> 40) & (TPC_JOINS - TPC_JOINS_WAYS)];

	for (uint32_t i = 0; i < TPC_JOINS_WAYS; i++) {
		if (tpc_join_is(&set[i], native, python))
			return &set[i];
	}
	return make(joins, set, native, python);
}

struct tpc_join *tpc_joins_find(struct tpc_joins *joins, struct tpc_join *list, uint32_t native, uint32_t python)
{
	struct tpc_join *join = find(joins, list, native, python);

	list[joins->last].after = (uint16_t)(join - list) & (TPC_JOINS - 1);
	return join;
}

/* The recall was cleared. */
static void renew(struct tpc_joins *joins, struct tpc_join *list, uint32_t age)
{
	for (uint32_t i = 0; i < TPC_JOINS; i++) {
		list[i].next = 0;
		list[i].sure = 0;
	}
	joins->age = age;
}

void tpc_joins_learn(struct tpc_joins *joins, struct tpc_join *list, uint32_t index, const struct tpc_recall *recall)
{
	struct tpc_join *before = &list[joins->last];
	uint16_t line = tpc_join_line(recall->last);

	if (tpc_unlikely(joins->age != recall->age)) {
		renew(joins, list, recall->age);
		return;
	}
	if (line && before->next == line) {
		before->sure = TPC_RECALL_TWICE;
		before->after = (uint16_t)index & (TPC_JOINS - 1);
	} else if (before->sure) {
		before->sure--;
	} else {
		before->next = line;
	}
}
