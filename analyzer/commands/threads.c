/* SPDX-License-Identifier: Apache-2.0 */
/* threads: what each thread did: CPU time, ops, memory, and where most of its time went. */
#include "commands/processes.h"
#include "commands/site_report.h"
#include "report/text/coverage.h"
#include "report/text/process_listing.h"
#include "report/text/thread_listing.h"

static bool read_rows(struct tp_session *session, size_t index, struct tp_thread_rows *rows)
{
	struct tp_symbols *symbols = tp_session_symbols(session, index);

	*rows = (struct tp_thread_rows){ 0 };
	return symbols && tp_thread_rows(rows, &session->run->processes[index], symbols, session->options->sort);
}

static bool print_process(struct tp_session *session, size_t index)
{
	const struct tp_process *process = &session->run->processes[index];
	struct tp_thread_rows rows;
	bool good = read_rows(session, index, &rows);
	struct tp_notes notes;

	tp_process_print(process, &session->page);
	tp_scope_print(session);
	if (good)
		tp_threads_print(&session->page, process, &rows, tp_top(session->options, 20));
	tp_thread_rows_free(&rows);
	tp_coverage_print(&session->page, process);
	tp_notes_collect(&notes, process, session->symbols[index]);
	tp_notes_print(&notes, &session->page);
	tp_notes_free(&notes);
	return good;
}

static bool print_text(struct tp_session *session)
{
	char names[300];

	for (size_t i = 0; i < session->run->process_count; i++) {
		if (i)
			fputs("\n\n", session->page.out);
		if (!print_process(session, i))
			return false;
	}
	tp_next_print(&session->page, "tprof-analyze hotspots --thread N %s   shows where one thread's time goes",
		      tp_trace_names(session, names, sizeof(names)));
	return true;
}

static json_t *json_process(struct tp_session *session, size_t index, const void *argument)
{
	const struct tp_process *process = &session->run->processes[index];
	json_t *json = json_object();
	struct tp_thread_rows rows;
	bool good = read_rows(session, index, &rows);

	(void)argument;
	json_object_set_new(json, "process", tp_json_process(process));
	json_object_set_new(json, "capture", tp_json_capture(process));
	json_object_set_new(json, "heap", tp_json_heap(process));
	json_object_set_new(json, "threads_total", tp_json_number(rows.count));
	json_object_set_new(json, "threads", tp_threads_json(process, &rows, tp_top(session->options, 0)));
	json_object_set_new(json, "notes", tp_json_notes(process, session->symbols[index]));
	tp_thread_rows_free(&rows);
	if (good)
		return json;
	json_decref(json);
	return NULL;
}

int tp_cmd_threads(const struct tp_options *options)
{
	static const struct tp_process_report report = { .process = json_process };
	struct tp_session session;
	int status = tp_session_open(&session, options);

	if (status == TP_EXIT_OK)
		status = tp_session_replay(&session, TP_GROUP_THREAD);
	if (status != TP_EXIT_OK)
		return status;
	if (!(options->json ? tp_processes_json(&session, &report) : print_text(&session)))
		return tp_session_out_of_memory(&session);
	return tp_session_close(&session, TP_EXIT_OK);
}
