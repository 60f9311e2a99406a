/* SPDX-License-Identifier: Apache-2.0 */
#include "export/stack_tree.h"

#include <stdlib.h>

#include "base/memory.h"

void tpa_stack_tree_free(struct tpa_stack_tree *tree)
{
	free(tree->nodes);
	tpa_pairs_free(&tree->children);
}

uint32_t tpa_stack_tree_add(struct tpa_stack_tree *tree, struct tpa_frame_table *frames, size_t which,
			    const struct tpa_stack *stack, size_t first)
{
	uint32_t node = 0;

	if (!tree->count)
		*TPA_APPEND(tree->nodes, tree->count, tree->room) = (struct tpa_tree_frame){ 0 };
	for (size_t i = stack->last; i-- > first;) {
		uint32_t frame = tpa_frames_line(frames, which, &stack->lines[i]), *child;
		bool found;

		child = tpa_pairs_at(&tree->children, node, frame, &found);
		if (!found) {
			*child = (uint32_t)tree->count;
			*TPA_APPEND(tree->nodes, tree->count, tree->room) = (struct tpa_tree_frame){ node, frame };
		}
		node = *child;
	}
	return node;
}
