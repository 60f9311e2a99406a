/* SPDX-License-Identifier: Apache-2.0 */
/* What an HTML report says of time: ops, steps, CPU samples, and how near the ops came to the machine. */
#include "report/html/html_process.h"

#include "report/text/cpu_listing.h"
#include "report/html/html_timeline.h"
#include "report/rows/op_columns.h"
#include "report/text/step_listing.h"

void tp_html_ops(const struct tp_html *html, const json_t *json)
{
	static const struct tp_html_column columns[] = {
		{ .key = "name", .kind = TP_HTML_SHAPES, .hint = "unfold for its shapes" },
		{ .key = "calls" },
		{ .key = "total_ns", .hint = "with the ops that it called" },
		{ .key = "self_ns", .hint = "without them" },
		{ .key = "mean_ns" },
		{ .key = "ci95_ns", .hint = "of the mean" },
		{ .key = "p50_ns" },
		{ .key = "p99_ns" },
		{ .key = "max_ns" },
		{ "GFLOP/s", "flop", TP_HTML_FLOPS, NULL },
		{ .key = "allocated_bytes" },
		{ .key = "net_bytes", .hint = "allocated less freed" },
		{ .key = "peak_bytes", .hint = "live bytes above those at its begin" },
		TP_HTML_END,
	};
	static const struct tp_html_column branches[] = {
		{ "op", "name", TP_HTML_BRANCH, NULL },	     { "calls", "calls", TP_HTML_COUNT, NULL },
		{ "total", "total_ns", TP_HTML_TIME, NULL }, { "self", "self_ns", TP_HTML_TIME, NULL },
		{ "GFLOP/s", "flop", TP_HTML_FLOPS, NULL },  { "allocated", "allocated_bytes", TP_HTML_BYTES, NULL },
		{ "net", "net_bytes", TP_HTML_BYTES, NULL }, TP_HTML_END,
	};
	struct tp_html_table table = { .path = "ops",
				       .columns = columns,
				       .described = tp_op_columns,
				       .total = tp_html_integer(json, "ops_total") };
	const json_t *tree = tp_html_at(json, "tree");

	tp_html_table(html, &table, tp_html_at(json, "ops"));
	if (json_array_size(tree) <= json_array_size(tp_html_at(json, "ops")) && tp_html_integer(json, "ops_total") < 2)
		return;
	table = (struct tp_html_table){ .path = "tree", .columns = branches, .ordered = true };
	fputs("<details><summary>Which op called which</summary>\n", html->out);
	tp_html_table(html, &table, tree);
	fputs("</details>\n", html->out);
}

static void print_source(const struct tp_page *page, const void *process)
{
	tp_steps_print_source(page, process);
}

static void put_outliers(const struct tp_html *html, const json_t *json)
{
	static const struct tp_html_column columns[] = {
		{ "step", "step", TP_HTML_NUMBER, NULL },
		{ "time", "time_ns", TP_HTML_TIME, NULL },
		{ "outside of ops", "more_outside_ops_ns", TP_HTML_TIME, NULL },
		{ "not running", "more_waited_ns", TP_HTML_TIME, NULL },
		{ "allocations", "more_allocations", TP_HTML_COUNT, NULL },
		{ "allocated", "more_allocated_bytes", TP_HTML_BYTES, NULL },
		{ "page faults", "more_minor_faults", TP_HTML_COUNT, NULL },
		{ "in ops", "more_in_ops", TP_HTML_NAMES, NULL },
		TP_HTML_END,
	};
	const struct tp_html_table table = { .path = "steps.outliers", .columns = columns };

	if (!tp_html_count(json, table.path))
		return;
	tp_html_element(html, "h4", NULL, "slow steps, and what was more than in the average step");
	tp_html_table(html, &table, tp_html_at(json, table.path));
}

