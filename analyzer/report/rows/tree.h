/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks as one tree of functions, outermost at the root, each node with the numbers of everything above it: what flame
 * graphs and folded stacks are made of.
 */
#ifndef TPROF_REPORT_ROWS_TREE_H
#define TPROF_REPORT_ROWS_TREE_H

#include "report/rows/rows.h"

struct tpa_tree_node {
	const char *function, *module;	    /* function NULL: no name */
	const char *place;		    /* "file:line" of the first line seen here; NULL if unknown */
	uint32_t parent;		    /* the root's is itself */
	uint32_t first_child, next_sibling; /* 0: none. Children in order of bytes, then names */
	uint64_t bytes, calls;		    /* of this node and all above it; of CPU samples nanoseconds and samples */
	uint64_t self_bytes, self_calls;
};

struct tpa_tree {
	struct tpa_tree_node *nodes; /* [0] is the root; parents come before their children */
	size_t count;
	uint32_t depth; /* of the deepest node; the root's is 0 */
	size_t room;
	struct tpa_keys keys;
	struct tpa_pairs children; /* (parent, key) to node */
	struct tpa_stack stack;	   /* the latest that was read */
};

struct tpa_tree *tpa_tree_new(void);
void tpa_tree_free(struct tpa_tree *tree);

struct tpa_tree_options {
	enum tpa_what what;
	const regex_t *filter;
	struct tpa_suppressions *suppressions;
	const char *label; /* NULL, or a first level of its own for this process */
};

/* Adds the stacks of a process, whose symbols must outlive the tree. */
void tpa_tree_add(struct tpa_tree *tree, const struct tpa_process *process, struct tpa_symbols *symbols,
		  const struct tpa_tree_options *options);

/* To be called once, when everything is added: sums, order, depth. */
void tpa_tree_finish(struct tpa_tree *tree);

#endif
