/* SPDX-License-Identifier: Apache-2.0 */
/* The tree that a cover is chosen from; see report/rows/cover.h. Private to the cover. */
#ifndef TPROF_REPORT_ROWS_COVER_TREE_H
#define TPROF_REPORT_ROWS_COVER_TREE_H

#include "report/rows/cover.h"
#include "report/rows/line_keys.h"

/* A function, a line of one below it, or a group without either. Parents come before their children; [0] is the root. */
struct tpa_cover_node {
	uint32_t parent;
	enum tpa_about about;
	const char *key;      /* the same in every place of the tree where it stands; NULL: no row is made of it */
	struct tpa_line line; /* location NULL: a group */
	const char *group;
	bool function;
	size_t process;
	uint64_t amount, blocks; /* of the leaves here */
};

/* A stack. */
struct tpa_cover_leaf {
	uint32_t node;
	const char *part; /* what it was allocated (run) by below the user's own lines; NULL: by them */
	uint64_t amount, blocks;
};

struct tpa_cover_impl {
	struct tpa_keys keys;
	struct tpa_pairs children; /* (parent, key) to node */
	struct tpa_cover_node *nodes;
	size_t node_count, node_room;
	struct tpa_cover_leaf *leaves;
	size_t leaf_count, leaf_room;
	struct tpa_stack stack;
};

void tpa_cover_tree_init(struct tpa_cover_impl *tree);
void tpa_cover_tree_free(struct tpa_cover_impl *tree);

/* "Adam.step (adam.py:410)": a line as the part of a row. Lives as long as the tree. */
const char *tpa_cover_part_name(struct tpa_cover_impl *tree, const struct tpa_line *line);

#endif
