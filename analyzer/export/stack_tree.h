/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks as a tree of frames, outermost next to the root: equal stacks are one node. Memory grows with the distinct stacks. */
#ifndef TPROF_EXPORT_STACK_TREE_H
#define TPROF_EXPORT_STACK_TREE_H

#include "export/frames.h"

struct tpa_tree_frame {
	uint32_t parent, frame; /* nodes have higher numbers than their parents; the root is 0 and has no frame */
};

struct tpa_stack_tree { /* all zero at first, but the root is there after the first call */
	struct tpa_tree_frame *nodes;
	size_t count, room;
	struct tpa_pairs children; /* (parent, frame) to node */
};

void tpa_stack_tree_free(struct tpa_stack_tree *tree);

/* The node of lines [first, last) of a stack of traces[which]. */
uint32_t tpa_stack_tree_add(struct tpa_stack_tree *tree, struct tpa_frame_table *frames, size_t which,
			    const struct tpa_stack *stack, size_t first);

#endif
