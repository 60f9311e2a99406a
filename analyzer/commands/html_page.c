/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of an HTML report in order, and their contents. */
#include "commands/html_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/parts/copied_report.h"
#include "commands/parts/growth_report.h"
#include "commands/html_views.h"
#include "commands/parts/first_page.h"
#include "commands/parts/op_report.h"
#include "commands/parts/rank_report.h"
#include "commands/parts/role_report.h"
#include "commands/parts/site_report.h"
#include "commands/summary.h"
#include "commands/parts/timeline.h"

#include "report/export/roof_svg.h"
#include "report/html/html_diff.h"
#include "report/html/html_process.h"
#include "report/html/html_ranks.h"
#include "report/text/coverage.h"
#include "report/text/op_tree_listing.h"
#include "report/text/process_listing.h"
#include "report/text/roof_listing.h"

/* The data of one process that sections are made from. */
struct part {
	const struct tpa_html *html;
	struct tpa_session *session;
	struct tpa_html_histories *histories;
	size_t index;
	const struct tpa_process *process;
	const struct tpa_machine *machine; /* NULL: unknown */
	json_t *json;
	const json_t *differences; /* from the baseline, of all processes; NULL: none, or another process has them */
};

/* In the order of the page. A section whose list is empty or null is left out and named at the end with `absent`. */
struct section {
	const char *id, *label, *title, *needs;
	void (*write)(const struct part *part);
	const char *absent;
};

#define SECTION(name, call)                                                                                            \
	static void name(const struct part *part)                                                                      \
	{                                                                                                              \
		call;                                                                                                  \
	}
SECTION(write_peak, tpa_html_peak(part->html, part->json))
SECTION(write_cpu, tpa_html_cpu(part->html, part->process, part->json))
SECTION(write_priorities, tpa_html_priorities(part->html, part->json))
SECTION(write_growth, tpa_html_growth(part->html, part->json))
SECTION(write_reachability, tpa_html_reachability(part->html, part->json))
SECTION(write_unfreed, tpa_html_unfreed(part->html, part->json))
SECTION(write_allocations, tpa_html_allocations(part->html, part->json))
SECTION(write_ops, tpa_html_ops(part->html, part->json))
SECTION(write_steps, tpa_html_steps(part->html, part->process, part->json))

static void write_roofline(const struct part *part)
{
	uint32_t cores = tpa_roof_cores(part->machine, part->process);
	char title[200];
	size_t count;
	struct tpa_roof_place *places = tpa_roof_places(part->machine, part->process, &count);

	snprintf(title, sizeof(title), "%.80s, %u of %u cores", part->machine->cpu, cores, part->machine->cores);
	tpa_roof_svg_embed(part->machine, cores, places, count, title, part->html->out);
	tpa_html_roofline(part->html, part->json);
	free(places);
}

static const struct section sections[] = {
	{ "first", "First", "What to do first", "priorities.time", write_priorities, NULL },
	{ "peak", "Peak", "What held the memory at the peak", "heap.peak_sites", write_peak,
	  "The peak: no allocation was recorded." },
	{ "growth", "Growth", "What grows", "growth.enough", write_growth,
	  "Growth: too few steps, or too short a run, to tell what grows." },
	{ "reach", "Pointers", "What pointers lead to", "reachability", write_reachability,
	  "Reachability: no search for pointers was asked for (TPROF_LEAKCHECK=exit, tprof ctl PID leakcheck)." },
	{ "unfreed", "Unfreed", "What was not freed", "heap.unfreed_sites", write_unfreed, NULL },
	{ "allocations", "Allocations", "Who allocated most often", "heap.hot_sites", write_allocations, NULL },
	{ "ops", "Ops", "Operators", "ops", write_ops,
	  "Ops: no function that TPROF_OPS names was called where it could be hooked, and the program names none "
	  "itself (tprof.h)." },
	{ "steps", "Steps", "Steps", "steps.source", write_steps,
	  "Steps: the program marks none (tprof_step()) and runs no backward pass of torch's; tprof-analyze steps "
	  "looks for "
	  "a period in its ops." },
	{ "cpu", "CPU", "Where the CPU time went", "cpu", write_cpu, "CPU time: no sample was taken (TPROF_CPU)." },
	{ "roofline", "Roofline", "How near the ops came to the machine", "roofline", write_roofline,
	  "Roofline: no op has a known amount of work, or this machine was never measured (tprof-analyze roofline)." },
};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

static bool has(const struct part *part, const struct section *section)
{
	const json_t *value = tpa_html_at(part->json, section->needs);

	return value && !json_is_false(value) && (!json_is_array(value) || json_array_size(value));
}

