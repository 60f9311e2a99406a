/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ops/op_tree.h"

#include <stdlib.h>
#include <string.h>

#include "trace/number_archive.h"
#include "base/memory.h"

#define FIRST_BITS 7

bool tp_op_is_layer(const struct tp_trace *trace, uint32_t op)
{
	return op && op < trace->op_count && trace->ops[op].category && strcmp(trace->ops[op].category, "layer") == 0;
}

void tp_op_tree_free(struct tp_op_tree *tree)
{
	free(tree->nodes);
	free(tree->table);
}

static void begin(struct tp_op_tree *tree)
{
	tree->bits = FIRST_BITS;
	tree->table = tp_zalloc((size_t)1 << tree->bits, sizeof(*tree->table));
	tp_grow(&tree->nodes, &tree->room, TP_OP_NODE_FIRST, sizeof(*tree->nodes));
	memset(tree->nodes, 0, TP_OP_NODE_FIRST * sizeof(*tree->nodes));
	tree->count = TP_OP_NODE_FIRST;
}

static uint32_t *find(const struct tp_op_tree *tree, uint32_t parent, uint32_t op)
{
	uint64_t hash = ((uint64_t)parent << 32 | op) * UINT64_C(0x9e3779b97f4a7c15);
	size_t mask = ((size_t)1 << tree->bits) - 1, i = (size_t)((hash ^ hash >> 29) >> 7) & mask;

	while (tree->table[i] && (tree->nodes[tree->table[i]].parent != parent || tree->nodes[tree->table[i]].op != op))
		i = (i + 1) & mask;
	return &tree->table[i];
}

static void grow(struct tp_op_tree *tree)
{
	while (tree->count >= (size_t)1 << (tree->bits - 1))
		tree->bits++;
	free(tree->table);
	tree->table = tp_zalloc((size_t)1 << tree->bits, sizeof(*tree->table));
	for (uint32_t i = TP_OP_NODE_FIRST; i < tree->count; i++)
		*find(tree, tree->nodes[i].parent, tree->nodes[i].op) = i;
}

uint32_t tp_op_tree_child(struct tp_op_tree *tree, uint32_t parent, uint32_t op)
{
	uint32_t *slot;

	if (!tree->nodes)
		begin(tree);
	slot = find(tree, parent, op);
	if (*slot)
		return *slot;
	if (parent == TP_OP_NODE_FURTHER || tree->count >= TP_OP_NODES)
		return TP_OP_NODE_FURTHER;
	if (tree->count >= (size_t)1 << (tree->bits - 1)) {
		grow(tree);
		slot = find(tree, parent, op);
	}
	tp_grow(&tree->nodes, &tree->room, tree->count + 1, sizeof(*tree->nodes));
	tree->nodes[tree->count] = (struct tp_op_node){ .op = op, .parent = parent };
	*slot = (uint32_t)tree->count;
	return (uint32_t)tree->count++;
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
	if (archive->loading && !archive->failed)
		grow(tree);
}
