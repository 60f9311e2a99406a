/* SPDX-License-Identifier: Apache-2.0 */
/* Layers: the tree of calls, put together by the innermost annotation scope of the category "layer". */
#include <stdlib.h>
#include <string.h>

#include "model/ops/op_tree.h"
#include "report/json/json.h"
#include "report/text/op_cells.h"
#include "report/text/op_tree_listing.h"

struct layer {
	const char *name; /* NULL: in no layer */
	uint64_t calls, total_ns;
	uint64_t own_ns, own_flop, own_bytes; /* of the ops that no layer inside of it holds */
	uint64_t flop;
};

struct layers {
	struct layer *list; /* the first: in no layer */
	size_t count;
	uint64_t all_ns;
};

/* Index of an op's layer in the list; a new one at its end. */
static uint32_t layer_at(struct layers *layers, const struct tp_process *process, uint32_t *of_op, uint32_t op)
{
	struct layer *layer;

	if (of_op[op])
		return of_op[op];
	of_op[op] = (uint32_t)layers->count;
	layer = &layers->list[layers->count++];
	layer->name = tp_process_op_name(process, op);
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
	const struct layer *a = left, *b = right;

	if (a->own_ns != b->own_ns)
		return a->own_ns > b->own_ns ? -1 : 1;
	return !a->name || !b->name ? (a->name != NULL) - (b->name != NULL) : strcmp(a->name, b->name);
}

static bool collect(struct layers *layers, const struct tp_process *process)
{
	uint32_t *of_node = calloc(process->op_node_count + 1, sizeof(*of_node));
	uint32_t *of_op = calloc(process->trace->op_count + 1, sizeof(*of_op));

	*layers = (struct layers){ .list = calloc(process->op_count + 2, sizeof(*layers->list)), .count = 1 };
	for (size_t i = 1; of_node && of_op && layers->list && i < process->op_node_count; i++) {
		const struct tp_op_node *node = &process->op_nodes[i];
		struct layer *layer;

		of_node[i] = tp_op_is_layer(process->trace, node->op) ? layer_at(layers, process, of_op, node->op)
								      : of_node[node->parent];
		layer = &layers->list[of_node[i]];
		layer->own_ns += node->self_ns;
		layer->own_flop += node->self_flop;
		layer->own_bytes += node->self_allocated_bytes;
		layers->all_ns += node->self_ns;
	}
	free(of_node);
	free(of_op);
	if (layers->list)
		qsort(layers->list, layers->count, sizeof(*layers->list), by_own);
	return of_node && of_op && layers->list;
}

/* Ops have no stacks, so a layer is what the program says it is. */
static void print_how_to(const struct tp_page *page, const struct tp_process *process)
{
	fputs("\n  No layer is in the trace: a program names them.\n", page->out);
	if (process->trace->header->python)
		fprintf(page->out,
			"  In Python, tprof.watch(model) makes one of each module of a torch model:\n"
			"      import tprof            # PYTHONPATH=$(tprof --python)\n"
			"      tprof.watch(model)      # before the first step\n"
			"  Without a change: what each class's forward() allocated, and its CPU time, with all that it "
			"called:\n"
			"      tprof-analyze hotspots --by function --language python --filter '\\.forward' %s\n",
			process->trace->file);
	else
		fputs("  With tprof.h: tprof_op_begin(NAME, \"layer\") and tprof_op_end() around the code of each.\n",
		      page->out);
}

bool tp_layers_print(const struct tp_page *page, const struct tp_process *process, uint64_t top)
{
	struct tp_table *table = tp_table_new(">own time|>%|>total|>calls|>allocated|>own FLOP|>FLOP|>GFLOP/s|*layer");
	struct layers layers;
	bool good = collect(&layers, process) && table;

	for (size_t i = 0; good && i < layers.count && (!top || i < top); i++) {
		const struct layer *layer = &layers.list[i];

		tp_cell(table, TP_STYLE_NUMBER, tp_time(layer->own_ns));
		tp_cell(table, TP_STYLE_PLAIN, tp_percent(layer->own_ns, layers.all_ns));
		tp_table_add(table, TP_STYLE_PLAIN, layer->name ? tp_time(layer->total_ns).text : "-");
		tp_table_add(table, TP_STYLE_PLAIN, layer->name ? tp_count(layer->calls).text : "-");
		tp_cell(table, TP_STYLE_PLAIN, tp_bytes(layer->own_bytes, page->exact));
		tp_cell(table, TP_STYLE_PLAIN, tp_flop_text(layer->own_flop));
		tp_cell(table, TP_STYLE_PLAIN, tp_flop_text(layer->flop));
		tp_cell(table, TP_STYLE_PLAIN, tp_rate_text(layer->own_flop, layer->own_ns));
		tp_op_name_cell(table, page, layer->name ? layer->name : "(ops in no layer)", 0);
	}
	if (good)
		tp_table_print(table, page, 2);
	if (good && top && top < layers.count)
		tp_print(page, TP_STYLE_DIM, "      and %s more (--top 0 shows all)\n",
			 tp_count(layers.count - top).text);
	if (good && layers.count == 1)
		print_how_to(page, process);
	tp_table_free(table);
	free(layers.list);
	return good;
}

json_t *tp_layers_json(const struct tp_process *process, uint64_t top)
{
	struct layers layers;
	json_t *list = collect(&layers, process) ? json_array() : NULL;

	for (size_t i = 0; list && i < layers.count && (!top || i < top); i++) {
		const struct layer *layer = &layers.list[i];
		const struct tp_json_field fields[] = {
			{ "calls", layer->calls },	 { "total_ns", layer->total_ns },
			{ "own_ns", layer->own_ns },	 { "own_allocated_bytes", layer->own_bytes },
			{ "own_flop", layer->own_flop }, { "flop", layer->flop },
		};
		json_t *json = json_object();

		json_object_set_new(json, "layer", tp_json_string(layer->name));
		TP_JSON_FIELDS(json, fields);
		json_array_append_new(list, json);
	}
	free(layers.list);
	return list;
}
