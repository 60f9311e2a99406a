/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of an HTML report, in their order, and what each is made of. */
#include "commands/html_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/growth_report.h"
#include "commands/op_report.h"
#include "commands/site_report.h"
#include "commands/summary.h"
#include "commands/timeline.h"
#include "commands/tree_report.h"

#include "report/export/flame.h"
#include "report/export/roof_svg.h"
#include "report/html/html_process.h"
#include "report/text/coverage.h"
#include "report/text/op_tree_listing.h"
#include "report/text/process_listing.h"
#include "report/text/roof_listing.h"

/* What a section is made of: of one process. */
struct part {
	const struct tp_html *html;
	struct tp_session *session;
	size_t index;
	const struct tp_process *process;
	const struct tp_machine *machine; /* NULL: nothing is known of it */
	json_t *json;
};

/* In the order of the page; one whose list is empty or null is left out, and named at the end with `absent`. */
struct section {
	const char *id, *label, *title, *needs;
	bool (*write)(const struct part *part);
	const char *absent;
};

#define SECTION(name, call)                                                                                            \
	static bool name(const struct part *part)                                                                      \
	{                                                                                                              \
		call;                                                                                                  \
		return true;                                                                                           \
	}
SECTION(write_priorities, tp_html_priorities(part->html, part->json))
SECTION(write_timeline, tp_html_memory_over_time(part->html, part->process, part->json))
SECTION(write_growth, tp_html_growth(part->html, part->json))
SECTION(write_reachability, tp_html_reachability(part->html, part->json))
SECTION(write_unfreed, tp_html_unfreed(part->html, part->json))
SECTION(write_allocations, tp_html_allocations(part->html, part->json))
SECTION(write_ops, tp_html_ops(part->html, part->json))
SECTION(write_steps, tp_html_steps(part->html, part->process, part->json))

static bool write_flame(const struct part *part, enum tp_what what, const char *title)
{
	struct tp_tree *tree = tp_session_tree(part->session, part->index, what, NULL);

	if (!tree)
		return false;
	tp_html_element(part->html, "h4", NULL, "%s", title);
	fputs("<div class=\"scroll\">", part->html->out);
	tp_flame_embed(tree, title, what == TP_WHAT_CPU ? "samples" : "blocks", what == TP_WHAT_CPU, part->html->out);
	fputs("</div>\n", part->html->out);
	tp_html_element(
		part->html, "p", "rest",
		"Stacks that would be narrower than a 2000th of it are left out: tprof-analyze flamegraph has them.");
	tp_tree_free(tree);
	return true;
}

static bool write_peak(const struct part *part)
{
	tp_html_peak(part->html, part->json);
	return write_flame(part, TP_WHAT_PEAK, "all stacks: a box is as wide as what it and its callees held");
}

static bool write_cpu(const struct part *part)
{
	tp_html_cpu(part->html, part->process, part->json);
	return write_flame(part, TP_WHAT_CPU, "all stacks: a box is as wide as its CPU time and its callees'");
}

static bool write_roofline(const struct part *part)
{
	uint32_t cores = tp_roof_cores(part->machine, part->process);
	char title[200];
	size_t count;
	struct tp_roof_place *places = tp_roof_places(part->machine, part->process, &count);

	if (!places)
		return false;
	snprintf(title, sizeof(title), "%.80s, %u of %u cores", part->machine->cpu, cores, part->machine->cores);
	tp_roof_svg_embed(part->machine, cores, places, count, title, part->html->out);
	tp_html_roofline(part->html, part->json);
	free(places);
	return true;
}

static const struct section sections[] = {
	{ "first", "First", "What to do first", "priorities.time", write_priorities, NULL },
	{ "timeline", "Timeline", "Memory over time", "timeline.points", write_timeline, NULL },
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
	const json_t *value = tp_html_at(part->json, section->needs);

	return value && !json_is_false(value) && (!json_is_array(value) || json_array_size(value));
}

/* As peak --by KEY --json has it. */
static bool add_peak_by(struct tp_session *session, size_t index, enum tp_by by, const char *key, json_t *json)
{
	struct tp_rows *rows = tp_session_rows(session, index, by, TP_WHAT_PEAK, "bytes", NULL, session->options->top);
	json_t *sites = NULL, *peak;
	bool good;

	if (rows)
		sites = tp_json_rows(session->run, session->symbols, rows, by, TP_JSON_PEAK, session->options->top);
	peak = sites ? json_pack("{s:o, s:o}", "sites", sites, "sites_total", tp_json_number(rows->count)) : NULL;
	good = peak && json_object_set_new(json, key, peak) == 0;
	tp_rows_free(rows);
	return good;
}

/* As roofline --json has it; nothing where the machine is not known. */
static bool add_roofline(const struct part *part, json_t *json)
{
	size_t count;
	struct tp_roof_place *places = part->machine ? tp_roof_places(part->machine, part->process, &count) : NULL;
	bool good = !part->machine || places;

	if (places)
		json_object_set_new(json, "roofline", tp_roof_json(places, count, part->session->options->top));
	free(places);
	return good;
}

