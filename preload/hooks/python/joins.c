/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/python/joins.h"

void tp_joins_clear(struct tp_join *list)
{
	memset(list, 0, TP_JOINS * sizeof(*list));
}

/* One that is part of what goes round stays. */
struct tp_join *tp_joins_make(struct tp_join *here, struct tp_join *beside, uint32_t native, uint32_t python)
{
	struct tp_join *join = here->joined && (here->sure || !beside->joined) ? beside : here;

	*join = (struct tp_join){ .native = native, .python = python, .joined = tp_node_join(native, python) };
	return join;
}

void tp_joins_renew(struct tp_joins *joins, struct tp_join *list, uint32_t age)
{
	for (uint32_t i = 0; i < TP_JOINS; i++) {
		list[i].next = 0;
		list[i].sure = false;
	}
	joins->age = age;
}

void tp_joins_learn(struct tp_join *before, uint32_t index, const struct tp_recall *recall)
{
	const struct tp_recall_leaf *leaf;
	uint32_t lines;

	before->sure = recall->last && before->next == recall->last;
	before->next = recall->last;
	if (!before->sure)
		return;
	leaf = tp_recall_leaf_at(recall, recall->last);
	lines = (uint32_t)(sizeof(*leaf) + leaf->groups * sizeof(leaf->group[0])) / TP_LINE + 1;
	before->lines = (uint8_t)(lines < TP_JOINS_FETCHED ? lines : TP_JOINS_FETCHED);
	before->after = (uint16_t)index;
}
