/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of functions that merges stacks, with the outermost functions next to the root. Each node sums what it and its callees
 * hold. Flame graphs and folded stacks are made from it.
 */
#ifndef TPROF_REPORT_ROWS_TREE_H
#define TPROF_REPORT_ROWS_TREE_H

#include "report/rows/rows.h"

struct tpa_tree_node {
	const char *function, *module;	    /* function NULL: no name */
	const char *place;		    /* "file:line" of the first line merged into this node; NULL: unknown */
	uint32_t parent;		    /* the root is its own parent */
	uint32_t first_child, next_sibling; /* 0: none. Children are sorted by bytes, largest first, then by name */
	uint64_t bytes, calls;		    /* of this node and its descendants. For CPU: nanoseconds and samples */
	uint64_t self_bytes, self_calls;
};

struct tpa_tree {
	struct tpa_tree_node *nodes; /* [0] is the root; parents come before their children */
	size_t count;
	uint32_t depth; /* of the deepest node; the root's is 0 */
	size_t room;
	struct tpa_keys keys;
	struct tpa_pairs children; /* (parent, key) to node */
	struct tpa_stack stack;	   /* the stack read last */
};

struct tpa_tree *tpa_tree_new(void);
void tpa_tree_free(struct tpa_tree *tree);

struct tpa_tree_options {
	enum tpa_what what;
	const regex_t *filter;
	struct tpa_suppressions *suppressions;
	const char *label; /* name of a node below the root that holds this process's stacks; NULL: none */
};

/* Adds the stacks of a process. Its symbols must outlive the tree. */
void tpa_tree_add(struct tpa_tree *tree, const struct tpa_process *process, struct tpa_symbols *symbols,
		  const struct tpa_tree_options *options);

/* Computes the sums, the order of children and the depth. Call it once, after all calls of tpa_tree_add(). */
void tpa_tree_finish(struct tpa_tree *tree);

#endif
