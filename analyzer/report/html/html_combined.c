/* SPDX-License-Identifier: Apache-2.0 */
/* All processes of a run combined, before the section of each. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
	static const struct tpa_row_context exact = { .process = NULL };
	static const struct tpa_page page = { .width = TPA_WIDTH_MARKDOWN };
	json_t *list = json_deep_copy(json_object_get(json, "peak_processes"));
	struct tpa_rank_of *rank_of = tpa_rank_of_each(run);
	char label[900];

	for (size_t i = 0; i < run->process_count && i < json_array_size(list); i++) {
		const struct tpa_process *process = &run->processes[i];
		json_t *row = json_array_get(list, i);

		tpa_json_keys(row, tpa_process_columns, "own_peak end ran", process, &exact);
		tpa_process_label_of(run, process, &rank_of[i], &page, label, sizeof(label));
		tpa_json_set(row, "program", tpa_json_string(label + strspn(label, " ")));
	}
	free(rank_of);
	tpa_html_table(html, &table, list);
	json_decref(list);
}

static void copy(json_t *to, const char *key, const json_t *from, const char *path)
{
	json_object_set_new(to, key, json_deep_copy(tpa_html_at(from, path)));
}

static void put_roles(const struct tpa_html *html, const json_t *roles)
{
	static const struct tpa_html_column columns[] = {
		{ "role", "role", TPA_HTML_TEXT, NULL },
		{ "processes", "processes", TPA_HTML_COUNT, NULL },
		{ "peak", "peak_median", TPA_HTML_BYTES, "the median of the processes" },
		{ "spread", "peak_spread", TPA_HTML_BYTES, "1.48 times the median distance from the median peak" },
		{ "least", "peak_least", TPA_HTML_BYTES, "the smallest peak" },
		{ "most", "peak_most", TPA_HTML_BYTES, "the largest peak" },
		{ "RSS", "rss_median", TPA_HTML_BYTES, "the median" },
		{ "at the end", "end_median", TPA_HTML_BYTES, "the median" },
		{ "CPU time", "cpu_median", TPA_HTML_TIME, "the median" },
		{ "ran", "time_median", TPA_HTML_TIME, "the median" },
		TPA_HTML_END
	};
	const struct tpa_html_table table = { .path = "roles", .columns = columns };
	json_t *rows = json_array();
	size_t i;
	json_t *role;

	json_array_foreach(roles, i, role) {
		json_t *row = json_object();

		copy(row, "role", role, "role");
		json_object_set_new(row, "processes", json_integer((json_int_t)tpa_html_count(role, "pids")));
		copy(row, "peak_median", role, "peak_bytes.median");
		copy(row, "peak_spread", role, "peak_bytes.spread");
		copy(row, "peak_least", role, "peak_bytes.least");
		copy(row, "peak_most", role, "peak_bytes.most");
		copy(row, "rss_median", role, "rss_peak_bytes.median");
		copy(row, "end_median", role, "end_bytes.median");
		copy(row, "cpu_median", role, "cpu_ns.median");
		copy(row, "time_median", role, "duration_ns.median");
		json_array_append_new(rows, row);
	}
	tpa_html_table(html, &table, rows);
	json_decref(rows);
}

static void put_time(const struct tpa_html *html, const struct tpa_run *run, const json_t *times)
{
	static const struct tpa_html_column columns[] = { { "CPU time", "self_ns", TPA_HTML_TIME, NULL },
							  { "share", "share", TPA_HTML_SHARE, NULL },
							  { "where", "file", TPA_HTML_PLACE, NULL },
							  { "what", "name", TPA_HTML_TEXT, NULL },
							  TPA_HTML_END };
	const struct tpa_html_table table = { .path = "time.rows",
					      .columns = columns,
					      .cwd = run->processes[0].trace->cwd };
	json_t *rows = json_array();
	size_t i;
	json_t *time;

	json_array_foreach(times, i, time) {
		json_t *row = json_object();

		copy(row, "self_ns", time, "self_ns");
		copy(row, "share", time, "share");
		copy(row, "name", time, "name");
		copy(row, "file", time, "frame.file");
		copy(row, "line", time, "frame.line");
		json_array_append_new(rows, row);
	}
	tpa_html_table(html, &table, rows);
	json_decref(rows);
}

void tpa_html_combined(const struct tpa_html *html, const struct tpa_run *run, const json_t *json,
		       const struct tpa_html_said *said)
{
	const json_t *roles = json_object_get(json, "roles");
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
	tpa_html_element(html, "p", NULL, "%zu of them lived at one time at most.", run->most_at_once);
	if (tpa_run_cpu_ns(run))
		tpa_html_element(html, "p", NULL, "CPU time of all together: %s.", tpa_time(tpa_run_cpu_ns(run)).text);
	tpa_html_quote(html, "copied", said->copied, said->context);
	tpa_html_timeline(html, &timeline);
	if (json_array_size(roles) < run->process_count) {
		tpa_html_element(html, "h3", NULL, "The processes by role");
		put_roles(html, roles);
	}
	tpa_html_quote(html, "odd", said->odd, said->context);
	tpa_html_element(html, "h3", NULL, "What each process held then");
	put_processes(html, run, json);
	if (tpa_html_count(json, "time.rows")) {
		tpa_html_element(html, "h3", NULL, "What took their CPU time");
		put_time(html, run, tpa_html_at(json, "time.rows"));
	}
	if (tpa_html_count(json, "ops")) {
		tpa_html_element(html, "h3", NULL, "Ops of all together");
		tpa_html_table(html, &table, tpa_html_at(json, "ops"));
	}
	fputs("</article>\n", html->out);
}
