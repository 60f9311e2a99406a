/* SPDX-License-Identifier: Apache-2.0 */
/* Layers: the tree of calls, put together by the innermost annotation scope of the category "layer". */
#include <stdlib.h>
#include <string.h>

#include "report/text/op_cells.h"
#include "report/text/op_tree_listing.h"

/* Ops have no stacks, so a layer is what the program says it is. */
static void print_how_to(const struct tpa_page *page, const struct tpa_process *process)
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

void tpa_layers_print(const struct tpa_page *page, const struct tpa_process *process, uint64_t top)
{
	struct tpa_table *table =
		tpa_table_new(">own time|>%|>total|>calls|>allocated|>own FLOP|>FLOP|>GFLOP/s|*layer");
	struct tpa_layers layers;

	tpa_layers(&layers, process);
	for (size_t i = 0; i < layers.count && (!top || i < top); i++) {
		const struct tpa_layer *layer = &layers.list[i];

		tpa_cell(table, TPA_STYLE_NUMBER, tpa_time(layer->own_ns));
		tpa_cell(table, TPA_STYLE_PLAIN, tpa_percent(layer->own_ns, layers.all_ns));
		tpa_table_add(table, TPA_STYLE_PLAIN, layer->name ? tpa_time(layer->total_ns).text : "-");
		tpa_table_add(table, TPA_STYLE_PLAIN, layer->name ? tpa_count(layer->calls).text : "-");
		tpa_cell(table, TPA_STYLE_PLAIN, tpa_bytes(layer->own_bytes, page->exact));
		tpa_cell(table, TPA_STYLE_PLAIN, tpa_flop_text(layer->own_flop));
		tpa_cell(table, TPA_STYLE_PLAIN, tpa_flop_text(layer->flop));
		tpa_cell(table, TPA_STYLE_PLAIN, tpa_rate_text(layer->own_flop, layer->own_ns));
		tpa_op_name_cell(table, page, layer->name ? layer->name : "(ops in no layer)", 0);
	}
	tpa_table_end(table, page);
	tpa_rest_print(page, layers.count, top, "");
	if (layers.count == 1)
		print_how_to(page, process);
	free(layers.list);
}
