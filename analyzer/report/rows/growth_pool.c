/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/growth_pool.h"

#include <stdlib.h>
#include <string.h>

#include "report/rows/row_index.h"
#include "base/reserve.h"

struct builder {
	struct tp_growth_pooled *pooled;
	const struct tp_process *process;
	struct tp_symbols *symbols;
	enum tp_by by;
	const regex_t *filter;
	struct tp_suppressions *suppressions;
	struct tp_row_index index; /* key to group */
	struct tp_stack stack;
	size_t *first; /* as struct tp_growth_groups has it */
	uint32_t *list;
	size_t count, room; /* of the list */
};

/* The text that two members of a group have in common. NULL: no memory. `line` NULL: the stack was not recorded. */
static const char *key_of(struct builder *builder, const struct tp_line *line)
{
	enum tp_key kind = builder->by == TP_BY_FUNCTION ? TP_KEY_FUNCTION
			   : builder->by == TP_BY_LINE	 ? TP_KEY_PLACE
							 : TP_KEY_MODULE;

	return line ? tp_keys_get(&builder->index.keys, line, kind) : "";
}

/* The member joins the group of that key, once. */
static bool join(struct builder *builder, const char *key, const struct tp_line *line, const char *op)
{
	struct tp_growth_pooled *pooled = builder->pooled;
	struct tp_growth_group *group =
		key ? tp_row_index_at(&builder->index, (uintptr_t)key, line || op, &pooled->groups, sizeof(*group))
		    : NULL;
	size_t number = group ? (size_t)(group - pooled->groups) : 0;

	if (!group || !tp_reserve(&builder->list, &builder->room, builder->count + 1, sizeof(*builder->list)))
		return false;
	if (number == pooled->count) {
		pooled->count++;
		group->op = op;
		if (line)
			group->line = *line;
	}
	if (tp_row_index_once(&builder->index, number))
		builder->list[builder->count++] = (uint32_t)number;
	return true;
}

static bool is_shown(const struct builder *builder)
{
	return (!builder->filter || tp_stack_matches(&builder->stack, builder->filter)) &&
	       (!builder->suppressions || !tp_suppressions_match(builder->suppressions, &builder->stack, 0, 0));
}

/* Each of the stack's lines from the own one outwards: what is nearer to the allocator is its plumbing. */
static bool join_lines(struct builder *builder)
{
	const struct tp_stack *stack = &builder->stack;
	const struct tp_line *own = tp_stack_own(stack);

	if (!own)
		return join(builder, "", NULL, NULL);
	for (size_t i = (size_t)(own - stack->lines); i < stack->last; i++)
		if (!join(builder, key_of(builder, &stack->lines[i]), &stack->lines[i], NULL))
			return false;
	return true;
}

static bool add_member(struct builder *builder, const struct tp_growth_member *member)
{
	const char *op = tp_process_op_name(builder->process, member->op);

	if (!tp_stack_read(&builder->stack, builder->process->trace, builder->symbols, member->node))
		return false;
	if (!is_shown(builder))
		return true;
	tp_row_index_next(&builder->index);
	if (builder->by == TP_BY_OP)
		return join(builder, tp_row_index_op(&builder->index, op), NULL, op);
	return join_lines(builder);
}

static bool build(struct builder *builder)
{
	struct tp_growth_pooled *pooled = builder->pooled;
	const struct tp_growth_kept *kept = builder->process->growth.kept;
	size_t count;
	const struct tp_growth_member *members = tp_growth_members(kept, &count);
	bool good;

	builder->first = calloc(count + 1, sizeof(*builder->first));
	good = builder->first && tp_row_index_init(&builder->index);
	for (size_t i = 0; good && i < count; i++) {
		good = add_member(builder, &members[i]);
		builder->first[i + 1] = builder->count;
	}
	if (good && count) {
		const struct tp_growth_groups groups = { builder->first, builder->list, pooled->count };

		tp_growth_pool(kept, &groups, &pooled->list, &pooled->varying);
	}
	return good;
}

bool tp_growth_pooled(struct tp_growth_pooled *pooled, const struct tp_process *process, struct tp_symbols *symbols,
		      enum tp_by by, const regex_t *filter, struct tp_suppressions *suppressions)
{
	struct builder builder = { .pooled = pooled,
				   .process = process,
				   .symbols = symbols,
				   .by = by,
				   .filter = filter,
				   .suppressions = suppressions };
	bool good;

	memset(pooled, 0, sizeof(*pooled));
	good = build(&builder);
	tp_row_index_free(&builder.index);
	tp_stack_free(&builder.stack);
	free(builder.first);
	free(builder.list);
	return good;
}

void tp_growth_pooled_free(struct tp_growth_pooled *pooled)
{
	free(pooled->list.list);
	free(pooled->groups);
	memset(pooled, 0, sizeof(*pooled));
}
