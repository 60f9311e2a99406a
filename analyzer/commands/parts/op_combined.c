/* SPDX-License-Identifier: Apache-2.0 */
/* Ops and steps of all processes of a run combined. */
#include <stdlib.h>

#include "commands/parts/op_report.h"
#include "model/result/op_combine.h"
#include "model/ops/ops.h"
#include "report/text/op_listing.h"

/* Sums over the processes that have steps. */
struct together {
	uint64_t processes, count, items;
	double items_per_s;
};

static struct together steps_of(const struct tpa_run *run)
{
	struct together sum = { 0, 0, 0, 0 };

	for (size_t i = 0; i < run->process_count; i++) {
		const struct tpa_step_stats *steps = &run->processes[i].steps;
		double took = steps->durations.mean * (double)steps->durations.count;

		sum.processes += steps->count != 0;
		sum.count += steps->count;
		sum.items += steps->items;
		sum.items_per_s += took > 0 ? (double)steps->rest_items / took * 1e9 : 0;
	}
	return sum;
}

static void print_steps(const struct tpa_page *page, const struct together *steps)
{
	if (!steps->count)
		return;
	tpa_headline(page, "Steps of all processes together");
	fprintf(page->out, "  %s in %s process%s", tpa_count(steps->count).text, tpa_count(steps->processes).text,
		steps->processes == 1 ? "" : "es");
	if (steps->items_per_s > 0)
		fprintf(page->out, "; %s items a second, if they ran beside each other",
			tpa_count(tpa_round(steps->items_per_s)).text);
	fputc('\n', page->out);
}

void tpa_ops_combined_print(const struct tpa_session *session, uint64_t top)
{
	const struct tpa_page *page = &session->page;
	struct together steps = steps_of(session->run);
	struct tpa_process all = { .trace = NULL };
	struct tpa_op_list list = { .ops = NULL };

	all.ops = tpa_ops_combine(session->run, &all.op_count);
	tpa_op_list(&list, &all, "total", NULL);
	tpa_op_list_join(&list);
	if (list.count) {
		tpa_headline(page, "Operators of all %zu processes together", session->run->process_count);
		tpa_ops_print_short(page, &list, tpa_top(session->options, top));
	}
	print_steps(page, &steps);
	free(list.ops);
	tpa_ops_result_free(all.ops, all.op_count);
}

void tpa_ops_combined_json(struct tpa_session *session, json_t *combined)
{
	struct together steps = steps_of(session->run);
	struct tpa_process all = { .trace = NULL };
	struct tpa_op_list list = { .ops = NULL };

	all.ops = tpa_ops_combine(session->run, &all.op_count);
	tpa_op_list(&list, &all, "total", NULL);
	tpa_json_set(combined, "ops", tpa_ops_json(&list, tpa_top(session->options, 100)));
	tpa_json_set(combined, "ops_total", tpa_json_number(list.count));
	tpa_json_set(combined, "steps",
		     json_pack("{s:o, s:o, s:o, s:o}", "processes", tpa_json_number(steps.processes), "count",
			       tpa_json_number(steps.count), "items", tpa_json_number(steps.items), "items_per_s",
			       steps.items_per_s > 0 ? json_real(steps.items_per_s) : json_null()));
	free(list.ops);
	tpa_ops_result_free(all.ops, all.op_count);
}
