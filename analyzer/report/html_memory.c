/* SPDX-License-Identifier: Apache-2.0 */
/* What an HTML report says of memory. */
#include "report/html_process.h"

#include <string.h>

#include "report/html_timeline.h"
#include "report/process.h"

#define END                                                                                                            \
	{                                                                                                              \
		NULL, NULL, TP_HTML_TEXT, NULL                                                                         \
	}

static const char *cwd_of(const json_t *json)
{
	return json_string_value(tp_html_at(json, "process.cwd"));
}

void tp_html_memory_over_time(const struct tp_html *html, const struct tp_process *process, const json_t *json)
{
	struct tp_html_timeline timeline = {
		.points = tp_html_at(json, "timeline.points"),
		.marks = tp_html_at(json, "timeline.marks"),
		.steps = tp_html_at(json, "steps.list"),
		.from_ns = (json_int_t)process->start_ns,
		.to_ns = (json_int_t)(process->start_ns + process->duration_ns),
		.peak_ns = tp_html_integer(json, "heap.peak_time_ns"),
		.peak_bytes = tp_html_integer(json, "heap.peak_bytes"),
	};

	tp_html_timeline(html, &timeline);
}

static const struct tp_html_column by_stack[] = {
	{ "bytes", "bytes", TP_HTML_BYTES, NULL },
	{ "%", "bytes", TP_HTML_PERCENT, NULL },
	{ "blocks", "blocks", TP_HTML_COUNT, NULL },
	{ "allocated by", "stack", TP_HTML_STACK, "the frame that it is put down to, and its callers; unfold for all" },
	END,
};

void tp_html_peak(const struct tp_html *html, const json_t *json)
{
	static const struct tp_html_column by_line[] = {
		{ "bytes", "bytes", TP_HTML_BYTES, NULL },
		{ "%", "bytes", TP_HTML_PERCENT, NULL },
		{ "blocks", "blocks", TP_HTML_COUNT, NULL },
		{ "with callees", "total_bytes", TP_HTML_BYTES, "this line's and what it called's" },
		{ "line", "line", TP_HTML_PLACE, NULL },
		{ "function", "function", TP_HTML_CODE, NULL },
		END,
	};
	static const struct tp_html_column by_op[] = {
		{ "bytes", "bytes", TP_HTML_BYTES, NULL },
		{ "%", "bytes", TP_HTML_PERCENT, NULL },
		{ "blocks", "blocks", TP_HTML_COUNT, NULL },
		{ "op", "op", TP_HTML_CODE, "a dash: outside of every op" },
		END,
	};
	json_int_t whole = tp_html_integer(json, "heap.peak_bytes");
	struct tp_html_table table = { .columns = by_stack, .whole = whole, .cwd = cwd_of(json) };

	tp_html_element(html, "h4", NULL, "by stack");
	table.path = "heap.peak_sites";
	table.total = tp_html_integer(json, "heap.peak_sites_total");
	tp_html_table(html, &table, tp_html_at(json, table.path));
	tp_html_element(html, "h4", NULL, "by line");
	table.path = "peak_lines.sites";
	table.columns = by_line;
	table.total = tp_html_integer(json, "peak_lines.sites_total");
	tp_html_table(html, &table, tp_html_at(json, table.path));
	if (tp_html_count(json, "peak_ops.sites") < 2)
		return;
	tp_html_element(html, "h4", NULL, "by op");
	table.path = "peak_ops.sites";
	table.columns = by_op;
	table.total = tp_html_integer(json, "peak_ops.sites_total");
	tp_html_table(html, &table, tp_html_at(json, table.path));
}