/* Its zeros are no numbers to show where it is not known what was allocated. */
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
	struct tp_session *session = part->session;
	uint64_t top = session->options->top;
	json_t *json = tp_summary_json(session, part->index, part->machine, true);
	bool good = json && json_object_set_new(json, "timeline", tp_timeline_json(session, part->index)) == 0;

	good = good && tp_growth_section_json(session, part->index, json);
	good = good && add_peak_by(session, part->index, TP_BY_LINE, "peak_lines", json);
	good = good && add_peak_by(session, part->index, TP_BY_OP, "peak_ops", json);
	good = good && json_object_set_new(json, "tree", tp_op_tree_json(part->process, top)) == 0;
	good = good && add_roofline(part, json);
	if (good && tp_heap_unknown(part->process))
		forget_heap(json_object_get(json, "heap"));
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

static void put_contents(const struct part *part)
{
	FILE *out = part->html->out;

	fprintf(out, "<nav aria-label=\"Sections\"><a class=\"f\" href=\"#p%zu\">", part->index);
	tp_html_text(part->html, tp_program_name(part->process->trace));
	fputs("</a>\n", out);
	for (size_t i = 0; i < SECTIONS; i++)
		if (has(part, &sections[i]))
			fprintf(out, "<a href=\"#p%zu-%s\">%s</a>\n", part->index, sections[i].id, sections[i].label);
	fprintf(out, "<a href=\"#p%zu-notes\">Notes</a></nav>\n", part->index);
}

static void put_notes(const struct part *part)
{
	begin_section(part, "notes", "What limits these numbers, and what was not recorded");
	tp_html_notes(part->html, part->json);
	fputs("<ul class=\"notes\">\n", part->html->out);
	for (size_t i = 0; i < SECTIONS; i++)
		if (!has(part, &sections[i]) && sections[i].absent)
			tp_html_element(part->html, "li", NULL, "%s", sections[i].absent);
	tp_html_element(part->html, "li", NULL, "Trace: %s", part->process->trace->file);
	fputs("</ul>\n</section>\n", part->html->out);
}

static void print_scope(const struct tp_page *page, const void *session)
{
	struct tp_session mine = *(const struct tp_session *)session;

	mine.page = *page;
	tp_scope_print(&mine);
}

static bool write_process(const struct part *part)
{
	bool good = true;

	fprintf(part->html->out, "<article id=\"p%zu\" data-process=\"%zu\">\n", part->index, part->index);
	if (part->session->run->process_count > 1)
		tp_html_element(part->html, "h2", NULL, "%s (pid %" PRIu32 ")", tp_program_name(part->process->trace),
				part->process->trace->header->pid);
	put_contents(part);
	tp_html_overview(part->html, part->process, part->json);
	tp_html_quote(part->html, "warn", print_scope, part->session);
	for (size_t i = 0; good && i < SECTIONS; i++) {
		if (!has(part, &sections[i]))
			continue;
		begin_section(part, sections[i].id, sections[i].title);
		good = sections[i].write(part);
		fputs("</section>\n", part->html->out);
	}
	put_notes(part);
	fputs("</article>\n", part->html->out);
	return good;
}

static bool write_combined(const struct tp_html *html, struct tp_session *session)
{
	json_t *json = tp_json_combined(session->run);
	bool good = json_object_set_new(json, "timeline", tp_timeline_combined_json(session)) == 0;

	good = good && tp_ops_combined_json(session, json);
	if (good)
		tp_html_combined(html, session->run, json);
	json_decref(json);
	return good;
}

static void put_processes(const struct tp_html *html, const struct tp_run *run)
{
	fputs("<nav aria-label=\"Processes\">", html->out);
	for (size_t i = 0; i < run->process_count; i++) {
		fprintf(html->out, "<a href=\"#p%zu\">", i);
		tp_html_print(html, "%s (%" PRIu32 ")", tp_program_name(run->processes[i].trace),
			      run->processes[i].trace->header->pid);
		fputs("</a>\n", html->out);
	}
	fputs("</nav>\n", html->out);
}

bool tp_html_page(struct tp_session *session, const struct tp_machine *machine)
{
	struct tp_html html = { session->page.out, session->options->exact };
	const struct tp_run *run = session->run;
	bool good = true;
	char title[300];

	snprintf(title, sizeof(title), "%.200s: what tprof found", tp_program_name(run->processes[0].trace));
	tp_html_begin(&html, title);
	tp_html_element(&html, "h1", NULL, "%s", title);
	if (run->process_count > 1) {
		put_processes(&html, run);
		good = write_combined(&html, session);
	}
	for (size_t i = 0; good && i < run->process_count; i++) {
		struct part part = { &html, session, i, &run->processes[i], machine, NULL };

		part.json = json_of(&part);
		good = part.json && write_process(&part);
		json_decref(part.json);
	}
	tp_html_element(
		&html, "footer", NULL,
		"Written by tprof-analyze " TPROF_VERSION_STRING
		". Sizes are powers of 1024. A click on a column's head sorts; point at a picture for its values.");
	tp_html_end(&html);
	return good;
}