/* Adds the JSON of peak --by KEY --json. */
static void add_peak_by(struct tpa_session *session, size_t index, enum tpa_by by, const char *key, json_t *json)
{
	uint64_t top = session->options->top;
	struct tpa_rows *rows = tpa_session_rows(session, index, by, TPA_WHAT_PEAK, "bytes", NULL, top);
	json_t *sites = tpa_json_rows(session->run, session->symbols, rows, by, TPA_JSON_PEAK, top);

	tpa_json_set(json, key, json_pack("{s:o, s:o}", "sites", sites, "sites_total", tpa_json_number(rows->count)));
	tpa_rows_free(rows);
}

/* The JSON of roofline --json; NULL if the machine is unknown. */
static json_t *roofline(const struct part *part, uint64_t top)
{
	struct tpa_roof_place *places;
	json_t *json;
	size_t count;

	if (!part->machine)
		return NULL;
	places = tpa_roof_places(part->machine, part->process, &count);
	json = tpa_roof_json(places, count, top);
	free(places);
	return json;
}

/* Removes zeros that only mean that allocations were not recorded. */
static void forget_heap(json_t *heap)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(heap, next, key, value)
		if (json_is_integer(value) && strcmp(key, "rss_peak_bytes") != 0)
			json_object_del(heap, key);
}

static json_t *json_of(const struct part *part)
{
	struct tpa_session *session = part->session;
	json_t *json = tpa_summary_json(session, part->index, part->machine);

	tpa_json_set(json, "timeline", tpa_timeline_json(session, part->index));
	tpa_growth_section_json(session, part->index, json);
	add_peak_by(session, part->index, TPA_BY_LINE, "peak_lines", json);
	add_peak_by(session, part->index, TPA_BY_OP, "peak_ops", json);
	tpa_json_set(json, "tree", tpa_op_tree_json(part->process, session->options->top));
	tpa_json_set(json, "roofline", roofline(part, session->options->top));
	if (tpa_heap_unknown(part->process))
		forget_heap(json_object_get(json, "heap"));
	return json;
}

static void begin_section(const struct part *part, const char *id, const char *title)
{
	fprintf(part->html->out, "<section id=\"p%zu-%s\">\n", part->index, id);
	tpa_html_element(part->html, "h3", NULL, "%s", title);
}

static void put_contents(const struct part *part)
{
	FILE *out = part->html->out;

	fprintf(out, "<nav aria-label=\"Sections\"><a class=\"f\" href=\"#p%zu\">", part->index);
	tpa_html_text(part->html, tpa_program_name(part->process->trace));
	fputs("</a>\n", out);
	fprintf(out, "<a href=\"#p%zu-answers\">Answers</a>\n", part->index);
	if (part->differences)
		fputs("<a href=\"#differences\">What changed</a>\n", out);
	fprintf(out, "<a href=\"#p%zu-explore\">Views</a>\n", part->index);
	for (size_t i = 0; i < SECTIONS; i++)
		if (has(part, &sections[i]))
			fprintf(out, "<a href=\"#p%zu-%s\">%s</a>\n", part->index, sections[i].id, sections[i].label);
	fprintf(out, "<a href=\"#p%zu-notes\">Notes</a></nav>\n", part->index);
}

static void put_notes(const struct part *part)
{
	begin_section(part, "notes", "What limits these numbers, and what was not recorded");
	tpa_html_notes(part->html, part->json);
	fputs("<ul class=\"notes\">\n", part->html->out);
	for (size_t i = 0; i < SECTIONS; i++)
		if (!has(part, &sections[i]) && sections[i].absent)
			tpa_html_element(part->html, "li", NULL, "%s", sections[i].absent);
	tpa_html_element(part->html, "li", NULL, "Trace: %s", part->process->trace->file);
	fputs("</ul>\n</section>\n", part->html->out);
}

static void print_scope(const struct tpa_page *page, const void *session)
{
	struct tpa_session mine = *(const struct tpa_session *)session;

	mine.page = *page;
	tpa_scope_print(&mine);
}

/* What the script needs of the report: not its lists of stacks, which the history has. */
static json_t *report_of(const struct part *part)
{
	static const char *const heap_keys[] = { "peak_bytes", "peak_blocks", "peak_time_ns",	 "end_bytes",
						 "end_blocks", "allocations", "allocated_bytes", "rss_peak_bytes" };
	json_t *heap = json_object(), *report;

	for (size_t i = 0; i < sizeof(heap_keys) / sizeof(heap_keys[0]); i++)
		json_object_set(heap, heap_keys[i], json_object_get(json_object_get(part->json, "heap"), heap_keys[i]));
	report = json_pack("{s:o, s:O?, s:O?, s:O?}", "heap", heap, "answer", json_object_get(part->json, "answer"),
			   "marks", tpa_html_at(part->json, "timeline.marks"), "growth_known",
			   tpa_html_at(part->json, "growth.enough"));
	tpa_json_set(report, "roofline", roofline(part, 0));
	tpa_json_set(report, "searched", json_boolean(tpa_html_at(part->json, "reachability") != NULL));
	return report;
}

