/* SPDX-License-Identifier: Apache-2.0 */
/* Ops and steps of all processes of a run together. */
#include <stdlib.h>

#include "commands/op_report.h"
#include "model/result/op_combine.h"
#include "model/ops/ops.h"
#include "report/text/op_listing.h"

/* Of the processes that have steps. */
struct together {
	uint64_t processes, count, items;
	double items_per_s;
};

static struct together steps_of(const struct tp_run *run)
{
	struct together sum = { 0, 0, 0, 0 };

	for (size_t i = 0; i < run->process_count; i++) {
		const struct tp_step_stats *steps = &run->processes[i].steps;
		double took = steps->durations.mean * (double)steps->durations.count;

		sum.processes += steps->count != 0;
		sum.count += steps->count;
		sum.items += steps->items;
		sum.items_per_s += took > 0 ? (double)steps->rest_items / took * 1e9 : 0;
	}
	return sum;
}

static void print_steps(const struct tp_page *page, const struct together *steps)
{
	if (!steps->count)
		return;
	tp_headline(page, "Steps of all processes together");
	fprintf(page->out, "  %s in %s process%s", tp_count(steps->count).text, tp_count(steps->processes).text,
		steps->processes == 1 ? "" : "es");
	if (steps->items_per_s > 0)
		fprintf(page->out, "; %s items a second, if they ran beside each other",
			tp_count(tp_round(steps->items_per_s)).text);
	fputc('\n', page->out);
}

bool tp_ops_combined_print(const struct tp_session *session, uint64_t top)
{
	const struct tp_page *page = &session->page;
	struct together steps = steps_of(session->run);
	struct tp_process all = { .trace = NULL };
	struct tp_op_list list = { .ops = NULL };

	all.ops = tp_ops_combine(session->run, &all.op_count);
	tp_op_list(&list, &all, "total", NULL);
	if (list.count) {
		tp_headline(page, "Operators of all %zu processes together", session->run->process_count);
		tp_ops_print_short(page, &list, tp_top(session->options, top));
	}
	print_steps(page, &steps);
	free(list.ops);
	tp_ops_result_free(all.ops, all.op_count);
	return true;
}

bool tp_ops_combined_json(const struct tp_session *session, json_t *combined)
{
	struct together steps = steps_of(session->run);
	struct tp_process all = { .trace = NULL };
	struct tp_op_list list = { .ops = NULL };

	all.ops = tp_ops_combine(session->run, &all.op_count);
	tp_op_list(&list, &all, "total", NULL);
	json_object_set_new(combined, "ops", tp_ops_json(&list, tp_top(session->options, 100)));
	json_object_set_new(combined, "ops_total", tp_json_number(list.count));
	json_object_set_new(combined, "steps",
			    json_pack("{s:o, s:o, s:o, s:o}", "processes", tp_json_number(steps.processes), "count",
				      tp_json_number(steps.count), "items", tp_json_number(steps.items), "items_per_s",
				      steps.items_per_s > 0 ? json_real(steps.items_per_s) : json_null()));
	free(list.ops);
	tp_ops_result_free(all.ops, all.op_count);
	return true;
}
