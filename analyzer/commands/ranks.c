/* SPDX-License-Identifier: Apache-2.0 */
/* ranks: which processes of a parallel job made the others wait, and why. */
#include "commands/parts/rank_report.h"
#include "commands/input/run_choice.h"
#include "commands/parts/site_report.h"
#include "report/json/rank_json.h"
#include "report/text/rank_listing.h"

static void write_json(struct tpa_session *session, const struct tpa_rank_report *report)
{
	struct tpa_json_writer writer;

	tpa_json_begin(&writer, session->page.out);
	tpa_json_put(&writer, "left_out", tpa_left_out_json(session->options));
	tpa_json_put(&writer, "ranks",
		     report ? tpa_ranks_json(&report->view, tpa_top(session->options, 0)) : json_null());
	tpa_json_end(&writer);
}

static void write_text(struct tpa_session *session, const struct tpa_rank_report *report)
{
	if (report)
		tpa_ranks_print(&session->page, &report->view, tpa_top(session->options, 10));
	else
		fputs("the traces have no ranks: no two of the processes called MPI or torch.distributed where it "
		      "could "
		      "be recorded\n",
		      session->page.out);
	tpa_next_print(&session->page, "tprof-analyze html -o report.html %s   shows time and waiting by rank and step",
		       tpa_trace_names(session).text);
}

int tpa_cmd_ranks(const struct tpa_options *options)
{
	struct tpa_session session;
	struct tpa_rank_report *report;
	int status = tpa_session_start(&session, options, TPA_GROUP_NONE);

	if (status != TPA_EXIT_OK)
		return status;
	report = tpa_rank_report_new(&session);
	(options->json ? write_json : write_text)(&session, report);
	tpa_rank_report_free(report);
	return tpa_session_close(&session, TPA_EXIT_OK);
}