void tp_html_steps(const struct tp_html *html, const struct tp_process *process, const json_t *json)
{
	static const struct tp_html_fact facts[] = {
		{ "steps", "steps.count", TP_HTML_COUNT, NULL },
		{ "mean", "steps.mean_ns", TP_HTML_TIME, NULL },
		{ "95% interval", "steps.ci95_ns", TP_HTML_TIME, "of the mean" },
		{ "p50", "steps.p50_ns", TP_HTML_TIME, NULL },
		{ "p99", "steps.p99_ns", TP_HTML_TIME, NULL },
		{ "max", "steps.max_ns", TP_HTML_TIME, NULL },
		{ "the first", "steps.first_ns", TP_HTML_TIME, "with the program's start" },
		{ "independent steps", "steps.effective_steps", TP_HTML_COUNT,
		  "the number of independent ones that the interval is based on" },
		{ "items a second", "steps.items_per_s", TP_HTML_COUNT, NULL },
		TP_HTML_END,
	};
	static const struct tp_html_column ops[] = {
		{ "self in a step", "self_ns_per_step", TP_HTML_TIME, NULL },
		{ "%", "self_ns_per_step", TP_HTML_PERCENT,
		  "of the mean step; of all threads, so it may be above 100%" },
		{ "op", "name", TP_HTML_CODE, NULL },
		TP_HTML_END,
	};
	struct tp_html_table table = { .path = "steps.ops",
				       .columns = ops,
				       .whole = tp_html_integer(json, "steps.mean_ns") };

	tp_html_quote(html, NULL, print_source, process);
	tp_html_facts(html, "facts", facts, json);
	tp_html_step_times(html, tp_html_at(json, "steps.list"), tp_html_integer(json, "steps.p50_ns"));
	put_outliers(html, json);
	if (!tp_html_count(json, table.path))
		return;
	tp_html_element(html, "h4", NULL, "time in a step, by op");
	tp_html_table(html, &table, tp_html_at(json, table.path));
}

static void print_cpu(const struct tp_page *page, const void *process)
{
	tp_cpu_print_capture(page, process);
}

void tp_html_cpu(const struct tp_html *html, const struct tp_process *process, const json_t *json)
{
	static const struct tp_html_column columns[] = {
		{ "self", "self_share", TP_HTML_SHARE, "with its 95% interval" },
		{ "CPU time", "self_ns", TP_HTML_TIME, NULL },
		{ "samples", "self_samples", TP_HTML_COUNT, NULL },
		{ "total", "total_share", TP_HTML_SHARE, "with what it called" },
		{ "function", "function", TP_HTML_CODE, NULL },
		{ "module", "module", TP_HTML_TEXT, NULL },
		TP_HTML_END,
	};
	const struct tp_html_table table = { .path = "cpu", .columns = columns };

	tp_html_quote(html, NULL, print_cpu, process);
	tp_html_table(html, &table, tp_html_at(json, "cpu"));
}

void tp_html_roofline(const struct tp_html *html, const json_t *json)
{
	static const struct tp_html_column columns[] = {
		{ "op", "name", TP_HTML_CODE, NULL },
		{ "time", "time_ns", TP_HTML_TIME, NULL },
		{ "GFLOP/s", "gflops", TP_HTML_REAL, NULL },
		{ "GB/s", "gbytes_per_s", TP_HTML_REAL, NULL },
		{ "FLOP/B", "flop_per_byte", TP_HTML_REAL, NULL },
		{ "bound by", "bound_by", TP_HTML_TEXT, NULL },
		{ "level", "level", TP_HTML_TEXT, "of the memory that the roof is of" },
		{ "its roof", "roof", TP_HTML_REAL, "GFLOP/s" },
		{ "reached", "roof_fraction", TP_HTML_SHARE, NULL },
		{ "ideal", "ideal_ns", TP_HTML_TIME, "under its roof" },
		TP_HTML_END,
	};
	const struct tp_html_table table = { .path = "roofline", .columns = columns };

	tp_html_table(html, &table, tp_html_at(json, "roofline"));
}
