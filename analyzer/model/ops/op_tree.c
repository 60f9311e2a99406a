/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ops/op_tree.h"

#include <stdlib.h>
#include <string.h>

#include "trace/number_archive.h"
#include "base/memory.h"

bool tpa_op_is_layer(const struct tpa_trace *trace, uint32_t op)
{
	return op && op < trace->op_count && trace->ops[op].category && strcmp(trace->ops[op].category, "layer") == 0;
}

void tpa_op_tree_free(struct tpa_op_tree *tree)
{
	free(tree->nodes);
	tpa_pairs_free(&tree->children);
}

static void begin(struct tpa_op_tree *tree)
{
	tpa_grow(&tree->nodes, &tree->room, TPA_OP_NODE_FIRST, sizeof(*tree->nodes));
	memset(tree->nodes, 0, TPA_OP_NODE_FIRST * sizeof(*tree->nodes));
	tree->count = TPA_OP_NODE_FIRST;
}

uint32_t tpa_op_tree_child(struct tpa_op_tree *tree, uint32_t parent, uint32_t op)
{
	uint32_t number;

	if (!tree->nodes)
		begin(tree);
	number = tpa_pairs_find(&tree->children, parent, op);
	if (number)
		return number;
	if (parent == TPA_OP_NODE_FURTHER || tree->count >= TPA_OP_NODES)
		return TPA_OP_NODE_FURTHER;
	number = (uint32_t)tree->count;
	*TPA_APPEND(tree->nodes, tree->count, tree->room) = (struct tpa_op_node){ .op = op, .parent = parent };
	tpa_pairs_set(&tree->children, parent, op, number);
	return number;
}

void tpa_op_tree_archive(struct tpa_archive *archive, struct tpa_op_tree *tree)
{
	bool any = tree->nodes != NULL;

	TPA_ARCHIVE(archive, any);
	if (!any)
		return;
	if (archive->loading)
		begin(tree);
	tpa_archive_array(archive, &tree->nodes, &tree->count, &tree->room, sizeof(*tree->nodes));
	tpa_archive_check(archive, tree->count >= TPA_OP_NODE_FIRST && tree->count <= TPA_OP_NODES,
			  "the number of chains of ops is out of range");
	for (size_t i = TPA_OP_NODE_FIRST; i < tree->count && !archive->failed; i++) {
		tpa_archive_op(archive, &tree->nodes[i].op);
		tpa_archive_check(archive, tree->nodes[i].parent < i, "a chain of ops comes before its begin");
	}
	for (uint32_t i = TPA_OP_NODE_FIRST; archive->loading && !archive->failed && i < tree->count; i++)
		tpa_pairs_set(&tree->children, tree->nodes[i].parent, tree->nodes[i].op, i);
}