/* The places of the answers and the views, and the data that the script fills them with. */
static void write_views(const struct part *part)
{
	json_t *report = report_of(part);

	fprintf(part->html->out,
		"<noscript><p class=\"warn\">The answers, the memory over time and the flame graphs need this page's "
		"script.</p></noscript>\n"
		"<div class=\"answers\" id=\"p%zu-answers\"></div>\n",
		part->index);
	if (part->differences)
		tpa_html_diff(part->html, part->differences, false);
	fprintf(part->html->out, "<section class=\"explore\" id=\"p%zu-explore\"></section>\n", part->index);
	tpa_html_views_data(part->histories, part->index, "data", report, part->html->out);
	json_decref(report);
}

static void write_process(const struct part *part)
{
	fprintf(part->html->out, "<article id=\"p%zu\" data-process=\"%zu\">\n", part->index, part->index);
	if (part->session->run->process_count > 1)
		tpa_html_element(part->html, "h2", NULL, "%s (%s)", tpa_program_name(part->process->trace),
				 tpa_process_number(part->process->trace).text);
	put_contents(part);
	tpa_html_overview(part->html, part->process, part->json);
	tpa_html_quote(part->html, "warn", print_scope, part->session);
	write_views(part);
	for (size_t i = 0; i < SECTIONS; i++) {
		if (!has(part, &sections[i]))
			continue;
		begin_section(part, sections[i].id, sections[i].title);
		sections[i].write(part);
		fputs("</section>\n", part->html->out);
	}
	put_notes(part);
	fputs("</article>\n", part->html->out);
}

static void say_copied(const struct tpa_page *page, const void *context)
{
	struct tpa_session *const *session = context;

	tpa_copied_print(*session, page);
}

static void say_odd(const struct tpa_page *page, const void *context)
{
	struct tpa_session *const *session = context;

	tpa_roles_odd_print(*session, page);
}

static void write_combined(const struct tpa_html *html, struct tpa_session *session)
{
	const struct tpa_html_said said = { .copied = say_copied, .odd = say_odd, .context = &session };
	json_t *json = tpa_json_combined(session->run);

	tpa_json_set(json, "timeline", tpa_timeline_combined_json(session));
	tpa_answer_combined_json(session, json);
	tpa_ops_combined_json(session, json);
	tpa_json_set(json, "roles", tpa_roles_json(session));
	tpa_html_combined(html, session->run, json, &said);
	json_decref(json);
}

static void put_processes(const struct tpa_html *html, const struct tpa_run *run)
{
	fputs("<nav aria-label=\"Processes\">", html->out);
	for (size_t i = 0; i < run->process_count; i++) {
		fprintf(html->out, "<a href=\"#p%zu\">", i);
		tpa_html_print(html, "%s (%s)", tpa_program_name(run->processes[i].trace),
			       tpa_process_number(run->processes[i].trace).text);
		fputs("</a>\n", html->out);
	}
	fputs("</nav>\n", html->out);
}

static void write_ranks(const struct tpa_html *html, struct tpa_session *session)
{
	struct tpa_rank_report *report = tpa_rank_report_new(session);

	if (report)
		tpa_html_ranks(html, &report->view);
	tpa_rank_report_free(report);
}

void tpa_html_page(struct tpa_session *session, const struct tpa_machine *machine,
		   const struct tpa_html_baseline *baseline)
{
	struct tpa_html html = { session->page.out, session->options->exact };
	const struct tpa_run *run = session->run;
	struct tpa_html_histories histories;
	char title[300];

	snprintf(title, sizeof(title), "%.200s: what tprof found", tpa_program_name(run->processes[0].trace));
	tpa_html_begin(&html, title);
	tpa_html_element(&html, "h1", NULL, "%s", title);
	if (run->process_count > 1) {
		put_processes(&html, run);
		write_combined(&html, session);
		write_ranks(&html, session);
	}
	tpa_html_histories_begin(&histories, session);
	for (size_t i = 0; i < run->process_count; i++) {
		struct part part = { &html, session, &histories, i, &run->processes[i], machine, NULL, NULL };

		part.differences = i ? NULL : baseline->differences;
		part.json = json_of(&part);
		write_process(&part);
		json_decref(part.json);
	}
	tpa_html_histories_end(&histories);
	if (baseline->data)
		fputs(baseline->data, html.out);
	tpa_html_foot(&html, "");
	tpa_html_end(&html);
}
