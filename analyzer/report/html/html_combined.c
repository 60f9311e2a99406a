/* SPDX-License-Identifier: Apache-2.0 */
/* All processes of a run combined, before the section of each. */
#include <inttypes.h>

#include "report/html/html_process.h"
#include "report/html/html_timeline.h"
#include "report/json/json_value.h"
#include "report/rows/op_columns.h"
#include "report/text/process_listing.h"

static void put_processes(const struct tpa_html *html, const struct tpa_run *run, const json_t *json)
{
	struct tpa_html_table table = { .path = "peak_processes",
					.described = tpa_process_columns,
					.keys = "pid bytes bytes:% own_peak end ran program",
					.whole = (json_int_t)run->peak_bytes };
	json_t *list = json_deep_copy(json_object_get(json, "peak_processes"));

	for (size_t i = 0; i < run->process_count && i < json_array_size(list); i++) {
		static const struct tpa_row_context exact = { .process = NULL };

		tpa_json_keys(json_array_get(list, i), tpa_process_columns, "own_peak end ran program",
			      &run->processes[i], &exact);
	}
	tpa_html_table(html, &table, list);
	json_decref(list);
}

void tpa_html_combined(const struct tpa_html *html, const struct tpa_run *run, const json_t *json)
{
	const struct tpa_html_timeline timeline = {
		.points = tpa_html_at(json, "timeline.points"),
		.to_ns = (json_int_t)run->duration_ns,
		.peak_ns = (json_int_t)run->peak_time_ns,
		.peak_bytes = (json_int_t)run->peak_bytes,
	};
	struct tpa_html_table table = { .path = "ops",
					.described = tpa_op_columns,
					.keys = "name calls total_ns self_ns mean_ns",
					.total = tpa_html_integer(json, "ops_total") };

	fputs("<article id=\"combined\" data-process=\"combined\">\n", html->out);
	tpa_html_element(html, "h2", NULL, "All %zu processes", run->process_count);
	tpa_html_element(html, "p", NULL, "%s at %s, when they held most together.",
			 tpa_bytes(run->peak_bytes, html->exact).text, tpa_time(run->peak_time_ns).text);
	if (run->resident.rss)
		tpa_html_element(html, "p", NULL,
				 "Resident memory (RSS) of all together: %s at most, each page counted once.",
				 tpa_bytes(run->resident.rss, html->exact).text);
	tpa_html_timeline(html, &timeline);
	put_processes(html, run, json);
	if (tpa_html_count(json, "ops")) {
		tpa_html_element(html, "h3", NULL, "Ops of all together");
		tpa_html_table(html, &table, tpa_html_at(json, "ops"));
	}
	fputs("</article>\n", html->out);
}
