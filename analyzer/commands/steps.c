/* SPDX-License-Identifier: Apache-2.0 */
/* steps: how long each training step took, and what it did to memory. */
#include "commands/op_report.h"
#include "report/text/step_listing.h"

static bool print(struct tp_session *session, size_t process)
{
	const struct tp_process *of = &session->run->processes[process];
	const struct tp_step_stats *steps = &of->steps;
	const struct tp_page *page = &session->page;

	if (!steps->count) {
		fputs("\n  no step is in the trace, and its ops have no period: mark their ends with tprof_step()\n",
		      page->out);
		return true;
	}
	tp_headline(page, "Steps");
	tp_steps_print_line(page, steps);
	tp_steps_print_source(page, of);
	fputc('\n', page->out);
	tp_steps_print(page, of, session->options->sort, tp_top(session->options, 10));
	tp_steps_print_outliers(page, of);
	tp_steps_print_ops(page, of, tp_top(session->options, 10));
	return true;
}

int tp_cmd_steps(const struct tp_options *options)
{
	static const struct tp_op_report report = { .print = print, .steps_one_by_one = true };

	return tp_op_report(options, &report);
}
