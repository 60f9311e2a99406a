/* SPDX-License-Identifier: Apache-2.0 */
/* ops: time and memory of each operator. */
#include <stdlib.h>

#include "commands/parts/op_report.h"
#include "report/rows/op_waits.h"
#include "report/text/counter_listing.h"
#include "report/text/op_listing.h"
#include "report/text/op_tree_listing.h"

static void print(struct tpa_session *session, size_t process)
{
	const struct tpa_process *of = &session->run->processes[process];
	const struct tpa_options *options = session->options;
	const struct tpa_page *page = &session->page;
	uint64_t top = tpa_top(options, 10);
	struct tpa_op_list list;

	tpa_op_waits_find(&session->run->processes[process], tpa_session_symbols(session, process));
	tpa_op_list(&list, of, options->sort, session->filter);
	tpa_op_list_join(&list);
	if (list.count)
		tpa_headline(page, "%s",
			     options->by == TPA_BY_LAYER ? "Layers"
			     : options->tree		 ? "Operators, and what they called"
							 : "Operators");
	else
		fprintf(page->out, "\n  %s\n",
			of->op_count ? "no op matches the filter"
				     : "the trace has no ops: no function that TPROF_OPS names was called where it "
				       "could be hooked, and the program names none itself (tprof.h)");
	if (list.count && options->by == TPA_BY_LAYER) {
		tpa_layers_print(page, of, top);
	} else if (list.count && options->tree) {
		tpa_op_tree_print(page, of, tpa_top(options, 30));
	} else {
		tpa_ops_print(page, of, &list, top);
		tpa_op_counters_print(page, of, &list, top);
	}
	if (options->shapes)
		tpa_shapes_print(page, &list, top);
	free(list.ops);
}

int tpa_cmd_ops(const struct tpa_options *options)
{
	static const struct tpa_op_report report = { .print = print };

	return tpa_op_report(options, &report);
}
