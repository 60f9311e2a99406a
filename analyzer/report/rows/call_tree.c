/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "model/ops/op_tree.h"

void tpa_call_tree_free(struct tpa_call_tree *tree)
{
	free(tree->weight);
	free(tree->next);
	free(tree->child);
	free(tree->shown);
}

/* Links a node into its parent's list, after the siblings that weigh more. */
static void hang(struct tpa_call_tree *tree, uint32_t node, uint32_t parent)
{
	uint32_t *link = &tree->child[parent];

	while (*link && tree->weight[*link] > tree->weight[node])
		link = &tree->next[*link];
	tree->next[node] = *link;
	*link = node;
}

static int by_weight(const void *left, const void *right, void *context)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const uint64_t *weight = context;

	return TPA_DOWN(weight[a], weight[b]) ?: TPA_UP(a, b);
}

static void show(struct tpa_call_tree *tree, uint32_t node)
{
	for (; node && !tree->shown[node]; node = tree->process->op_nodes[node].parent) {
		tree->shown[node] = true;
		tree->shown_count++;
	}
}

/* Marks what is shown. The lightest nodes are linked first, so that each one goes to the front of its list at once. */
static void choose(struct tpa_call_tree *tree, uint64_t top)
{
	size_t count = tree->process->op_node_count;
	uint32_t *order = tpa_zalloc(count + 1, sizeof(*order)), used = 0;

	for (uint32_t i = 1; i < count; i++)
		if (tree->weight[i] || tree->process->op_nodes[i].calls)
			order[used++] = i;
	if (used)
		qsort_r(order, used, sizeof(*order), by_weight, tree->weight);
	for (uint32_t i = 0; i < used && (!top || i < top); i++)
		show(tree, order[i]);
	for (uint32_t i = used; i-- > 0;)
		if (tree->shown[order[i]])
			hang(tree, order[i], tree->process->op_nodes[order[i]].parent);
	free(order);
}

void tpa_call_tree(struct tpa_call_tree *tree, const struct tpa_process *process, uint64_t top)
{
	size_t count = process->op_node_count;

	*tree = (struct tpa_call_tree){ .process = process };
	tree->weight = tpa_zalloc(count + 1, sizeof(*tree->weight));
	tree->next = tpa_zalloc(count + 1, sizeof(*tree->next));
	tree->child = tpa_zalloc(count + 1, sizeof(*tree->child));
	tree->shown = tpa_zalloc(count + 1, sizeof(*tree->shown));
	for (size_t i = count; i-- > 1;) {
		const struct tpa_op_node *node = &process->op_nodes[i];

		tree->weight[i] = node->total_ns > tree->weight[i] ? node->total_ns : tree->weight[i];
		tree->weight[node->parent] += tree->weight[i];
	}
	if (count)
		choose(tree, top);
}

void tpa_call_tree_walk(const struct tpa_call_tree *tree, void (*visit)(void *context, uint32_t node, int depth),
			void *context)
{
	const struct tpa_op_node *nodes = tree->process->op_nodes;
	uint32_t node = tree->process->op_node_count ? tree->child[0] : 0;
	int depth = 0;

	while (node) {
		visit(context, node, depth);
		if (tree->child[node]) {
			node = tree->child[node];
			depth++;
			continue;
		}
		for (; node && !tree->next[node]; depth--)
			node = nodes[node].parent;
		node = tree->next[node];
	}
}

/* ---- layers ---- */

/* Returns the index of an op's layer in the list; appends a layer that is new. */
static uint32_t layer_at(struct tpa_layers *layers, const struct tpa_process *process, uint32_t *of_op, uint32_t op)
{
	struct tpa_layer *layer;

	if (of_op[op])
		return of_op[op];
	of_op[op] = (uint32_t)layers->count;
	layer = &layers->list[layers->count++];
	layer->name = tpa_process_op_name(process, op);
	for (size_t i = 0; i < process->op_count; i++)
		if (process->ops[i].op == op) {
			layer->calls = process->ops[i].calls;
			layer->total_ns = process->ops[i].total_ns;
			layer->flop = process->ops[i].flop;
		}
	return of_op[op];
}

static int by_own(const void *left, const void *right)
{
	const struct tpa_layer *a = left, *b = right;

	return TPA_DOWN(a->own_ns, b->own_ns) ?: strcmp(a->name ?: "", b->name ?: "");
}

void tpa_layers(struct tpa_layers *layers, const struct tpa_process *process)
{
	uint32_t *of_node = tpa_zalloc(process->op_node_count + 1, sizeof(*of_node));
	uint32_t *of_op = tpa_zalloc(process->trace->op_count + 1, sizeof(*of_op));

	*layers = (struct tpa_layers){ .list = tpa_zalloc(process->op_count + 2, sizeof(*layers->list)), .count = 1 };
	for (size_t i = 1; i < process->op_node_count; i++) {
		const struct tpa_op_node *node = &process->op_nodes[i];
		struct tpa_layer *layer;

		of_node[i] = tpa_op_is_layer(process->trace, node->op) ? layer_at(layers, process, of_op, node->op)
								       : of_node[node->parent];
		layer = &layers->list[of_node[i]];
		layer->own_ns += node->self_ns;
		layer->own_flop += node->self_flop;
		layer->own_bytes += node->self_allocated_bytes;
		layers->all_ns += node->self_ns;
	}
	free(of_node);
	free(of_op);
	qsort(layers->list, layers->count, sizeof(*layers->list), by_own);
}
