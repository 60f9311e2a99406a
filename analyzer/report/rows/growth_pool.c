/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/growth_pool.h"

#include <stdlib.h>
#include <string.h>

#include "report/rows/row_index.h"
#include "base/memory.h"

struct builder {
	struct tpa_growth_pooled *pooled;
	const struct tpa_process *process;
	struct tpa_symbols *symbols;
	enum tpa_by by;
	const regex_t *filter;
	struct tpa_suppressions *suppressions;
	struct tpa_row_index index; /* key to group */
	struct tpa_stack stack;
	size_t *first; /* see struct tpa_growth_groups */
	uint32_t *list;
	size_t count, room; /* of the list */
};

/* Adds the current member to the group with that key, once. */
static void join(struct builder *builder, uint64_t key, const struct tpa_line *line, const char *op)
{
	struct tpa_growth_pooled *pooled = builder->pooled;
	struct tpa_growth_group *group =
		tpa_row_index_at(&builder->index, key, line || op, &pooled->groups, sizeof(*group));
	size_t number = (size_t)(group - pooled->groups);

	tpa_grow(&builder->list, &builder->room, builder->count + 1, sizeof(*builder->list));
	if (number == pooled->count) {
		pooled->count++;
		group->op = op;
		if (line)
			group->line = *line;
	}
	if (tpa_row_index_once(&builder->index, number))
		builder->list[builder->count++] = (uint32_t)number;
}

static bool is_shown(const struct builder *builder)
{
	return (!builder->filter || tpa_stack_matches(&builder->stack, builder->filter)) &&
	       (!builder->suppressions || !tpa_suppressions_match(builder->suppressions, &builder->stack, 0, 0));
}

/* Joins the groups of the stack's lines, from the own line outwards: lines further in are the allocator's plumbing. */
static void join_lines(struct builder *builder)
{
	const struct tpa_stack *stack = &builder->stack;
	const struct tpa_line *own = tpa_stack_own(stack);
	enum tpa_key kind = tpa_by_line_key(builder->by);

	if (!own)
		join(builder, 0, NULL, NULL);
	for (size_t i = own ? (size_t)(own - stack->lines) : stack->last; i < stack->last; i++)
		join(builder, tpa_row_index_line(&builder->index, &stack->lines[i], kind), &stack->lines[i], NULL);
}

static void add_member(struct builder *builder, const struct tpa_growth_member *member)
{
	const char *op = tpa_process_op_name(builder->process, member->op);

	tpa_stack_read(&builder->stack, builder->process->trace, builder->symbols, member->node);
	if (!is_shown(builder))
		return;
	tpa_row_index_next(&builder->index);
	if (builder->by == TPA_BY_OP)
		join(builder, tpa_row_index_op(&builder->index, op), NULL, op);
	else
		join_lines(builder);
}

void tpa_growth_pooled(struct tpa_growth_pooled *pooled, const struct tpa_process *process, struct tpa_symbols *symbols,
		       enum tpa_by by, const regex_t *filter, struct tpa_suppressions *suppressions)
{
	struct builder builder = { .pooled = pooled,
				   .process = process,
				   .symbols = symbols,
				   .by = by,
				   .filter = filter,
				   .suppressions = suppressions };
	const struct tpa_growth_kept *kept = process->growth.kept;
	size_t count;
	const struct tpa_growth_member *members = tpa_growth_members(kept, &count);

	memset(pooled, 0, sizeof(*pooled));
	builder.first = tpa_zalloc(count + 1, sizeof(*builder.first));
	tpa_row_index_init(&builder.index);
	for (size_t i = 0; i < count; i++) {
		add_member(&builder, &members[i]);
		builder.first[i + 1] = builder.count;
	}
	if (count) {
		const struct tpa_growth_groups groups = { builder.first, builder.list, pooled->count };

		tpa_growth_pool(kept, &groups, &pooled->list, &pooled->varying);
	}
	tpa_row_index_free(&builder.index);
	tpa_stack_free(&builder.stack);
	free(builder.first);
	free(builder.list);
}

void tpa_growth_pooled_free(struct tpa_growth_pooled *pooled)
{
	free(pooled->list.list);
	free(pooled->groups);
	memset(pooled, 0, sizeof(*pooled));
}
