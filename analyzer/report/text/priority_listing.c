/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/priority_listing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "model/result/priorities.h"
#include "report/text/op_cells.h"

static void print_memory(const struct tp_page *page, const struct tp_rows *peak)
{
	uint64_t bytes, all = peak->all.peak_bytes;
	size_t count = tp_rows_for_share(peak, TP_PRIORITY_SHARE, &bytes);

	if (!count || !all)
		return;
	fprintf(page->out,
		"  memory: %s stack%s hold%s %s of the peak; without the largest it is lower by %s (%s) at most\n",
		tp_count(count).text, tp_plural(count), count == 1 ? "s" : "", tp_percent(bytes, all).text,
		tp_percent(peak->bytes[0], all).text, tp_bytes(peak->bytes[0], page->exact).text);
}

static void add_row(struct tp_table *table, const struct tp_page *page, const struct tp_priority *one, const char *note)
{
	char speedup[32] = "-";

	if (isfinite(one->speedup))
		snprintf(speedup, sizeof(speedup), "%.3gx", one->speedup);
	tp_cell(table, TP_STYLE_NUMBER, tp_time(one->op->self_ns));
	tp_cell(table, TP_STYLE_PLAIN, tp_percent((uint64_t)(1e6 * one->of_ops), 1000000));
	tp_cell(table, TP_STYLE_PLAIN, tp_percent((uint64_t)(1e6 * one->of_run), 1000000));
	tp_table_add(table, TP_STYLE_PLAIN, speedup);
	tp_op_name_cell(table, page, one->op->name, 0);
	tp_table_add(table, TP_STYLE_DIM, note ? note : "");
}

void tp_priorities_print(const struct tp_page *page, const struct tp_process *process, const struct tp_rows *peak,
			 tp_priority_note *note, void *context)
{
	struct tp_priority *list = tp_zalloc(process->op_count + 1, sizeof(*list));
	size_t count = tp_priorities(process, TP_PRIORITY_SHARE, list);
	struct tp_table *table = count ? tp_table_new(">self|>of ops|>of the run|>run at most|*op|") : NULL;

	if (table) {
		tp_headline(page, "What to look at first: %zu op%s of %zu take%s %.0f%% of the ops' time", count,
			    tp_plural(count), process->op_count, count == 1 ? "s" : "", 100 * TP_PRIORITY_SHARE);
		for (size_t i = 0; i < count && i < 10; i++)
			add_row(table, page, &list[i], note ? note(context, list[i].op) : NULL);
		tp_table_print(table, page, 2);
		if (count > 10)
			tp_print(page, TP_STYLE_DIM, "      and %s more\n", tp_count(count - 10).text);
		print_memory(page, peak);
	}
	tp_table_free(table);
	free(list);
}
