/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/op_tree_listing.h"

#include <stdlib.h>

#include "report/json/json.h"
#include "report/text/op_cells.h"

struct tree {
	const struct tp_process *process;
	uint64_t *
		weight; /* of a node: its own time, or what it called took; a call that goes on has no time of its own */
	uint32_t *next, *child; /* the next of the same parent, and the first called, heaviest first; 0: none */
	bool *shown;
	size_t shown_count;
};

static void tree_free(struct tree *tree)
{
	free(tree->weight);
	free(tree->next);
	free(tree->child);
	free(tree->shown);
}

/* In the list of its parent, behind those that weigh more. */
static void hang(struct tree *tree, uint32_t node, uint32_t parent)
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

	if (weight[a] != weight[b])
		return weight[a] > weight[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void show(struct tree *tree, uint32_t node)
{
	for (; node && !tree->shown[node]; node = tree->process->op_nodes[node].parent) {
		tree->shown[node] = true;
		tree->shown_count++;
	}
}

/* Of siblings the heaviest go first when all are put in by weight: then a list only ever grows at its end. */
static bool choose(struct tree *tree, uint64_t top)
{
	size_t count = tree->process->op_node_count;
	uint32_t *order = calloc(count + 1, sizeof(*order)), used = 0;

	if (!order)
		return false;
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
	return true;
}

static bool tree_make(struct tree *tree, const struct tp_process *process, uint64_t top)
{
	size_t count = process->op_node_count;

	*tree = (struct tree){ .process = process };
	tree->weight = calloc(count + 1, sizeof(*tree->weight));
	tree->next = calloc(count + 1, sizeof(*tree->next));
	tree->child = calloc(count + 1, sizeof(*tree->child));
	tree->shown = calloc(count + 1, sizeof(*tree->shown));
	if (!tree->weight || !tree->next || !tree->child || !tree->shown)
		return false;
	for (size_t i = count; i-- > 1;) {
		const struct tp_op_node *node = &process->op_nodes[i];

		tree->weight[i] = node->total_ns > tree->weight[i] ? node->total_ns : tree->weight[i];
		tree->weight[node->parent] += tree->weight[i];
	}
	return count == 0 || choose(tree, top);
}

static const char *name_of(const struct tp_process *process, const struct tp_op_node *node)
{
	return node->op ? tp_process_op_name(process, node->op) : "(further chains of calls)";
}

static const char *category_of(const struct tp_process *process, uint32_t op)
{
	const struct tp_trace *trace = process->trace;

	return op < trace->op_count && trace->ops[op].category ? trace->ops[op].category : "";
}

/* Visits what is shown, callers first. */
static void walk(const struct tree *tree, void (*visit)(void *context, uint32_t node, int depth), void *context)
{
	const struct tp_op_node *nodes = tree->process->op_nodes;
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

/* ---- text ---- */

struct text_context {
	const struct tp_page *page;
	const struct tp_process *process;
	struct tp_table *table;
};

static void add_row(void *context, uint32_t number, int depth)
{
	struct text_context *text = context;
	const struct tp_op_node *node = &text->process->op_nodes[number];
	struct tp_table *table = text->table;

	if (node->calls) {
		tp_cell(table, TP_STYLE_NUMBER, tp_time(node->total_ns));
		tp_cell(table, TP_STYLE_PLAIN, tp_time(node->self_ns));
		tp_cell(table, TP_STYLE_PLAIN, tp_count(node->calls));
		tp_cell(table, TP_STYLE_PLAIN, tp_time(node->total_ns / node->calls));
	} else {
		for (int i = 0; i < 4; i++)
			tp_table_add(table, TP_STYLE_DIM, i == 2 ? "open" : "");
	}
	tp_cell(table, TP_STYLE_PLAIN, tp_bytes(node->allocated_bytes, text->page->exact));
	tp_cell(table, TP_STYLE_PLAIN, tp_bytes(node->peak_bytes, text->page->exact));
	tp_cell(table, TP_STYLE_PLAIN, tp_flop_text(node->flop));
	tp_cell(table, TP_STYLE_PLAIN, tp_rate_text(node->flop, node->total_ns));
	tp_op_name_cell(table, text->page, name_of(text->process, node), 2 * depth);
}

bool tp_op_tree_print(const struct tp_page *page, const struct tp_process *process, uint64_t top)
{
	struct text_context context = { page, process, NULL };
	struct tree tree;
	bool good = tree_make(&tree, process, top);
	size_t all = 0;

	context.table =
		good ? tp_table_new(">total|>self|>calls|>mean|>allocated|>peak of a call|>FLOP|>GFLOP/s|*op") : NULL;
	if (context.table) {
		walk(&tree, add_row, &context);
		tp_table_print(context.table, page, 2);
		for (size_t i = 1; i < process->op_node_count; i++)
			all += process->op_nodes[i].calls || tree.weight[i];
		if (all > tree.shown_count)
			tp_print(page, TP_STYLE_DIM, "      and %s more (--top 0 shows all)\n",
				 tp_count(all - tree.shown_count).text);
	}
	good = context.table != NULL;
	tp_table_free(context.table);
	tree_free(&tree);
	return good;
}

/* ---- JSON ---- */

struct json_context {
	const struct tp_process *process;
	json_t *list;
};

static void add_json(void *context, uint32_t number, int depth)
{
	struct json_context *to = context;
	const struct tp_op_node *node = &to->process->op_nodes[number];
	const struct tp_json_field fields[] = {
		{ "id", number },
		{ "depth", (uint64_t)depth },
		{ "calls", node->calls },
		{ "total_ns", node->total_ns },
		{ "self_ns", node->self_ns },
		{ "flop", node->flop },
		{ "self_flop", node->self_flop },
		{ "allocated_bytes", node->allocated_bytes },
		{ "self_allocated_bytes", node->self_allocated_bytes },
		{ "peak_bytes", node->peak_bytes },
	};
	json_t *json = json_object();

	TP_JSON_FIELDS(json, fields);
	json_object_set_new(json, "parent", node->parent ? tp_json_number(node->parent) : json_null());
	json_object_set_new(json, "net_bytes", json_integer(node->net_bytes));
	json_object_set_new(json, "name", tp_json_string(name_of(to->process, node)));
	json_object_set_new(json, "category", tp_json_string(category_of(to->process, node->op)));
	json_array_append_new(to->list, json);
}

json_t *tp_op_tree_json(const struct tp_process *process, uint64_t top)
{
	struct json_context context = { process, NULL };
	struct tree tree;

	if (tree_make(&tree, process, top)) {
		context.list = json_array();
		walk(&tree, add_json, &context);
	}
	tree_free(&tree);
	return context.list;
}
