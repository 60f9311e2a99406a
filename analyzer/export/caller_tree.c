/* SPDX-License-Identifier: Apache-2.0 */
#include "export/caller_tree.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/pairs.h"

#define TEXT_MOST 1200u

void tpa_caller_tree_init(struct tpa_caller_tree *tree)
{
	*tree = (struct tpa_caller_tree){ .arena = tpa_arena_new(), .known = tpa_zalloc(1, sizeof(*tree->known)) };
	*TPA_APPEND(tree->list, tree->count, tree->room) = (struct tpa_caller){ .text = "" };
}

void tpa_caller_tree_free(struct tpa_caller_tree *tree)
{
	free(tree->list);
	free(tree->order);
	tpa_pairs_free(tree->known);
	free(tree->known);
	tpa_arena_free(tree->arena);
}

void tpa_caller_tree_add(struct tpa_caller_tree *tree, const struct tpa_stack *stack, uint64_t bytes,
			 void (*text_of)(const struct tpa_line *line, char *text, size_t size))
{
	uint32_t at = 0;

	tree->list[0].bytes += bytes;
	for (size_t i = stack->first; i < stack->last; i++) {
		char buffer[TEXT_MOST];
		const char *text;
		uint32_t *number;
		bool found;

		text_of(&stack->lines[i], buffer, sizeof(buffer));
		text = tpa_arena_intern(tree->arena, buffer);
		number = tpa_pairs_at(tree->known, at, (uintptr_t)text, &found);
		if (!found) {
			*number = (uint32_t)tree->count;
			*TPA_APPEND(tree->list, tree->count, tree->room) =
				(struct tpa_caller){ .text = text, .parent = at };
		}
		at = *number;
		tree->list[at].bytes += bytes;
	}
}

static int by_parent(const void *a, const void *b, void *context)
{
	const struct tpa_caller *list = context, *x = &list[*(const uint32_t *)a], *y = &list[*(const uint32_t *)b];

	return TPA_UP(x->parent, y->parent) ?: TPA_UP(y->bytes, x->bytes) ?: TPA_UP(x - list, y - list);
}

void tpa_caller_tree_sort(struct tpa_caller_tree *tree)
{
	size_t count = tree->count - 1;

	tree->order = tpa_zalloc(count, sizeof(*tree->order));
	for (size_t i = 0; i < count; i++)
		tree->order[i] = (uint32_t)i + 1;
	qsort_r(tree->order, count, sizeof(*tree->order), by_parent, tree->list);
	for (size_t i = 0; i < count; i++) {
		struct tpa_caller *parent = &tree->list[tree->list[tree->order[i]].parent];

		if (!parent->count++)
			parent->first = (uint32_t)i;
	}
}
