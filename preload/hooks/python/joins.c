/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/python/joins.h"

_Static_assert(TP_JOINS * sizeof(struct tp_join) <= UINT16_MAX, "a place in the list fits tp_join.after");

void tp_joins_clear(struct tp_join *list)
{
	memset(list, 0, TP_JOINS * sizeof(*list));
}

/* Puts the join of these two into one of two places. One that is part of what goes round stays. */
static struct tp_join *make(struct tp_join *here, struct tp_join *beside, uint32_t native, uint32_t python)
{
	struct tp_join *join = here->joined && (here->sure || !beside->joined) ? beside : here;

	*join = (struct tp_join){ .native = native, .python = python, .joined = tp_node_join(native, python) };
	return join;
}

struct tp_join *tp_joins_find(struct tp_join *list, uint32_t native, uint32_t python)
{
	uint64_t key = ((uint64_t)native << 32 | python) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t at = (uint32_t)(key >> 40) & (TP_JOINS - 1);

	if (tp_likely(tp_join_is(&list[at], native, python)))
		return &list[at];
	if (tp_likely(tp_join_is(&list[at ^ 1], native, python)))
		return &list[at ^ 1];
	return make(&list[at], &list[at ^ 1], native, python);
}

/* The recall was cleared. */
static void renew(struct tp_joins *joins, struct tp_join *list, uint32_t age)
{
	for (uint32_t i = 0; i < TP_JOINS; i++) {
		list[i].next = 0;
		list[i].sure = false;
	}
	joins->age = age;
}

void tp_joins_learn(struct tp_joins *joins, struct tp_join *list, uint32_t index, const struct tp_recall *recall)
{
	struct tp_join *before = tp_join_at(list, joins->last);
	const struct tp_recall_leaf *leaf;
	uint32_t lines;

	if (tp_unlikely(joins->age != recall->age)) {
		renew(joins, list, recall->age);
		return;
	}
	before->sure = recall->last && before->next == recall->last;
	before->next = recall->last;
	if (!before->sure)
		return;
	leaf = tp_recall_leaf_at(recall, recall->last);
	lines = (uint32_t)(sizeof(*leaf) + leaf->groups * sizeof(leaf->group[0])) / TP_LINE + 1;
	before->lines = (uint8_t)(lines < TP_JOINS_FETCHED ? lines : TP_JOINS_FETCHED);
	before->after = (uint16_t)index;
}
