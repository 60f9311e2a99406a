/* SPDX-License-Identifier: Apache-2.0 */
/* The time sections of an HTML report: ops, steps, CPU samples, and the ops' distance to the machine's limits. */
#include "report/html/html_process.h"

#include "report/text/cpu_listing.h"
#include "report/html/html_timeline.h"
#include "report/rows/op_columns.h"
#include "report/text/step_listing.h"

#define STEP_OPS 20 /* rows of the table of ops in a step that need no folding */

void tpa_html_ops(const struct tpa_html *html, const json_t *json)
{
	struct tpa_html_table table = {
		.path = "ops",
		.described = tpa_op_columns,
		.keys = "name:shapes calls total_ns self_ns mean_ns ci95_ns p50_ns p99_ns max_ns "
			"flop:flops allocated_bytes net_bytes peak_bytes",
		.total = tpa_html_integer(json, "ops_total")
	};
	const json_t *tree = tpa_html_at(json, "tree");

	tpa_html_table(html, &table, tpa_html_at(json, "ops"));
	if (json_array_size(tree) <= json_array_size(tpa_html_at(json, "ops")) &&
	    tpa_html_integer(json, "ops_total") < 2)
		return;
	table = (struct tpa_html_table){
		.path = "tree",
		.described = tpa_op_node_columns,
		.keys = "name:branch calls total_ns self_ns flop:flops allocated_bytes net_bytes",
		.ordered = true
	};
	fputs("<details><summary>Which op called which</summary>\n", html->out);
	tpa_html_table(html, &table, tree);
	fputs("</details>\n", html->out);
}

static void print_source(const struct tpa_page *page, const void *process)
{
	tpa_steps_print_source(page, process);
}

static void put_outliers(const struct tpa_html *html, const json_t *json)
{
	static const struct tpa_html_column columns[] = {
		{ "step", "step", TPA_HTML_NUMBER, NULL },
		{ "time", "time_ns", TPA_HTML_TIME, NULL },
		{ "outside of ops", "more_outside_ops_ns", TPA_HTML_TIME, NULL },
		{ "not running", "more_waited_ns", TPA_HTML_TIME, NULL },
		{ "allocations", "more_allocations", TPA_HTML_COUNT, NULL },
		{ "allocated", "more_allocated_bytes", TPA_HTML_BYTES, NULL },
		{ "page faults", "more_minor_faults", TPA_HTML_COUNT, NULL },
		{ "in ops", "more_in_ops", TPA_HTML_NAMES, NULL },
		TPA_HTML_END,
	};
	const struct tpa_html_table table = { .path = "steps.outliers", .columns = columns };

	if (!tpa_html_count(json, table.path))
		return;
	tpa_html_element(html, "h4", NULL, "slow steps, and what was more than in the average step");
	tpa_html_table(html, &table, tpa_html_at(json, table.path));
}

/* All ops: most of them, if there are many, take next to nothing, so these are folded. */
static void put_step_ops(const struct tpa_html *html, const struct tpa_html_table *table, const json_t *ops)
{
	bool many = json_array_size(ops) > STEP_OPS;

	if (many)
		fputs("<details><summary>", html->out);
	tpa_html_element(html, "h4", NULL, "time in a step, by op");
	if (many)
		fputs("</summary>\n", html->out);
	tpa_html_table(html, table, ops);
	if (many)
		fputs("</details>\n", html->out);
}

void tpa_html_steps(const struct tpa_html *html, const struct tpa_process *process, const json_t *json)
{
	static const struct tpa_html_fact facts[] = {
		{ "steps", "steps.count", TPA_HTML_COUNT, NULL },
		{ "mean", "steps.mean_ns", TPA_HTML_TIME, NULL },
		{ "95% interval", "steps.ci95_ns", TPA_HTML_TIME, "of the mean" },
		{ "p50", "steps.p50_ns", TPA_HTML_TIME, NULL },
		{ "p99", "steps.p99_ns", TPA_HTML_TIME, NULL },
		{ "max", "steps.max_ns", TPA_HTML_TIME, NULL },
		{ "the first", "steps.first_ns", TPA_HTML_TIME, "with the program's start" },
		{ "independent steps", "steps.effective_steps", TPA_HTML_COUNT,
		  "the number of independent ones that the interval is based on" },
		{ "items a second", "steps.items_per_s", TPA_HTML_COUNT, NULL },
		TPA_HTML_END,
	};
	static const struct tpa_html_column ops[] = {
		{ "self in a step", "self_ns_per_step", TPA_HTML_TIME, NULL },
		{ "%", "self_ns_per_step", TPA_HTML_PERCENT,
		  "of the mean step; of all threads, so it may be above 100%" },
		{ "op", "name", TPA_HTML_CODE, NULL },
		TPA_HTML_END,
	};
	struct tpa_html_table table = { .path = "steps.ops",
					.columns = ops,
					.whole = tpa_html_integer(json, "steps.mean_ns") };

	tpa_html_quote(html, NULL, print_source, process);
	tpa_html_facts(html, "facts", facts, json);
	tpa_html_step_times(html, tpa_html_at(json, "steps.list"), tpa_html_integer(json, "steps.p50_ns"));
	put_outliers(html, json);
	if (!tpa_html_count(json, table.path))
		return;
	put_step_ops(html, &table, tpa_html_at(json, table.path));
}

static void print_cpu(const struct tpa_page *page, const void *process)
{
	tpa_cpu_print_capture(page, process);
}

void tpa_html_cpu(const struct tpa_html *html, const struct tpa_process *process, const json_t *json)
{
	static const struct tpa_html_column columns[] = {
		{ "self", "self_share", TPA_HTML_SHARE, "with its 95% interval" },
		{ "CPU time", "self_ns", TPA_HTML_TIME, NULL },
		{ "samples", "self_samples", TPA_HTML_COUNT, NULL },
		{ "total", "total_share", TPA_HTML_SHARE, "with what it called" },
		{ "function", "function", TPA_HTML_CODE, NULL },
		{ "module", "module", TPA_HTML_TEXT, NULL },
		TPA_HTML_END,
	};
	const struct tpa_html_table table = { .path = "cpu", .columns = columns };

	tpa_html_quote(html, NULL, print_cpu, process);
	tpa_html_table(html, &table, tpa_html_at(json, "cpu"));
}

void tpa_html_roofline(const struct tpa_html *html, const json_t *json)
{
	static const struct tpa_html_column columns[] = {
		{ "op", "name", TPA_HTML_CODE, NULL },
		{ "time", "time_ns", TPA_HTML_TIME, NULL },
		{ "GFLOP/s", "gflops", TPA_HTML_REAL, NULL },
		{ "GB/s", "gbytes_per_s", TPA_HTML_REAL, NULL },
		{ "FLOP/B", "flop_per_byte", TPA_HTML_REAL, NULL },
		{ "bound by", "bound_by", TPA_HTML_TEXT, NULL },
		{ "level", "level", TPA_HTML_TEXT, "of the memory that the roof is of" },
		{ "its roof", "roof", TPA_HTML_REAL, "GFLOP/s" },
		{ "reached", "roof_fraction", TPA_HTML_SHARE, NULL },
		{ "ideal", "ideal_ns", TPA_HTML_TIME, "under its roof" },
		TPA_HTML_END,
	};
	const struct tpa_html_table table = { .path = "roofline", .columns = columns };

	tpa_html_table(html, &table, tpa_html_at(json, "roofline"));
}
