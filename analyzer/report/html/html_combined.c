/* SPDX-License-Identifier: Apache-2.0 */
/* All processes of a run together, before the sections of each. */
#include <inttypes.h>

#include "report/html/html_process.h"
#include "report/html/html_timeline.h"
#include "report/json/json_value.h"
#include "report/text/process_listing.h"

static void put_processes(const struct tp_html *html, const struct tp_run *run, const json_t *json)
{
	static const struct tp_html_column columns[] = {
		{ "pid", "pid", TP_HTML_NUMBER, NULL },
		{ "then", "bytes", TP_HTML_BYTES, "when all held most together" },
		{ "%", "bytes", TP_HTML_PERCENT, NULL },
		{ "own peak", "own_peak", TP_HTML_BYTES, NULL },
		{ "at the end", "end", TP_HTML_BYTES, NULL },
		{ "ran", "ran", TP_HTML_TIME, NULL },
		{ "program", "program", TP_HTML_CODE, NULL },
		TP_HTML_END,
	};
	struct tp_html_table table = { .path = "peak_processes",
				       .columns = columns,
				       .whole = (json_int_t)run->peak_bytes };
	json_t *list = json_deep_copy(json_object_get(json, "peak_processes"));

	for (size_t i = 0; i < run->process_count && i < json_array_size(list); i++) {
		const struct tp_process *process = &run->processes[i];
		json_t *row = json_array_get(list, i);

		json_object_set_new(row, "own_peak", json_integer((json_int_t)process->heap.peak_bytes));
		json_object_set_new(row, "end", json_integer((json_int_t)process->heap.end_bytes));
		json_object_set_new(row, "ran", json_integer((json_int_t)process->duration_ns));
		json_object_set_new(row, "program", tp_json_string(tp_program_name(process->trace)));
	}
	tp_html_table(html, &table, list);
	json_decref(list);
}

void tp_html_combined(const struct tp_html *html, const struct tp_run *run, const json_t *json)
{
	static const struct tp_html_column ops[] = {
		{ "op", "name", TP_HTML_CODE, NULL },	     { "calls", "calls", TP_HTML_COUNT, NULL },
		{ "total", "total_ns", TP_HTML_TIME, NULL }, { "self", "self_ns", TP_HTML_TIME, NULL },
		{ "mean", "mean_ns", TP_HTML_TIME, NULL },   TP_HTML_END,
	};
	const struct tp_html_timeline timeline = {
		.points = tp_html_at(json, "timeline.points"),
		.to_ns = (json_int_t)run->duration_ns,
		.peak_ns = (json_int_t)run->peak_time_ns,
		.peak_bytes = (json_int_t)run->peak_bytes,
	};
	struct tp_html_table table = { .path = "ops", .columns = ops, .total = tp_html_integer(json, "ops_total") };

	fputs("<article id=\"combined\" data-process=\"combined\">\n", html->out);
	tp_html_element(html, "h2", NULL, "All %zu processes", run->process_count);
	tp_html_element(html, "p", NULL, "%s at %s, when they held most together.",
			tp_bytes(run->peak_bytes, html->exact).text, tp_time(run->peak_time_ns).text);
	tp_html_timeline(html, &timeline);
	put_processes(html, run, json);
	if (tp_html_count(json, "ops")) {
		tp_html_element(html, "h3", NULL, "Ops of all together");
		tp_html_table(html, &table, tp_html_at(json, "ops"));
	}
	fputs("</article>\n", html->out);
}
