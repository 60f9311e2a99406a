/* SPDX-License-Identifier: Apache-2.0 */
/* threads: each thread's CPU time, ops and memory, and where most of its time went. */
#include "commands/parts/processes.h"
#include "commands/parts/site_report.h"
#include "report/text/coverage.h"
#include "report/text/process_listing.h"
#include "report/text/thread_listing.h"

static void read_rows(struct tpa_session *session, size_t index, struct tpa_thread_rows *rows)
{
	*rows = (struct tpa_thread_rows){ 0 };
	tpa_thread_rows(rows, &session->run->processes[index], session->symbols[index], session->options->sort);
}

static void print_process(struct tpa_session *session, size_t index)
{
	const struct tpa_process *process = &session->run->processes[index];
	struct tpa_thread_rows rows;

	tpa_process_print(process, &session->page);
	tpa_scope_print(session);
	read_rows(session, index, &rows);
	tpa_threads_print(&session->page, process, &rows, tpa_top(session->options, 20));
	tpa_thread_rows_free(&rows);
	tpa_coverage_print(&session->page, process);
}

static void print_end(struct tpa_session *session)
{
	tpa_next_print(&session->page, "tprof-analyze hotspots --thread N %s   shows where one thread's time goes",
		       tpa_trace_names(session).text);
}

static void json_process(struct tpa_session *session, size_t index, json_t *json)
{
	const struct tpa_process *process = &session->run->processes[index];
	struct tpa_thread_rows rows;

	read_rows(session, index, &rows);
	tpa_json_set(json, "heap", tpa_json_heap(process));
	tpa_json_set(json, "threads_total", tpa_json_number(rows.count));
	tpa_json_set(json, "threads", tpa_threads_json(process, &rows, tpa_top(session->options, 0)));
	tpa_thread_rows_free(&rows);
}

int tpa_cmd_threads(const struct tpa_options *options)
{
	static const struct tpa_report report = {
		.symbols = true, .print = print_process, .print_end = print_end, .json = json_process
	};

	return tpa_report_run(options, TPA_GROUP_THREAD, &report);
}
