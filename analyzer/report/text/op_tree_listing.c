/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/op_tree_listing.h"

#include "report/rows/call_tree.h"
#include "report/rows/op_columns.h"
#include "report/text/columns.h"
#include "report/text/op_cells.h"

static const char keys[] = "*total_ns self_ns calls mean_ns allocated_bytes peak_bytes flop rate";

struct text_context {
	const struct tpa_page *page;
	struct tpa_row_context row;
	struct tpa_table *table;
};

static void add_row(void *context, uint32_t number, int depth)
{
	struct text_context *text = context;
	const struct tpa_op_node *node = &text->row.process->op_nodes[number];

	tpa_columns_add(text->table, text->page, tpa_op_node_columns, keys, node, &text->row);
	tpa_op_name_cell(text->table, text->page, tpa_op_node_name(text->row.process, node), 2 * depth);
}

void tpa_op_tree_print(const struct tpa_page *page, const struct tpa_process *process, uint64_t top)
{
	struct tpa_table *table = tpa_columns_begin(page, tpa_op_node_columns, keys, "*op");
	struct text_context context = { page, { .process = process }, table };
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
