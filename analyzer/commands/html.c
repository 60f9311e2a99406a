/* SPDX-License-Identifier: Apache-2.0 */
/* html: all that is known of a run, as one file to hand on. */
#include <inttypes.h>
#include <unistd.h>

#include "commands/growth_report.h"
#include "commands/machine_file.h"
#include "commands/op_report.h"
#include "commands/processes.h"
#include "commands/site_report.h"
#include "commands/summary.h"
#include "commands/timeline.h"

#include "report/html_process.h"
#include "report/html_timeline.h"
#include "report/process.h"

/* What a section is made of: of one process. */
struct part {
	const struct tp_html *html;
	struct tp_session *session;
	size_t index;
	const struct tp_process *process;
	json_t *json;
};

/* In the order of the page; one that has nothing to show is named at the end, with `absent`. */
struct section {
	const char *id, *title;
	bool (*has)(const struct part *part);
	bool (*write)(const struct part *part);
	const char *absent;
};

static bool has_points(const struct part *part)
{
	return tp_html_count(part->json, "timeline.points") > 1;
}

static bool write_timeline(const struct part *part)
{
	tp_html_memory_over_time(part->html, part->process, part->json);
	return true;
}

static bool has_peak(const struct part *part)
{
	return tp_html_count(part->json, "heap.peak_sites") > 0;
}

static bool write_peak(const struct part *part)
{
	tp_html_peak(part->html, part->json);
	return true;
}

static const struct section sections[] = {
	{ "timeline", "Memory over time", has_points, write_timeline, "Memory over time: nothing was recorded of it." },
	{ "peak", "What held the memory at the peak", has_peak, write_peak,
	  "The peak: no allocation was recorded (TPROF_ALLOC)." },
};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

/* As peak --by KEY --json has it. */
static bool add_peak_by(struct tp_session *session, size_t index, enum tp_by by, const char *key, json_t *json)
{
	struct tp_rows *rows = tp_session_rows(session, index, by, TP_WHAT_PEAK, "bytes", NULL);
	json_t *sites =
		rows ? tp_json_rows(session->run, session->symbols, rows, by, TP_JSON_PEAK, session->options->top)
		     : NULL;
	bool good = sites && json_object_set_new(json, key,
						 json_pack("{s:o, s:o}", "sites", sites, "sites_total",
							   tp_json_number(rows->count))) == 0;

	tp_rows_free(rows);
	return good;
}

static json_t *json_of(struct tp_session *session, size_t index, const struct tp_machine *machine)
{
	json_t *json = tp_summary_json(session, index, machine, true);
	bool good = json && json_object_set_new(json, "timeline", tp_timeline_json(session, index)) == 0;

	good = good && tp_growth_section_json(session, index, json);
	good = good && add_peak_by(session, index, TP_BY_LINE, "peak_lines", json);
	good = good && add_peak_by(session, index, TP_BY_OP, "peak_ops", json);
	if (good)
		return json;
	json_decref(json);
	return NULL;
}

static void begin_section(const struct part *part, const char *id, const char *title)
{
	fprintf(part->html->out, "<section id=\"p%zu-%s\">\n", part->index, id);
	tp_html_element(part->html, "h3", NULL, "%s", title);
}

static void put_absent(const struct part *part)
{
	fputs("<ul class=\"notes\">\n", part->html->out);
	for (size_t i = 0; i < SECTIONS; i++)
		if (!sections[i].has(part) && sections[i].absent)
			tp_html_element(part->html, "li", NULL, "%s", sections[i].absent);
	fputs("</ul>\n", part->html->out);
}

static bool write_process(const struct part *part)
{
	bool good = true;

	fprintf(part->html->out, "<article id=\"p%zu\" data-process=\"%zu\">\n", part->index, part->index);
	tp_html_element(part->html, "h2", NULL, "%s (pid %" PRIu32 ")", tp_program_name(part->process->trace),
			part->process->trace->header->pid);
	tp_html_overview(part->html, part->process, part->json);
	for (size_t i = 0; good && i < SECTIONS; i++) {
		if (!sections[i].has(part))
			continue;
		begin_section(part, sections[i].id, sections[i].title);
		good = sections[i].write(part);
		fputs("</section>\n", part->html->out);
	}
	begin_section(part, "notes", "What limits these numbers, and what was not recorded");
	tp_html_notes(part->html, part->json);
	put_absent(part);
	fputs("</section>\n</article>\n", part->html->out);
	return good;
}

static bool write_page(struct tp_session *session, const struct tp_machine *machine)
{
	struct tp_html html = { session->page.out, session->options->exact };
	const struct tp_run *run = session->run;
	char title[300];
	bool good = true;

	snprintf(title, sizeof(title), "%.200s: tprof", tp_program_name(run->processes[0].trace));
	tp_html_begin(&html, title);
	for (size_t i = 0; good && i < run->process_count; i++) {
		struct part part = { &html, session, i, &run->processes[i], json_of(session, i, machine) };

		good = part.json && write_process(&part);
		json_decref(part.json);
	}
	tp_html_end(&html);
	return good;
}

static int report(struct tp_session *session, const struct tp_machine *machine)
{
	for (size_t i = 0; i < session->run->process_count; i++)
		if (!tp_session_symbols(session, i))
			return tp_session_out_of_memory(session);
	if (!write_page(session, machine))
		return tp_session_out_of_memory(session);
	if (session->options->output)
		fprintf(stderr, "tprof-analyze: next: open %s in a browser\n", session->options->output);
	return tp_session_close(session, TP_EXIT_OK);
}

int tp_cmd_html(const struct tp_options *options)
{
	struct tp_options mine = *options;
	struct tp_suppressions *suppressions;
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
	status = tp_session_open(&session, &mine);
	if (status != TP_EXIT_OK)
		return status;
	suppressions = tp_session_suppressions(&session); /* a bad file is better known before a long replay */
	if (!suppressions)
		return tp_session_close(&session, TP_EXIT_USAGE);
	tp_suppressions_free(suppressions);
	status = tp_machine_find(options, &machine, &known);
	if (status != TP_EXIT_OK)
		return tp_session_close(&session, status);
	status = tp_session_replay(&session, TP_GROUP_STACK);
	return status == TP_EXIT_OK ? report(&session, known ? &machine : NULL) : status;
}
