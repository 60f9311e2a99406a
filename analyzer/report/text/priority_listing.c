/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/priority_listing.h"

#include <stdlib.h>

#include "base/memory.h"
#include "model/result/priorities.h"
#include "report/rows/op_columns.h"
#include "report/text/columns.h"

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

void tpa_priorities_print(const struct tpa_page *page, const struct tpa_process *process, const struct tpa_rows *peak,
			  tpa_priority_note *note, void *context)
{
	struct tpa_priority *list = tpa_zalloc(process->op_count + 1, sizeof(*list));
	size_t count = tpa_priorities(process, TPA_PRIORITY_SHARE, list);

	if (count) {
		static const char keys[] = "*self_ns share_of_ops share_of_run speedup_at_most op";
		struct tpa_table *table = tpa_columns_begin(page, tpa_priority_columns, keys, "");

		tpa_headline(page, "What to look at first: %zu op%s of %zu take%s %.0f%% of the ops' time", count,
			     tpa_plural(count), process->op_count, count == 1 ? "s" : "", 100 * TPA_PRIORITY_SHARE);
		for (size_t i = 0; i < count && i < 10; i++) {
			const char *text = note ? note(context, list[i].op) : NULL;

			tpa_columns_add(table, page, tpa_priority_columns, keys, &list[i], NULL);
			tpa_table_add(table, TPA_STYLE_DIM, text ? text : "");
		}
		tpa_table_end(table, page);
		if (count > 10)
			tpa_print(page, TPA_STYLE_DIM, "      and %s more\n", tpa_count(count - 10).text);
		print_memory(page, peak);
	}
	free(list);
}
