/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/mark_listing.h"

#include <inttypes.h>

#include "report/json/json.h"

void tp_marks_print(const struct tp_page *page, const struct tp_marks *marks, uint64_t top)
{
	uint64_t shown = top && top < marks->count ? top : marks->count;
	struct tp_table *table;

	if (!marks->count)
		return;
	table = tp_table_new(">at|mark");
	if (!table)
		return;
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

json_t *tp_marks_json(const struct tp_marks *marks, uint64_t top)
{
	json_t *list = json_array();

	for (size_t i = 0; i < marks->count && (!top || i < top); i++) {
		json_t *mark = json_object();

		json_object_set_new(mark, "time_ns", tp_json_number(marks->list[i].time_ns));
		json_object_set_new(mark, "thread", tp_json_number(marks->list[i].thread));
		json_object_set_new(mark, "text", tp_json_string(marks->list[i].text));
		json_array_append_new(list, mark);
	}
	return list;
}
