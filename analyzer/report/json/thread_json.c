/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "report/json/json.h"
#include "report/rows/thread_rows.h"

static json_t *json_line(const struct tpa_line *line, const char *key, uint64_t value)
{
	char name[400];

	if (!line->location)
		return json_null();
	return json_pack("{s:o, s:o, s:o}", "function", tpa_json_string(tpa_line_name(line, name, sizeof(name))),
			 "module", tpa_json_string(line->symbol->module), key, tpa_json_number(value));
}

static json_t *other_json(const void *context, const char *key)
{
	const struct tpa_thread_row *row = context;

	return strcmp(key, "top_cpu") == 0 ? json_line(&row->cpu_line, "ns", row->cpu_line_ns)
					   : json_line(&row->alloc_line, "bytes", row->alloc_line_bytes);
}

json_t *tpa_threads_json(const struct tpa_process *process, const struct tpa_thread_rows *rows, uint64_t top)
{
	const struct tpa_row_context context = { .process = process, .unseen = process->unseen };
	json_t *list = json_array(), *row;

	for (size_t i = 0; i < rows->count && (!top || i < top); i++) {
		row = json_object();
		tpa_json_columns(row, tpa_thread_columns, &rows->rows[i], &context, other_json);
		json_array_append_new(list, row);
	}
	return list;
}
