/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/op_tree_listing.h"

#include <stdlib.h>

#include "report/text/op_cells.h"

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
	tp_op_name_cell(table, text->page, tp_op_node_name(text->process, node), 2 * depth);
}

void tp_op_tree_print(const struct tp_page *page, const struct tp_process *process, uint64_t top)
{
	struct tp_table *table =
		tp_table_new(">total|>self|>calls|>mean|>allocated|>peak of a call|>FLOP|>GFLOP/s|*op");
	struct text_context context = { page, process, table };
	struct tp_call_tree tree;
	size_t all = 0;

	tp_call_tree(&tree, process, top);
	tp_call_tree_walk(&tree, add_row, &context);
	tp_table_print(table, page, 2);
	for (size_t i = 1; i < process->op_node_count; i++)
		all += process->op_nodes[i].calls || tree.weight[i];
	if (all > tree.shown_count)
		tp_print(page, TP_STYLE_DIM, "      and %s more (--top 0 shows all)\n",
			 tp_count(all - tree.shown_count).text);
	tp_table_free(table);
	tp_call_tree_free(&tree);
}

/* ---- JSON ---- */
