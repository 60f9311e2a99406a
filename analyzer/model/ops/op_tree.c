/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ops/op_tree.h"

#include <stdlib.h>
#include <string.h>

#include "trace/number_archive.h"
#include "base/memory.h"

bool tp_op_is_layer(const struct tp_trace *trace, uint32_t op)
{
	return op && op < trace->op_count && trace->ops[op].category && strcmp(trace->ops[op].category, "layer") == 0;
}

void tp_op_tree_free(struct tp_op_tree *tree)
{
	free(tree->nodes);
	tp_pairs_free(&tree->children);
}

static void begin(struct tp_op_tree *tree)
{
	tp_grow(&tree->nodes, &tree->room, TP_OP_NODE_FIRST, sizeof(*tree->nodes));
	memset(tree->nodes, 0, TP_OP_NODE_FIRST * sizeof(*tree->nodes));
	tree->count = TP_OP_NODE_FIRST;
}

uint32_t tp_op_tree_child(struct tp_op_tree *tree, uint32_t parent, uint32_t op)
{
	uint32_t number;

	if (!tree->nodes)
		begin(tree);
	number = tp_pairs_find(&tree->children, parent, op);
	if (number)
		return number;
	if (parent == TP_OP_NODE_FURTHER || tree->count >= TP_OP_NODES)
		return TP_OP_NODE_FURTHER;
	number = (uint32_t)tree->count;
	tp_grow(&tree->nodes, &tree->room, tree->count + 1, sizeof(*tree->nodes));
	tree->nodes[tree->count++] = (struct tp_op_node){ .op = op, .parent = parent };
	tp_pairs_set(&tree->children, parent, op, number);
	return number;
}

void tp_op_tree_archive(struct tp_archive *archive, struct tp_op_tree *tree)
{
	bool any = tree->nodes != NULL;

	TP_ARCHIVE(archive, any);
	if (!any)
		return;
	if (archive->loading)
		begin(tree);
	tp_archive_array(archive, &tree->nodes, &tree->count, &tree->room, sizeof(*tree->nodes));
	tp_archive_check(archive, tree->count >= TP_OP_NODE_FIRST && tree->count <= TP_OP_NODES,
			 "the number of chains of ops is out of range");
	for (size_t i = TP_OP_NODE_FIRST; i < tree->count && !archive->failed; i++) {
		tp_archive_op(archive, &tree->nodes[i].op);
		tp_archive_check(archive, tree->nodes[i].parent < i, "a chain of ops comes before its begin");
	}
	for (uint32_t i = TP_OP_NODE_FIRST; archive->loading && !archive->failed && i < tree->count; i++)
		tp_pairs_set(&tree->children, tree->nodes[i].parent, tree->nodes[i].op, i);
}
