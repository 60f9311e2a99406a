/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/mark_listing.h"

#include <inttypes.h>

void tpa_marks_print(const struct tpa_page *page, const struct tpa_marks *marks, uint64_t top)
{
	uint64_t shown = top && top < marks->count ? top : marks->count;
	struct tpa_table *table;

	if (!marks->count)
		return;
	table = tpa_table_new(">at|mark");
	for (uint64_t i = 0; i < shown; i++) {
		tpa_cell(table, TPA_STYLE_NUMBER, tpa_time(marks->list[i].time_ns));
		tpa_table_add(table, TPA_STYLE_PLAIN, marks->list[i].text);
	}
	fputc('\n', page->out);
	tpa_table_end(table, page);
	if (shown < marks->all)
		tpa_print(page, TPA_STYLE_DIM, "      and %" PRIu64 " more%s\n", marks->all - shown,
			  shown < marks->count ? " (--top 0 shows all)" : "");
}
