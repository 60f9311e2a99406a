/* SPDX-License-Identifier: Apache-2.0 */
/* threads: what each thread did: CPU time, ops, memory, and where most of its time went. */
#include "commands/processes.h"
#include "commands/site_report.h"
#include "report/text/coverage.h"
#include "report/text/process_listing.h"
#include "report/text/thread_listing.h"

static bool read_rows(struct tpa_session *session, size_t index, struct tpa_thread_rows *rows)
{
	struct tpa_symbols *symbols = tpa_session_symbols(session, index);

	*rows = (struct tpa_thread_rows){ 0 };
	return symbols && tpa_thread_rows(rows, &session->run->processes[index], symbols, session->options->sort);
}

static bool print_process(struct tpa_session *session, size_t index)
{
	const struct tpa_process *process = &session->run->processes[index];
	struct tpa_thread_rows rows;
	bool good = read_rows(session, index, &rows);
	struct tpa_notes notes;

	tpa_process_print(process, &session->page);
	tpa_scope_print(session);
	if (good)
		tpa_threads_print(&session->page, process, &rows, tpa_top(session->options, 20));
	tpa_thread_rows_free(&rows);
	tpa_coverage_print(&session->page, process);
	tpa_notes_collect(&notes, process, session->symbols[index]);
	tpa_notes_print(&notes, &session->page);
	tpa_notes_free(&notes);
	return good;
}

static bool print_text(struct tpa_session *session)
{
	char names[300];

	for (size_t i = 0; i < session->run->process_count; i++) {
		if (i)
			fputs("\n\n", session->page.out);
		if (!print_process(session, i))
			return false;
	}
	tpa_next_print(&session->page, "tprof-analyze hotspots --thread N %s   shows where one thread's time goes",
		       tpa_trace_names(session, names, sizeof(names)));
	return true;
}

static json_t *json_process(struct tpa_session *session, size_t index, const void *argument)
{
	const struct tpa_process *process = &session->run->processes[index];
	json_t *json = json_object();
	struct tpa_thread_rows rows;
	bool good = read_rows(session, index, &rows);

	(void)argument;
	json_object_set_new(json, "process", tpa_json_process(process));
	json_object_set_new(json, "capture", tpa_json_capture(process));
	json_object_set_new(json, "heap", tpa_json_heap(process));
	json_object_set_new(json, "threads_total", tpa_json_number(rows.count));
	json_object_set_new(json, "threads", tpa_threads_json(process, &rows, tpa_top(session->options, 0)));
	json_object_set_new(json, "notes", tpa_json_notes(process, session->symbols[index]));
	tpa_thread_rows_free(&rows);
	if (good)
		return json;
	json_decref(json);
	return NULL;
}

int tpa_cmd_threads(const struct tpa_options *options)
{
	static const struct tpa_process_report report = { .process = json_process };
	struct tpa_session session;
	int status = tpa_session_open(&session, options);

	if (status == TPA_EXIT_OK)
		status = tpa_session_replay(&session, TPA_GROUP_THREAD);
	if (status != TPA_EXIT_OK)
		return status;
	if (!(options->json ? tpa_processes_json(&session, &report) : print_text(&session)))
		return tpa_session_out_of_memory(&session);
	return tpa_session_close(&session, TPA_EXIT_OK);
}
