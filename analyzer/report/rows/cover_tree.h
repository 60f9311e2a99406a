/* SPDX-License-Identifier: Apache-2.0 */
/* The tree from which a cover is chosen; see report/rows/cover.h. Private to the cover. */
#ifndef TPROF_REPORT_ROWS_COVER_TREE_H
#define TPROF_REPORT_ROWS_COVER_TREE_H

#include "report/rows/cover.h"
#include "report/rows/line_keys.h"

/*
 * A function; a line of a function, which is below it; or a group, which is neither. Parents come before their
 * children; [0] is the root.
 */
struct tpa_cover_node {
	uint32_t parent;
	enum tpa_about about;
	const char *key;      /* equal for the same line, function or group anywhere in the tree; NULL: never a row */
	struct tpa_line line; /* location NULL: a group */
	const char *group;
	bool function;
	size_t process;
	uint64_t amount, blocks; /* of the leaves at this very node */
};

/* A stack and op. */
struct tpa_cover_leaf {
	uint32_t node;
	const char *part; /* what allocated (or ran) it below the user's own line; NULL: that line itself */
	uint64_t amount, blocks;
};

struct tpa_cover_impl {
	struct tpa_keys keys;
	struct tpa_pairs children; /* (parent, key) to node */
	struct tpa_cover_node *nodes;
	size_t node_count, node_room;
	struct tpa_cover_leaf *leaves;
	size_t leaf_count, leaf_room;
	struct tpa_pairs parts; /* location to index in part_names */
	const char **part_names;
	size_t part_count, part_room;
	struct tpa_stack stack;
};

void tpa_cover_tree_init(struct tpa_cover_impl *tree);
void tpa_cover_tree_free(struct tpa_cover_impl *tree);

/* The name of a line as a part of a row: "Adam.step (adam.py:410)". Lives as long as the tree. */
const char *tpa_cover_part_name(struct tpa_cover_impl *tree, const struct tpa_line *line);

#endif
