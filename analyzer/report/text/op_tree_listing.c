/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/op_tree_listing.h"

#include <stdlib.h>

#include "report/text/op_cells.h"

struct text_context {
	const struct tpa_page *page;
	const struct tpa_process *process;
	struct tpa_table *table;
};

static void add_row(void *context, uint32_t number, int depth)
{
	struct text_context *text = context;
	const struct tpa_op_node *node = &text->process->op_nodes[number];
	struct tpa_table *table = text->table;

	if (node->calls) {
		tpa_cell(table, TPA_STYLE_NUMBER, tpa_time(node->total_ns));
		tpa_cell(table, TPA_STYLE_PLAIN, tpa_time(node->self_ns));
		tpa_cell(table, TPA_STYLE_PLAIN, tpa_count(node->calls));
		tpa_cell(table, TPA_STYLE_PLAIN, tpa_time(node->total_ns / node->calls));
	} else {
		for (int i = 0; i < 4; i++)
			tpa_table_add(table, TPA_STYLE_DIM, i == 2 ? "open" : "");
	}
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_bytes(node->allocated_bytes, text->page->exact));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_bytes(node->peak_bytes, text->page->exact));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_flop_text(node->flop));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_rate_text(node->flop, node->total_ns));
	tpa_op_name_cell(table, text->page, tpa_op_node_name(text->process, node), 2 * depth);
}

void tpa_op_tree_print(const struct tpa_page *page, const struct tpa_process *process, uint64_t top)
{
	struct tpa_table *table =
		tpa_table_new(">total|>self|>calls|>mean|>allocated|>peak of a call|>FLOP|>GFLOP/s|*op");
	struct text_context context = { page, process, table };
	struct tpa_call_tree tree;
	size_t all = 0;

	tpa_call_tree(&tree, process, top);
	tpa_call_tree_walk(&tree, add_row, &context);
	tpa_table_end(table, page);
	for (size_t i = 1; i < process->op_node_count; i++)
		all += process->op_nodes[i].calls || tree.weight[i];
	tpa_rest_print(page, all, tree.shown_count, "");
	tpa_call_tree_free(&tree);
}
