/* SPDX-License-Identifier: Apache-2.0 */
/* steps: time and memory of each training step. */
#include "commands/parts/op_report.h"
#include "report/text/step_listing.h"

static void print(struct tpa_session *session, size_t process)
{
	const struct tpa_process *of = &session->run->processes[process];
	const struct tpa_step_stats *steps = &of->steps;
	const struct tpa_page *page = &session->page;

	if (!steps->count) {
		fputs("\n  no step is in the trace, and its ops have no period: mark their ends with tprof_step()\n",
		      page->out);
		return;
	}
	tpa_headline(page, "Steps");
	tpa_steps_print_line(page, steps);
	tpa_steps_print_source(page, of);
	fputc('\n', page->out);
	tpa_steps_print(page, of, session->options->sort, tpa_top(session->options, 10));
	tpa_steps_print_outliers(page, of);
	tpa_steps_print_ops(page, of, tpa_top(session->options, 10));
}

int tpa_cmd_steps(const struct tpa_options *options)
{
	static const struct tpa_op_report report = { .print = print, .steps_one_by_one = true };

	return tpa_op_report(options, &report);
}
