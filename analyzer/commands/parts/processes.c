/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/parts/processes.h"

#include <stdlib.h>

#include "base/aside.h"
#include "base/memory.h"
#include "commands/parts/role_report.h"
#include "commands/input/run_choice.h"
#include "report/text/process_listing.h"
#include "report/text/related.h"

static struct tpa_symbols *symbols_of(const struct tpa_session *session, const struct tpa_report *report, size_t index)
{
	return report->symbols ? session->symbols[index] : NULL;
}

json_t *tpa_process_json(struct tpa_session *session, const struct tpa_report *report, size_t index)
{
	const struct tpa_process *process = &session->run->processes[index];
	json_t *json = json_object();

	tpa_json_set(json, "process", tpa_json_process(process));
	if (report->related)
		tpa_json_set(json, "run", tpa_others_json(process->trace));
	tpa_json_set(json, "capture", tpa_json_capture(process));
	session->argument = report->argument;
	report->json(session, index, json);
	tpa_json_set(json, "notes", tpa_json_notes(process, symbols_of(session, report, index)));
	return json;
}

struct making {
	struct tpa_session *session;
	const struct tpa_report *report;
};

static json_t *make_process(void *context, size_t index)
{
	const struct making *making = context;
	json_t *json = tpa_process_json(making->session, making->report, index);

	tpa_aside_rest();
	return json;
}

static json_t *combined_json(struct tpa_session *session, const struct tpa_report *report)
{
	json_t *json = tpa_json_combined(session->run);

	if (report->symbols) {
		tpa_json_set(json, "copied", tpa_copied_json(session->run, session->symbols));
		tpa_json_set(json, "roles", tpa_roles_json(session));
	}
	if (report->combine)
		report->combine(session, json);
	return json;
}

/* A single process's keys are at the top level; several processes go into "processes", their sums into "combined". */
static void write_json(struct tpa_session *session, const struct tpa_report *report)
{
	struct making making = { session, report };
	struct tpa_json_writer writer;

	tpa_json_begin(&writer, session->page.out);
	tpa_json_put(&writer, "left_out", tpa_left_out_json(session->options));
	tpa_json_put_each(&writer, "processes", session->run->process_count, make_process, &making);
	if (session->run->process_count != 1)
		tpa_json_put(&writer, "combined", combined_json(session, report));
	if (report->whole)
		report->whole(session, &writer);
	tpa_json_end(&writer);
}

static void print_section(struct tpa_session *session, const struct tpa_report *report, size_t index)
{
	struct tpa_notes notes;

	report->print(session, index);
	tpa_notes_collect(&notes, &session->run->processes[index], symbols_of(session, report, index));
	tpa_notes_print(&notes, &session->page, report->notes);
	tpa_notes_free(&notes);
	tpa_aside_rest();
}

/* By process. Free the result. */
static struct tpa_section *choose(struct tpa_session *session, const struct tpa_report *report)
{
	size_t count = session->run->process_count;
	struct tpa_section *sections = tpa_zalloc(count, sizeof(*sections));

	if (report->choose)
		report->choose(session, sections);
	for (size_t i = 0; i < count && !report->choose; i++)
		sections[i].alike = 1;
	return sections;
}

static void write_text(struct tpa_session *session, const struct tpa_report *report)
{
	size_t shown = 0, count = session->run->process_count;
	const struct tpa_page *page = &session->page;
	struct tpa_section *sections;

	if (report->print_begin)
		report->print_begin(session);
	sections = choose(session, report);
	for (size_t i = 0; i < count; i++) {
		if (!sections[i].alike)
			continue;
		if (shown++)
			fputs("\n\n", page->out);
		if (sections[i].alike > 1)
			fprintf(page->out, "Of %zu processes of one role, %s:\n", sections[i].alike, sections[i].which);
		print_section(session, report, i);
	}
	if (shown < count)
		fprintf(page->out, "\n\nand %zu more process%s (--full shows all)\n", count - shown,
			count - shown == 1 ? "" : "es");
	for (size_t i = 0; i < count; i++)
		if (!sections[i].alike) /* a launcher, which started what matters */
			tpa_untraced_print(session->run->processes[i].trace, page);
	free(sections);
	report->print_end(session);
}

int tpa_report(struct tpa_session *session, const struct tpa_report *report)
{
	session->argument = report->argument;
	if (report->symbols)
		tpa_session_open_symbols(session);
	(session->options->json ? write_json : write_text)(session, report);
	return tpa_session_close(session, TPA_EXIT_OK);
}

int tpa_report_run(const struct tpa_options *options, enum tpa_group group, const struct tpa_report *report)
{
	struct tpa_session session;
	int status = tpa_session_start(&session, options, group);

	return status == TPA_EXIT_OK ? tpa_report(&session, report) : status;
}
