/* SPDX-License-Identifier: Apache-2.0 */
/* html: all that is known of a run, as one file to hand on. */
#include <unistd.h>

#include "commands/html_page.h"
#include "commands/site_report.h"
#include "commands/summary.h"

static int report(struct tp_session *session, const struct tp_machine *machine)
{
	for (size_t i = 0; i < session->run->process_count; i++)
		if (!tp_session_symbols(session, i))
			return tp_session_out_of_memory(session);
	if (!tp_html_page(session, machine))
		return tp_session_out_of_memory(session);
	tp_session_say_browser(session);
	return tp_session_close(session, TP_EXIT_OK);
}

int tp_cmd_html(const struct tp_options *options)
{
	struct tp_options mine = *options;
	struct tp_session session;
	struct tp_machine machine;
	bool known;
	int status;

	if (!options->output && isatty(STDOUT_FILENO)) {
		fputs("tprof-analyze: html writes a page for a browser: name a file with -o FILE\n", stderr);
		return TP_EXIT_USAGE;
	}
	mine.top = tp_top(options, 20);
	mine.top_set = true; /* every list of the page is as long */
	status = tp_summary_start(&session, &mine, &machine, &known);
	return status == TP_EXIT_OK ? report(&session, known ? &machine : NULL) : status;
}
