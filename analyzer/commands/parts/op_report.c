/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/parts/op_report.h"

#include "commands/parts/growth_report.h"
#include "commands/parts/processes.h"

#include <stdlib.h>

#include "report/rows/op_waits.h"
#include "report/text/counter_listing.h"
#include "report/text/coverage.h"
#include "report/text/op_listing.h"
#include "report/text/op_tree_listing.h"
#include "report/text/process_listing.h"
#include "report/text/step_listing.h"

void tpa_ops_short_print(struct tpa_session *session, size_t process, uint64_t top)
{
	const struct tpa_process *of = &session->run->processes[process];
	const struct tpa_page *page = &session->page;
	struct tpa_op_list list;

	tpa_op_waits_find(&session->run->processes[process], tpa_session_symbols(session, process));
	tpa_op_list(&list, of, "total", NULL);
	tpa_op_list_join(&list);
	if (list.count) {
		tpa_headline(page, "Which operators took the time");
		tpa_ops_print_short(page, &list, tpa_top(session->options, top));
	}
	if (of->steps.count) {
		tpa_headline(page, "Steps");
		fputs("  ", page->out);
		tpa_steps_print_line(page, &of->steps);
		tpa_steps_print_source(page, of);
	}
	free(list.ops);
}

/* Lists all steps one by one in their own order, unless the options of the command steps say otherwise. */
static json_t *steps_json(const struct tpa_process *process, const struct tpa_options *options, bool one_by_one)
{
	bool told = options->command->run == tpa_cmd_steps;
	const char *sort = told && options->sort_set ? options->sort : "step";

	return tpa_steps_json(process, one_by_one ? sort : NULL, told && options->top_set ? options->top : 0);
}

void tpa_ops_section_json(struct tpa_session *session, size_t process, json_t *json, bool steps_one_by_one)
{
	const struct tpa_process *of = &session->run->processes[process];
	const struct tpa_options *options = session->options;
	bool own = options->command->run == tpa_cmd_ops; /* --sort and --filter apply to ops */
	json_t *counters = tpa_counters_json(of);
	struct tpa_op_list list;

	tpa_op_waits_find(&session->run->processes[process], tpa_session_symbols(session, process));
	tpa_op_list(&list, of, own ? options->sort : "total", own ? session->filter : NULL);
	tpa_json_set(json, "ops", tpa_ops_json(&list, tpa_top(options, 100)));
	tpa_op_counters_json(of, &list, json_object_get(json, "ops"));
	if (counters)
		tpa_json_set(json, "counters", counters);
	tpa_json_set(json, "ops_total", tpa_json_number(list.count));
	tpa_json_set(json, "op_ends_unmatched", tpa_json_number(of->op_counts.unmatched_ends));
	tpa_json_set(json, "op_calls_too_deep", tpa_json_number(of->op_counts.too_deep));
	tpa_json_set(json, "op_calls_nameless", tpa_json_number(of->op_counts.nameless));
	tpa_json_set(json, "torch_work", tpa_work_known_json(of));
	if (options->tree)
		tpa_json_set(json, "tree", tpa_op_tree_json(of, tpa_top(options, 0)));
	if (options->by == TPA_BY_LAYER)
		tpa_json_set(json, "layers", tpa_layers_json(of, tpa_top(options, 0)));
	tpa_json_set(json, "steps", steps_json(of, options, steps_one_by_one));
	tpa_growth_steps_json(session, process, json_object_get(json, "steps"));
	free(list.ops);
}

static void print_process(struct tpa_session *session, size_t index)
{
	const struct tpa_op_report *report = session->argument;
	const struct tpa_process *process = &session->run->processes[index];

	tpa_process_print(process, &session->page);
	tpa_scope_print(session);
	report->print(session, index);
	tpa_coverage_print(&session->page, process);
}

static void print_end(struct tpa_session *session)
{
	if (session->run->process_count > 1)
		tpa_ops_combined_print(session, 10);
}

static void json_process(struct tpa_session *session, size_t index, json_t *json)
{
	const struct tpa_op_report *report = session->argument;

	tpa_ops_section_json(session, index, json, report->steps_one_by_one);
}

int tpa_op_report(const struct tpa_options *options, const struct tpa_op_report *report)
{
	const struct tpa_report sections = { .print = print_process,
					     .print_end = print_end,
					     .json = json_process,
					     .combine = tpa_ops_combined_json,
					     .argument = report };

	return tpa_report_run(options, TPA_GROUP_STACK, &sections);
}

bool tpa_ops_matter(const struct tpa_process *process)
{
	uint64_t self = 0;

	for (size_t i = 0; i < process->op_count; i++)
		self += process->ops[i].self_ns;
	return process->op_count && self >= tpa_cpu_ns(process, &process->cpu) / 20;
}
