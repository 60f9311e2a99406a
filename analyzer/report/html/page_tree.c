/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/page_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

void tpa_page_tree_init(struct tpa_page_tree *tree)
{
	memset(tree, 0, sizeof(*tree));
	tpa_keys_init(&tree->keys);
	*TPA_APPEND(tree->nodes, tree->count, tree->room) = (struct tpa_page_node){ 0 };
}

void tpa_page_tree_free(struct tpa_page_tree *tree)
{
	tpa_keys_free(&tree->keys);
	tpa_pairs_free(&tree->children);
	tpa_pairs_free(&tree->of_key);
	tpa_stack_free(&tree->stack);
	free(tree->nodes);
	free(tree->frames);
	free(tree->shown);
}

static unsigned flags_of(const struct tpa_stack *stack, const struct tpa_line *line)
{
	const struct tpa_known *known = &line->location->known;
	bool interpreter = stack->interpreter && line->module == stack->interpreter;
	unsigned flags = 0;

	if (known->plumbing || (interpreter && !line->location->python))
		flags |= TPA_PAGE_PLUMBING;
	if (known->installed || known->system_file || (line->symbol->system && !line->location->python))
		flags |= TPA_PAGE_LIBRARY;
	if (line->location->python)
		flags |= TPA_PAGE_PYTHON;
	if (line->location->inlined)
		flags |= TPA_PAGE_INLINED;
	if (known->waits)
		flags |= TPA_PAGE_WAITS;
	return flags;
}

/* The frame with that key, which is interned. *fresh: it is new, and the caller fills it in. */
static uint32_t frame_of_key(struct tpa_page_tree *tree, const char *key, bool *fresh)
{
	bool found;
	uint32_t *at = tpa_pairs_at(&tree->of_key, (uintptr_t)key, 0, &found);

	*fresh = !found;
	if (!found) {
		*at = (uint32_t)tree->frame_count;
		*TPA_APPEND(tree->frames, tree->frame_count, tree->frame_room) = (struct tpa_page_frame){ 0 };
	}
	return *at;
}

static uint32_t frame_of_line(struct tpa_page_tree *tree, const struct tpa_line *line)
{
	bool fresh;
	uint32_t frame = frame_of_key(tree, tpa_keys_get(&tree->keys, line, TPA_KEY_LINE), &fresh);
	char name[400];

	if (fresh)
		tree->frames[frame] = (struct tpa_page_frame){
			.function = tpa_arena_intern(tree->keys.arena, tpa_line_name(line, name, sizeof(name))),
			.file = line->location->file,
			.module = line->symbol->module,
			.line = line->location->line,
			.flags = flags_of(&tree->stack, line),
		};
	return frame;
}

static uint32_t frame_of_name(struct tpa_page_tree *tree, const char *name)
{
	bool fresh;
	const char *key = tpa_arena_intern(tree->keys.arena, name);
	uint32_t frame = frame_of_key(tree, key, &fresh);

	if (fresh)
		tree->frames[frame] =
			(struct tpa_page_frame){ .function = key, .module = "", .flags = TPA_PAGE_LIBRARY };
	return frame;
}

static uint32_t child_of(struct tpa_page_tree *tree, uint32_t parent, uint32_t frame)
{
	bool found;
	uint32_t *at = tpa_pairs_at(&tree->children, parent, frame, &found);

	if (!found) {
		*at = (uint32_t)tree->count;
		*TPA_APPEND(tree->nodes, tree->count, tree->room) =
			(struct tpa_page_node){ .parent = parent, .frame = frame };
	}
	return *at;
}

uint32_t tpa_page_tree_add(struct tpa_page_tree *tree, const struct tpa_trace *trace, struct tpa_symbols *symbols,
			   uint32_t node, bool all)
{
	struct tpa_stack *stack = &tree->stack;
	uint32_t at = 0;
	size_t first;

	tpa_stack_read(stack, trace, symbols, node);
	first = all ? 0 : stack->first;
	if (first == stack->last)
		at = child_of(tree, at, frame_of_name(tree, "(stack not recorded)"));
	else if (stack->end == TPROF_NODE_CUT)
		at = child_of(tree, at, frame_of_name(tree, "(outer frames cut)"));
	for (size_t i = stack->last; i-- > first;)
		at = child_of(tree, at, frame_of_line(tree, &stack->lines[i]));
	return at;
}

uint32_t tpa_page_tree_other(struct tpa_page_tree *tree, const char *name)
{
	return child_of(tree, 0, frame_of_name(tree, name));
}

void tpa_page_tree_sum(struct tpa_page_tree *tree)
{
	for (size_t i = tree->count; i-- > 1;)
		tree->nodes[tree->nodes[i].parent].weight += tree->nodes[i].weight;
}

static int heaviest_first(const void *left, const void *right, void *context)
{
	const struct tpa_page_node *nodes = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	/* With equal weights the outer one, whose number is lower: so no node is chosen without its parent. */
	return TPA_DOWN(nodes[a].weight, nodes[b].weight) ?: TPA_UP(a, b);
}

static int by_number(const void *left, const void *right)
{
	return TPA_UP(*(const uint32_t *)left, *(const uint32_t *)right);
}

void tpa_page_tree_keep(struct tpa_page_tree *tree, size_t most)
{
	uint32_t *order = tpa_zalloc(tree->count, sizeof(*order));
	size_t shown = 1;

	for (size_t i = 1; i < tree->count; i++)
		if (tree->nodes[i].weight > 0)
			order[shown++] = (uint32_t)i;
	qsort_r(order + 1, shown - 1, sizeof(*order), heaviest_first, tree->nodes);
	shown = shown < most ? shown : most;
	qsort(order, shown, sizeof(*order), by_number);
	for (size_t i = 0, next = 0; i < tree->count; i++) {
		if (next < shown && order[next] == i)
			tree->nodes[i].kept = (uint32_t)next++;
		else
			tree->nodes[i].kept = tree->nodes[tree->nodes[i].parent].kept;
	}
	free(tree->shown);
	tree->shown = order;
	tree->shown_count = shown;
}
