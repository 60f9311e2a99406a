/* SPDX-License-Identifier: Apache-2.0 */
/* Which op called which, and what each layer took: the tree of calls, in the order that it is shown in. */
#ifndef TPROF_REPORT_ROWS_CALL_TREE_H
#define TPROF_REPORT_ROWS_CALL_TREE_H

#include "model/result/result.h"

struct tpa_call_tree {
	const struct tpa_process *process;
	uint64_t *
		weight; /* of a node: its own time, or what it called took; a call that goes on has no time of its own */
	uint32_t *next, *child; /* the next of the same parent, and the first called, heaviest first; 0: none */
	bool *shown;
	size_t shown_count;
};

/* The `top` (0: all) chains of calls that took most, with all that stand above them. */
void tpa_call_tree(struct tpa_call_tree *tree, const struct tpa_process *process, uint64_t top);
void tpa_call_tree_free(struct tpa_call_tree *tree);

/* Visits what is shown, callers first. */
void tpa_call_tree_walk(const struct tpa_call_tree *tree, void (*visit)(void *context, uint32_t node, int depth),
			void *context);

static inline const char *tpa_op_node_name(const struct tpa_process *process, const struct tpa_op_node *node)
{
	bool part = node->op < process->trace->op_count && process->trace->ops[node->op].parallel == TPA_PARALLEL_PART;

	if (part) /* which the others' names put with their region */
		return process->trace->ops[node->op].name;
	return node->op ? tpa_process_op_name(process, node->op) : "(further chains of calls)";
}

struct tpa_layer {
	const char *name; /* NULL: in no layer */
	uint64_t calls, total_ns;
	uint64_t own_ns, own_flop, own_bytes; /* of the ops that no layer inside of it holds */
	uint64_t flop;
};

struct tpa_layers {
	struct tpa_layer *list; /* the first: in no layer */
	size_t count;
	uint64_t all_ns;
};

/*
 * A layer is an op of the category "layer". What an op took itself belongs to the innermost layer that it was called in;
 * what was called in none has a row of its own. The caller frees layers->list.
 */
void tpa_layers(struct tpa_layers *layers, const struct tpa_process *process);

#endif
