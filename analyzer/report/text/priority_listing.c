/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/priority_listing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "model/result/priorities.h"
#include "report/text/op_cells.h"

static void print_memory(const struct tpa_page *page, const struct tpa_rows *peak)
{
	uint64_t bytes, all = peak->all.peak_bytes;
	size_t count = tpa_rows_for_share(peak, TPA_PRIORITY_SHARE, &bytes);

	if (!count || !all)
		return;
	fprintf(page->out,
		"  memory: %s stack%s hold%s %s of the peak; without the largest it is lower by %s (%s) at most\n",
		tpa_count(count).text, tpa_plural(count), count == 1 ? "s" : "", tpa_percent(bytes, all).text,
		tpa_percent(peak->bytes[0], all).text, tpa_bytes(peak->bytes[0], page->exact).text);
}

static void add_row(struct tpa_table *table, const struct tpa_page *page, const struct tpa_priority *one,
		    const char *note)
{
	tpa_cell(table, TPA_STYLE_NUMBER, tpa_time(one->own_ns));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_share(one->of_ops));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_share(one->of_run));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_text_of(isfinite(one->speedup) ? "run %.3gx faster" : "-", one->speedup));
	tpa_op_name_cell(table, page, one->op->name, 0);
	tpa_table_add(table, TPA_STYLE_DIM, note ? note : "");
}

void tpa_priorities_print(const struct tpa_page *page, const struct tpa_process *process, const struct tpa_rows *peak,
			  tpa_priority_note *note, void *context)
{
	struct tpa_priority *list = tpa_zalloc(process->op_count + 1, sizeof(*list));
	size_t count = tpa_priorities(process, TPA_PRIORITY_SHARE, list);

	if (count) {
		struct tpa_table *table = tpa_table_new(">self|>of ops|>of the run|>if it cost nothing|*op|");

		tpa_headline(page, "What to look at first: %zu op%s of %zu take%s %.0f%% of the ops' time", count,
			     tpa_plural(count), process->op_count, count == 1 ? "s" : "", 100 * TPA_PRIORITY_SHARE);
		for (size_t i = 0; i < count && i < 10; i++)
			add_row(table, page, &list[i], note ? note(context, list[i].op) : NULL);
		tpa_table_end(table, page);
		if (count > 10)
			tpa_print(page, TPA_STYLE_DIM, "      and %s more\n", tpa_count(count - 10).text);
		print_memory(page, peak);
	}
	free(list);
}
