/* SPDX-License-Identifier: Apache-2.0 */
/* The call tree of ops (which op called which), in the order in which it is shown, and the time of each layer. */
#ifndef TPROF_REPORT_ROWS_CALL_TREE_H
#define TPROF_REPORT_ROWS_CALL_TREE_H

#include "model/result/result.h"

struct tpa_call_tree {
	const struct tpa_process *process;
	uint64_t *weight; /* ns, by node: the larger of total_ns, which lacks open calls, and the sum of its children */
	uint32_t *next, *child; /* by node: next sibling and first child, heaviest first; 0: none */
	bool *shown;
	size_t shown_count;
};

/*
 * Builds the tree: the `top` heaviest chains of calls (0: all) with all their callers. The process must outlive the
 * tree; free the tree with tpa_call_tree_free().
 */
void tpa_call_tree(struct tpa_call_tree *tree, const struct tpa_process *process, uint64_t top);
void tpa_call_tree_free(struct tpa_call_tree *tree);

/* Visits the nodes that are shown, callers before what they call. `depth`: 0 for an outermost op. */
void tpa_call_tree_walk(const struct tpa_call_tree *tree, void (*visit)(void *context, uint32_t node, int depth),
			void *context);

static inline const char *tpa_op_node_name(const struct tpa_process *process, const struct tpa_op_node *node)
{
	bool part = node->op < process->trace->op_count && process->trace->ops[node->op].parallel == TPA_PARALLEL_PART;

	if (part) /* tpa_process_op_name() would return the name of its region */
		return process->trace->ops[node->op].name;
	return node->op ? tpa_process_op_name(process, node->op) : "(further chains of calls)";
}

struct tpa_layer {
	const char *name; /* NULL: the ops that no layer called */
	uint64_t calls, total_ns;
	uint64_t own_ns, own_flop, own_bytes; /* self values of the ops whose innermost layer this is */
	uint64_t flop;
};

struct tpa_layers {
	struct tpa_layer *list; /* by own_ns, largest first */
	size_t count;
	uint64_t all_ns;
};

/*
 * A layer is an op of the category "layer". The self time of an op belongs to the innermost layer that it was called
 * in; ops called in no layer have an entry of their own. The caller frees layers->list; its names live as long as the
 * trace.
 */
void tpa_layers(struct tpa_layers *layers, const struct tpa_process *process);

#endif
