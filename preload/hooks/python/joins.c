/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/python/joins.h"

_Static_assert(TP_JOINS <= 1u << 14, "a number in the list fits tp_join.after");
_Static_assert(TP_RECALL_WORDS / TP_RECALL_LINE <= UINT16_MAX, "a line of a recall fits tp_join.next");
_Static_assert(TP_RECALL_TWICE < 1u << 2, "tp_join.sure");

void tp_joins_clear(struct tp_join *list)
{
	memset(list, 0, TP_JOINS * sizeof(*list));
}

/*
 * Which of these places is another's next: an empty one, or one in turn. What is part of what goes round stays, unless it
 * is passed over again and again: then it is part of what went round once.
 */
static struct tp_join *choose(struct tp_joins *joins, struct tp_join *set)
{
	struct tp_join *chosen = NULL;

	joins->turn++;
	for (uint32_t i = 0; i < TP_JOINS_WAYS; i++) {
		struct tp_join *join = &set[(joins->turn + i) % TP_JOINS_WAYS];

		if (!join->joined)
			return join;
		if (join->sure)
			join->sure--;
		else if (!chosen)
			chosen = join;
	}
	return chosen ? chosen : &set[joins->turn % TP_JOINS_WAYS];
}

static struct tp_join *make(struct tp_joins *joins, struct tp_join *set, uint32_t native, uint32_t python)
{
	struct tp_join *join = choose(joins, set);

	*join = (struct tp_join){ .native = native, .python = python, .joined = tp_node_join(native, python) };
	return join;
}

static struct tp_join *find(struct tp_joins *joins, struct tp_join *list, uint32_t native, uint32_t python)
{
	uint64_t key = ((uint64_t)native << 32 | python) * UINT64_C(0x9e3779b97f4a7c15);
	struct tp_join *set = &list[(uint32_t)(key >> 40) & (TP_JOINS - TP_JOINS_WAYS)];

	for (uint32_t i = 0; i < TP_JOINS_WAYS; i++) {
		if (tp_join_is(&set[i], native, python))
			return &set[i];
	}
	return make(joins, set, native, python);
}

struct tp_join *tp_joins_find(struct tp_joins *joins, struct tp_join *list, uint32_t native, uint32_t python)
{
	struct tp_join *join = find(joins, list, native, python);

	list[joins->last].after = (uint16_t)(join - list) & (TP_JOINS - 1);
	return join;
}

/* The recall was cleared. */
static void renew(struct tp_joins *joins, struct tp_join *list, uint32_t age)
{
	for (uint32_t i = 0; i < TP_JOINS; i++) {
		list[i].next = 0;
		list[i].sure = 0;
	}
	joins->age = age;
}

void tp_joins_learn(struct tp_joins *joins, struct tp_join *list, uint32_t index, const struct tp_recall *recall)
{
	struct tp_join *before = &list[joins->last];
	uint16_t line = tp_join_line(recall->last);

	if (tp_unlikely(joins->age != recall->age)) {
		renew(joins, list, recall->age);
		return;
	}
	if (line && before->next == line) {
		before->sure = TP_RECALL_TWICE;
		before->after = (uint16_t)index & (TP_JOINS - 1);
	} else if (before->sure) {
		before->sure--;
	} else {
		before->next = line;
	}
}
