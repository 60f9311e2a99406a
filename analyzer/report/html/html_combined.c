/* SPDX-License-Identifier: Apache-2.0 */
/* All processes of a run together, before the sections of each. */
#include <inttypes.h>

#include "report/html/html_process.h"
#include "report/html/html_timeline.h"
#include "report/json/json_value.h"
#include "report/text/process_listing.h"

static void put_processes(const struct tpa_html *html, const struct tpa_run *run, const json_t *json)
{
	static const struct tpa_html_column columns[] = {
		{ "pid", "pid", TPA_HTML_NUMBER, NULL },
		{ "then", "bytes", TPA_HTML_BYTES, "when all held most together" },
		{ "%", "bytes", TPA_HTML_PERCENT, NULL },
		{ "own peak", "own_peak", TPA_HTML_BYTES, NULL },
		{ "at the end", "end", TPA_HTML_BYTES, NULL },
		{ "ran", "ran", TPA_HTML_TIME, NULL },
		{ "program", "program", TPA_HTML_CODE, NULL },
		TPA_HTML_END,
	};
	struct tpa_html_table table = { .path = "peak_processes",
					.columns = columns,
					.whole = (json_int_t)run->peak_bytes };
	json_t *list = json_deep_copy(json_object_get(json, "peak_processes"));

	for (size_t i = 0; i < run->process_count && i < json_array_size(list); i++) {
		const struct tpa_process *process = &run->processes[i];
		json_t *row = json_array_get(list, i);

		json_object_set_new(row, "own_peak", json_integer((json_int_t)process->heap.peak_bytes));
		json_object_set_new(row, "end", json_integer((json_int_t)process->heap.end_bytes));
		json_object_set_new(row, "ran", json_integer((json_int_t)process->duration_ns));
		json_object_set_new(row, "program", tpa_json_string(tpa_program_name(process->trace)));
	}
	tpa_html_table(html, &table, list);
	json_decref(list);
}

void tpa_html_combined(const struct tpa_html *html, const struct tpa_run *run, const json_t *json)
{
	static const struct tpa_html_column ops[] = {
		{ "op", "name", TPA_HTML_CODE, NULL },	      { "calls", "calls", TPA_HTML_COUNT, NULL },
		{ "total", "total_ns", TPA_HTML_TIME, NULL }, { "self", "self_ns", TPA_HTML_TIME, NULL },
		{ "mean", "mean_ns", TPA_HTML_TIME, NULL },   TPA_HTML_END,
	};
	const struct tpa_html_timeline timeline = {
		.points = tpa_html_at(json, "timeline.points"),
		.to_ns = (json_int_t)run->duration_ns,
		.peak_ns = (json_int_t)run->peak_time_ns,
		.peak_bytes = (json_int_t)run->peak_bytes,
	};
	struct tpa_html_table table = { .path = "ops", .columns = ops, .total = tpa_html_integer(json, "ops_total") };

	fputs("<article id=\"combined\" data-process=\"combined\">\n", html->out);
	tpa_html_element(html, "h2", NULL, "All %zu processes", run->process_count);
	tpa_html_element(html, "p", NULL, "%s at %s, when they held most together.",
			 tpa_bytes(run->peak_bytes, html->exact).text, tpa_time(run->peak_time_ns).text);
	tpa_html_timeline(html, &timeline);
	put_processes(html, run, json);
	if (tpa_html_count(json, "ops")) {
		tpa_html_element(html, "h3", NULL, "Ops of all together");
		tpa_html_table(html, &table, tpa_html_at(json, "ops"));
	}
	fputs("</article>\n", html->out);
}
