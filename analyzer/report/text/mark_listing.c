/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/mark_listing.h"

#include <inttypes.h>

void tp_marks_print(const struct tp_page *page, const struct tp_marks *marks, uint64_t top)
{
	uint64_t shown = top && top < marks->count ? top : marks->count;
	struct tp_table *table;

	if (!marks->count)
		return;
	table = tp_table_new(">at|mark");
	for (uint64_t i = 0; i < shown; i++) {
		tp_table_add(table, TP_STYLE_NUMBER, tp_time(marks->list[i].time_ns).text);
		tp_table_add(table, TP_STYLE_PLAIN, marks->list[i].text);
	}
	fputc('\n', page->out);
	tp_table_print(table, page, 2);
	tp_table_free(table);
	if (shown < marks->all)
		tp_print(page, TP_STYLE_DIM, "      and %" PRIu64 " more%s\n", marks->all - shown,
			 shown < marks->count ? " (--top 0 shows all)" : "");
}
