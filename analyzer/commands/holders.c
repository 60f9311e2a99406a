/* SPDX-License-Identifier: Apache-2.0 */
/* holders: who keeps alive the blocks that a search found (TPROF_LEAKCHECK, tprof ctl holders). */
#include "commands/parts/growth_report.h"
#include "commands/parts/processes.h"
#include "commands/parts/site_report.h"
#include "report/text/coverage.h"
#include "report/text/process_listing.h"

static void print_process(struct tpa_session *session, size_t index)
{
	tpa_process_print(&session->run->processes[index], &session->page);
	tpa_holders_section_print(session, index);
}

static void print_end(struct tpa_session *session)
{
	tpa_next_print(&session->page, "tprof-analyze leaks %s   shows what grows, and which blocks nothing points to",
		       tpa_trace_names(session).text);
}

static void json_process(struct tpa_session *session, size_t index, json_t *json)
{
	tpa_holders_section_json(session, index, json);
}

int tpa_cmd_holders(const struct tpa_options *options)
{
	static const struct tpa_report report = {
		.symbols = true, .print = print_process, .print_end = print_end, .json = json_process
	};

	return tpa_report_run(options, TPA_GROUP_STACK, &report);
}
