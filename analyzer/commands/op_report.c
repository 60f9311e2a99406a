/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/op_report.h"

#include "commands/growth_report.h"
#include "commands/processes.h"

#include <stdlib.h>

#include "report/text/counter_listing.h"
#include "report/text/coverage.h"
#include "report/text/op_listing.h"
#include "report/text/op_tree_listing.h"
#include "report/text/process_listing.h"
#include "report/text/step_listing.h"

bool tpa_ops_short_print(struct tpa_session *session, size_t process, uint64_t top)
{
	const struct tpa_process *of = &session->run->processes[process];
	const struct tpa_page *page = &session->page;
	struct tpa_op_list list;

	tpa_op_list(&list, of, "total", NULL);
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
	return true;
}

/* One by one they are all, in their own order, unless the command for them was told otherwise. */
static json_t *steps_json(const struct tpa_process *process, const struct tpa_options *options, bool one_by_one)
{
	bool told = options->command->run == tpa_cmd_steps;
	const char *sort = told && options->sort_set ? options->sort : "step";

	return tpa_steps_json(process, one_by_one ? sort : NULL, told && options->top_set ? options->top : 0);
}

bool tpa_ops_section_json(struct tpa_session *session, size_t process, json_t *json, bool steps_one_by_one)
{
	const struct tpa_process *of = &session->run->processes[process];
	const struct tpa_options *options = session->options;
	const char *sort = options->command->run == tpa_cmd_ops ? options->sort : "total";
	struct tpa_op_list list;
	regex_t filter;
	bool filtered = options->command->run == tpa_cmd_ops && options->filter &&
			regcomp(&filter, options->filter, REG_EXTENDED | REG_NOSUB) == 0;
	json_t *counters = tpa_counters_json(of);
	bool good = true;

	tpa_op_list(&list, of, sort, filtered ? &filter : NULL);
	json_object_set_new(json, "ops", tpa_ops_json(&list, tpa_top(options, 100)));
	tpa_op_counters_json(of, &list, json_object_get(json, "ops"));
	if (counters)
		json_object_set_new(json, "counters", counters);
	json_object_set_new(json, "ops_total", tpa_json_number(list.count));
	json_object_set_new(json, "op_ends_unmatched", tpa_json_number(of->op_counts.unmatched_ends));
	json_object_set_new(json, "op_calls_too_deep", tpa_json_number(of->op_counts.too_deep));
	json_object_set_new(json, "op_calls_nameless", tpa_json_number(of->op_counts.nameless));
	json_object_set_new(json, "torch_work", tpa_work_known_json(of));
	if (options->tree)
		good = json_object_set_new(json, "tree", tpa_op_tree_json(of, tpa_top(options, 0))) == 0;
	if (options->by == TPA_BY_LAYER)
		good = json_object_set_new(json, "layers", tpa_layers_json(of, tpa_top(options, 0))) == 0 && good;
	json_object_set_new(json, "steps", steps_json(of, options, steps_one_by_one));
	good = tpa_growth_steps_json(session, process, json_object_get(json, "steps")) && good;
	free(list.ops);
	if (filtered)
		regfree(&filter);
	return good;
}

static bool print_text(struct tpa_session *session, const struct tpa_op_report *report)
{
	bool good = true;

	for (size_t i = 0; good && i < session->run->process_count; i++) {
		struct tpa_notes notes;

		if (i)
			fputs("\n\n", session->page.out);
		tpa_process_print(&session->run->processes[i], &session->page);
		tpa_scope_print(session);
		good = report->print(session, i);
		tpa_coverage_print(&session->page, &session->run->processes[i]);
		tpa_notes_collect(&notes, &session->run->processes[i], NULL);
		tpa_notes_print(&notes, &session->page);
		tpa_notes_free(&notes);
	}
	if (good && session->run->process_count > 1)
		good = tpa_ops_combined_print(session, 10);
	return good;
}

static json_t *json_process(struct tpa_session *session, size_t index, const void *argument)
{
	const struct tpa_op_report *report = argument;
	const struct tpa_process *process = &session->run->processes[index];
	json_t *json = json_object();

	json_object_set_new(json, "process", tpa_json_process(process));
	json_object_set_new(json, "capture", tpa_json_capture(process));
	if (!tpa_ops_section_json(session, index, json, report->steps_one_by_one)) {
		json_decref(json);
		return NULL;
	}
	json_object_set_new(json, "notes", tpa_json_notes(process, NULL));
	return json;
}

static bool combine(struct tpa_session *session, json_t *combined, const void *argument)
{
	(void)argument;
	return tpa_ops_combined_json(session, combined);
}

int tpa_op_report(const struct tpa_options *options, const struct tpa_op_report *report)
{
	const struct tpa_process_report in_json = { .process = json_process, .combine = combine, .argument = report };
	struct tpa_session session;
	int status = tpa_session_start(&session, options);

	if (status != TPA_EXIT_OK)
		return status;
	if (!(options->json ? tpa_processes_json(&session, &in_json) : print_text(&session, report)))
		return tpa_session_out_of_memory(&session);
	return tpa_session_close(&session, TPA_EXIT_OK);
}
