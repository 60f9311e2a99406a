/* SPDX-License-Identifier: Apache-2.0 */
/* Layers: the tree of calls, put together by the innermost annotation scope of the category "layer". */
#include <stdlib.h>
#include <string.h>

#include "report/text/op_cells.h"
#include "report/text/op_tree_listing.h"

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

void tp_layers_print(const struct tp_page *page, const struct tp_process *process, uint64_t top)
{
	struct tp_table *table = tp_table_new(">own time|>%|>total|>calls|>allocated|>own FLOP|>FLOP|>GFLOP/s|*layer");
	struct tp_layers layers;

	tp_layers(&layers, process);
	for (size_t i = 0; i < layers.count && (!top || i < top); i++) {
		const struct tp_layer *layer = &layers.list[i];

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
	tp_table_print(table, page, 2);
	if (top && top < layers.count)
		tp_print(page, TP_STYLE_DIM, "      and %s more (--top 0 shows all)\n",
			 tp_count(layers.count - top).text);
	if (layers.count == 1)
		print_how_to(page, process);
	tp_table_free(table);
	free(layers.list);
}
