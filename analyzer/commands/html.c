/* SPDX-License-Identifier: Apache-2.0 */
/* html: everything known about a run, in one file to pass on. */
#include "commands/html_page.h"
#include "commands/html_views.h"
#include "commands/parts/site_report.h"
#include "commands/summary.h"

#define ROWS 20 /* of the lists of a page of few processes */

static int report(struct tpa_session *session, const struct tpa_machine *machine)
{
	struct tpa_html_baseline baseline;
	int status;

	tpa_session_open_symbols(session);
	status = tpa_html_baseline_read(session, &baseline);
	if (status == TPA_EXIT_OK) {
		tpa_html_page(session, machine, &baseline);
		tpa_session_say_browser(session);
	}
	tpa_html_baseline_free(&baseline);
	return tpa_session_close(session, status);
}

/* How long lists are: shorter with many processes, so that the page stays small. */
static uint64_t rows_of(size_t processes)
{
	return processes <= 3 ? ROWS : processes < 20 ? ROWS * 3 / processes : 3;
}

int tpa_cmd_html(const struct tpa_options *options)
{
	struct tpa_options mine = *options;
	struct tpa_session session;
	struct tpa_machine machine;
	bool known;
	int status;

	if (tpa_session_refuses_terminal(options))
		return TPA_EXIT_USAGE;
	mine.top = tpa_top(options, ROWS);
	mine.top_set = true; /* every list of the page has the same length */
	status = tpa_summary_start(&session, &mine, &machine, &known);
	if (status == TPA_EXIT_OK && !options->top_set)
		mine.top = rows_of(session.run->process_count);
	return status == TPA_EXIT_OK ? report(&session, known ? &machine : NULL) : status;
}
