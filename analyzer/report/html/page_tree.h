/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of stacks that a page shows: one node for each chain of lines, outermost lines next to the root. Small
 * branches can be cut off; what they had counts in the node that they grew from.
 */
#ifndef TPROF_REPORT_HTML_PAGE_TREE_H
#define TPROF_REPORT_HTML_PAGE_TREE_H

#include "report/rows/line_keys.h"

enum tpa_page_flag {
	TPA_PAGE_PLUMBING = 1, /* of the allocator or of the language's library */
	TPA_PAGE_LIBRARY = 2,  /* of the system or of an installed package; else the user's own code */
	TPA_PAGE_PYTHON = 4,
	TPA_PAGE_INLINED = 8,
	TPA_PAGE_WAITS = 16, /* spins while it waits for other threads */
};

struct tpa_page_frame {
	const char *function; /* never NULL: a name is made for frames without one */
	const char *file;     /* NULL: unknown */
	const char *module;
	int line;	/* 0: unknown */
	unsigned flags; /* enum tpa_page_flag */
};

struct tpa_page_node {
	uint32_t parent, frame; /* the root has neither */
	uint32_t kept;		/* its number in what is shown, or that of the nearest node further out that is */
	double weight;		/* with all that it called */
};

struct tpa_page_tree {
	struct tpa_page_node *nodes; /* [0] is the root; parents come before their children */
	size_t count, room;
	struct tpa_page_frame *frames;
	size_t frame_count, frame_room;
	uint32_t *shown; /* nodes by their numbers in what is shown */
	size_t shown_count;
	struct tpa_keys keys;
	struct tpa_pairs children; /* (parent, frame) to node */
	struct tpa_pairs of_key;   /* (key, 0) to frame + 1 */
	struct tpa_stack stack;	   /* the stack read last */
};

void tpa_page_tree_init(struct tpa_page_tree *tree);
void tpa_page_tree_free(struct tpa_page_tree *tree);

/*
 * The node of a stack, added if it is new. `all`: with the allocator's frames, as CPU time is shown. The symbols must
 * outlive the tree.
 */
uint32_t tpa_page_tree_add(struct tpa_page_tree *tree, const struct tpa_trace *trace, struct tpa_symbols *symbols,
			   uint32_t node, bool all);

/* The node of a name below the root, for stacks that are not shown themselves. */
uint32_t tpa_page_tree_other(struct tpa_page_tree *tree, const char *name);

/* Adds the weights of all nodes to those further out, once. */
void tpa_page_tree_sum(struct tpa_page_tree *tree);

/* Chooses the `most` heaviest nodes to be shown. May be called again with fewer. */
void tpa_page_tree_keep(struct tpa_page_tree *tree, size_t most);

#endif
