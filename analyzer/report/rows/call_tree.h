/* SPDX-License-Identifier: Apache-2.0 */
/* Which op called which, and what each layer took: the tree of calls, in the order that it is shown in. */
#ifndef TPROF_REPORT_ROWS_CALL_TREE_H
#define TPROF_REPORT_ROWS_CALL_TREE_H

#include "model/result/result.h"

struct tp_call_tree {
	const struct tp_process *process;
	uint64_t *
		weight; /* of a node: its own time, or what it called took; a call that goes on has no time of its own */
	uint32_t *next, *child; /* the next of the same parent, and the first called, heaviest first; 0: none */
	bool *shown;
	size_t shown_count;
};

/* The `top` (0: all) chains of calls that took most, with all that stand above them. */
void tp_call_tree(struct tp_call_tree *tree, const struct tp_process *process, uint64_t top);
void tp_call_tree_free(struct tp_call_tree *tree);

/* Visits what is shown, callers first. */
void tp_call_tree_walk(const struct tp_call_tree *tree, void (*visit)(void *context, uint32_t node, int depth),
		       void *context);

static inline const char *tp_op_node_name(const struct tp_process *process, const struct tp_op_node *node)
{
	return node->op ? tp_process_op_name(process, node->op) : "(further chains of calls)";
}

struct tp_layer {
	const char *name; /* NULL: in no layer */
	uint64_t calls, total_ns;
	uint64_t own_ns, own_flop, own_bytes; /* of the ops that no layer inside of it holds */
	uint64_t flop;
};

struct tp_layers {
	struct tp_layer *list; /* the first: in no layer */
	size_t count;
	uint64_t all_ns;
};

/*
 * A layer is an op of the category "layer". What an op took itself belongs to the innermost layer that it was called in;
 * what was called in none has a row of its own. The caller frees layers->list.
 */
void tp_layers(struct tp_layers *layers, const struct tp_process *process);

#endif
