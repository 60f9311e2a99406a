/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks as a tree, with the functions that allocate at its root and their callers below. */
#ifndef TPROF_EXPORT_CALLER_TREE_H
#define TPROF_EXPORT_CALLER_TREE_H

#include "report/rows/stack.h"

struct tpa_caller {
	const char *text;      /* lives as long as the tree */
	uint64_t bytes;	       /* with all its callers */
	uint32_t parent;       /* 0: the root, whose parent is 0, too */
	uint32_t first, count; /* its callers in `order`, most bytes first; set by tpa_caller_tree_sort() */
};

struct tpa_caller_tree {
	struct tpa_caller *list; /* [0] is the root */
	size_t count, room;
	uint32_t *order;
	struct tpa_arena *arena;
	struct tpa_pairs *known; /* by parent and text */
};

void tpa_caller_tree_init(struct tpa_caller_tree *tree);
void tpa_caller_tree_free(struct tpa_caller_tree *tree);

/* Adds bytes of a stack; text_of() prints what a line is called. */
void tpa_caller_tree_add(struct tpa_caller_tree *tree, const struct tpa_stack *stack, uint64_t bytes,
			 void (*text_of)(const struct tpa_line *line, char *text, size_t size));
void tpa_caller_tree_sort(struct tpa_caller_tree *tree);

#endif
