/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/growth_pool.h"

#include <stdlib.h>
#include <string.h>

#include "report/rows/row_index.h"
#include "base/reserve.h"

struct builder {
	struct tpa_growth_pooled *pooled;
	const struct tpa_process *process;
	struct tpa_symbols *symbols;
	enum tpa_by by;
	const regex_t *filter;
	struct tpa_suppressions *suppressions;
	struct tpa_row_index index; /* key to group */
	struct tpa_stack stack;
	size_t *first; /* as struct tpa_growth_groups has it */
	uint32_t *list;
	size_t count, room; /* of the list */
};

/* The text that two members of a group have in common. NULL: no memory. `line` NULL: the stack was not recorded. */
static const char *key_of(struct builder *builder, const struct tpa_line *line)
{
	enum tpa_key kind = builder->by == TPA_BY_FUNCTION ? TPA_KEY_FUNCTION
			    : builder->by == TPA_BY_LINE   ? TPA_KEY_PLACE
							   : TPA_KEY_MODULE;

	return line ? tpa_keys_get(&builder->index.keys, line, kind) : "";
}

/* The member joins the group of that key, once. */
static bool join(struct builder *builder, const char *key, const struct tpa_line *line, const char *op)
{
	struct tpa_growth_pooled *pooled = builder->pooled;
	struct tpa_growth_group *group =
		key ? tpa_row_index_at(&builder->index, (uintptr_t)key, line || op, &pooled->groups, sizeof(*group))
		    : NULL;
	size_t number = group ? (size_t)(group - pooled->groups) : 0;

	if (!group || !tpa_reserve(&builder->list, &builder->room, builder->count + 1, sizeof(*builder->list)))
		return false;
	if (number == pooled->count) {
		pooled->count++;
		group->op = op;
		if (line)
			group->line = *line;
	}
	if (tpa_row_index_once(&builder->index, number))
		builder->list[builder->count++] = (uint32_t)number;
	return true;
}

static bool is_shown(const struct builder *builder)
{
	return (!builder->filter || tpa_stack_matches(&builder->stack, builder->filter)) &&
	       (!builder->suppressions || !tpa_suppressions_match(builder->suppressions, &builder->stack, 0, 0));
}

/* Each of the stack's lines from the own one outwards: what is nearer to the allocator is its plumbing. */
static bool join_lines(struct builder *builder)
{
	const struct tpa_stack *stack = &builder->stack;
	const struct tpa_line *own = tpa_stack_own(stack);

	if (!own)
		return join(builder, "", NULL, NULL);
	for (size_t i = (size_t)(own - stack->lines); i < stack->last; i++)
		if (!join(builder, key_of(builder, &stack->lines[i]), &stack->lines[i], NULL))
			return false;
	return true;
}

static bool add_member(struct builder *builder, const struct tpa_growth_member *member)
{
	const char *op = tpa_process_op_name(builder->process, member->op);

	if (!tpa_stack_read(&builder->stack, builder->process->trace, builder->symbols, member->node))
		return false;
	if (!is_shown(builder))
		return true;
	tpa_row_index_next(&builder->index);
	if (builder->by == TPA_BY_OP)
		return join(builder, tpa_row_index_op(&builder->index, op), NULL, op);
	return join_lines(builder);
}

static bool build(struct builder *builder)
{
	struct tpa_growth_pooled *pooled = builder->pooled;
	const struct tpa_growth_kept *kept = builder->process->growth.kept;
	size_t count;
	const struct tpa_growth_member *members = tpa_growth_members(kept, &count);
	bool good;

	builder->first = calloc(count + 1, sizeof(*builder->first));
	good = builder->first && tpa_row_index_init(&builder->index);
	for (size_t i = 0; good && i < count; i++) {
		good = add_member(builder, &members[i]);
		builder->first[i + 1] = builder->count;
	}
	if (good && count) {
		const struct tpa_growth_groups groups = { builder->first, builder->list, pooled->count };

		tpa_growth_pool(kept, &groups, &pooled->list, &pooled->varying);
	}
	return good;
}

bool tpa_growth_pooled(struct tpa_growth_pooled *pooled, const struct tpa_process *process, struct tpa_symbols *symbols,
		       enum tpa_by by, const regex_t *filter, struct tpa_suppressions *suppressions)
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
	tpa_row_index_free(&builder.index);
	tpa_stack_free(&builder.stack);
	free(builder.first);
	free(builder.list);
	return good;
}

void tpa_growth_pooled_free(struct tpa_growth_pooled *pooled)
{
	free(pooled->list.list);
	free(pooled->groups);
	memset(pooled, 0, sizeof(*pooled));
}
