/* SPDX-License-Identifier: Apache-2.0 */
/* Layers: the call tree grouped by the innermost annotation scope of the category "layer". */
#include <stdlib.h>
#include <string.h>

#include "report/rows/op_columns.h"
#include "report/text/columns.h"
#include "report/text/op_tree_listing.h"

/* Ops have no stacks, so the program must name its layers. */
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
	static const char keys[] = "*own_ns own_share total_ns calls own_allocated_bytes own_flop flop rate layer";
	struct tpa_table *table = tpa_columns_begin(page, tpa_layer_columns, keys, NULL);
	struct tpa_row_context context = { .process = process };
	struct tpa_layers layers;

	tpa_layers(&layers, process);
	context.whole = layers.all_ns;
	for (size_t i = 0; i < layers.count && (!top || i < top); i++)
		tpa_columns_add(table, page, tpa_layer_columns, keys, &layers.list[i], &context);
	tpa_table_end(table, page);
	tpa_rest_print(page, layers.count, top, "");
	if (layers.count == 1)
		print_how_to(page, process);
	free(layers.list);
}
