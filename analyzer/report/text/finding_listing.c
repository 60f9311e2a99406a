/* SPDX-License-Identifier: Apache-2.0 */
/* A table of leaks, one line each. */
#include <inttypes.h>
#include <string.h>

#include "report/rows/holder_rows.h"
#include "report/rows/process_facts.h"
#include "report/text/bar.h"
#include "report/text/growth_listing.h"

#define PINNED_LEAST (UINT64_C(1) << 20)
#define PLACE_LEAST 24 /* columns: the minimum width of a place */

const char *tpa_finding_place(const struct tpa_growth_view *view, const struct tpa_line *line, int columns, char *text,
			      size_t size)
{
	const struct tpa_trace *trace = view->listing.run->processes[view->process].trace;
	const struct tpa_page *page = view->listing.page;
	char name[400], place[700], shorter[700];
	const char *named;
	int left;

	if (!line->location) {
		snprintf(text, size, "(stack not recorded)");
		return text;
	}
	named = tpa_line_name(line, name, sizeof(name));
	tpa_line_place(line, trace->cwd, place, sizeof(place));
	left = columns - (int)strlen(named) - 3;
	if (columns)
		tpa_shorten(page, place, left > PLACE_LEAST ? left : PLACE_LEAST, shorter, sizeof(shorter));
	snprintf(text, size, "%s (%s)", columns ? shorter : place, named);
	return text;
}

/* "49 blocks of 160 B" */
static void describe_blocks(const struct tpa_growth_view *view, const struct tpa_finding *finding, char *text,
			    size_t size)
{
	const struct tpa_growth_site *site = &finding->site;
	const struct tpa_page *page = view->listing.page;

	if (finding->mapped)
		snprintf(text, size, "%s", site->file ? "mapped file" : "mmap");
	else if (view->listing.run->processes[view->process].estimated || !(site->block_rate > 0))
		snprintf(text, size, "%s", site->blocks > 1 || !site->blocks ? "blocks" : "one block that grows");
	else if (site->block_rate >= 1000)
		snprintf(text, size, "%s of %s", tpa_count(tpa_round(site->block_rate)).text,
			 tpa_bytes(tpa_round(site->rate / site->block_rate), page->exact).text);
	else
		snprintf(text, size, "%.3g of %s", site->block_rate,
			 tpa_bytes(tpa_round(site->rate / site->block_rate), page->exact).text);
}

/* "3 h 12 min": the time until the process reaches its memory limit. */
static void describe_left(const struct tpa_growth_view *view, const struct tpa_finding *finding, char *text,
			  size_t size)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_process *process = &view->listing.run->processes[view->process];
	int64_t now = stats->rss.last > stats->live.last ? stats->rss.last : stats->live.last;
	double left = tpa_finding_left(finding, (double)now, (double)view->limit);

	if (left <= 0)
		snprintf(text, size, "%s", left < 0 ? "never" : "reached");
	else if (stats->seconds)
		snprintf(text, size, "%s", tpa_time(tpa_round(left * 1e9)).text);
	else
		snprintf(text, size, "%.30s steps, %.30s", tpa_count(tpa_round(left)).text,
			 tpa_time(tpa_round(left * process->steps.durations.mean)).text);
}

static void add_row(const struct tpa_growth_view *view, struct tpa_table *table, const struct tpa_finding *finding)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_growth_site *site = &finding->site;
	const struct tpa_page *page = view->listing.page;
	char text[1300], place[1200];

	tpa_cell(table, TPA_STYLE_NUMBER, tpa_growth_rate(view, site->rate));
	tpa_cell(
		table, TPA_STYLE_PLAIN,
		tpa_text_of("%s to %s", tpa_growth_rate(view, site->low).text, tpa_growth_rate(view, site->high).text));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_bytes(site->bytes, page->exact));
	if (page->bars)
		tpa_cell(table, TPA_STYLE_DIM, tpa_curve(page, finding->curve, finding->curve ? stats->looks : 0));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_growth_place(stats, site->since));
	if (view->limit) {
		describe_left(view, finding, text, sizeof(text));
		tpa_table_add(table, TPA_STYLE_PLAIN, text);
	}
	describe_blocks(view, finding, text, sizeof(text));
	tpa_table_add(table, TPA_STYLE_PLAIN, text);
	if (finding->arenas) {
		tpa_table_add(table, TPA_STYLE_FUNCTION, TPA_ARENAS_NAME);
		return;
	}
	tpa_finding_place(view, &finding->lines[0].line, page->width - 65 - (page->bars ? TPA_BAR_COLUMNS + 2 : 0),
			  place, sizeof(place));
	if (site->members > 1)
		snprintf(text, sizeof(text), "%s; %u stacks", place, site->members);
	tpa_table_add(table, TPA_STYLE_FUNCTION, site->members > 1 ? text : place);
}

/* "train.py:15", in `text` */
static const char *file_place(const struct tpa_growth_view *view, const struct tpa_line *line, char *text, size_t size)
{
	if (!line->location)
		return "(stack not recorded)";
	return tpa_file_name(tpa_line_place(line, view->listing.run->processes[view->process].trace->cwd, text, size));
}

/* Do its blocks keep more free memory from being returned than they hold themselves? */
static bool pins_more(const struct tpa_finding *finding)
{
	const struct tpa_pinned *pinned = &finding->pinned;

	return pinned->known && pinned->rate >= finding->site.rate && pinned->bytes >= PINNED_LEAST;
}

/* Prints the free memory that a leak's blocks pin, if it is more than the blocks themselves. */
static void print_pinned(const struct tpa_growth_view *view, const struct tpa_finding *finding)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_pinned *pinned = &finding->pinned;
	const struct tpa_page *page = view->listing.page;
	double all = pinned->rate + finding->site.rate;
	const struct tpa_line *line = &finding->lines[0].line;
	char place[700];

	if (!pins_more(finding) || !line->location)
		return;
	tpa_print(page, TPA_STYLE_WARN,
		  "  %s: the free memory between its blocks can't be returned, and grows, too: by %s a %s, %s so far",
		  file_place(view, line, place, sizeof(place)), tpa_growth_rate(view, pinned->rate).text,
		  tpa_growth_unit(stats), tpa_bytes(pinned->bytes, page->exact).text);
	if (stats->rss.rate > 0 && stats->rss.rate > all / 2)
		tpa_print(page, TPA_STYLE_WARN, "; together %.0f%% of RSS's growth",
			  all < stats->rss.rate ? 100 * all / stats->rss.rate : 100.0);
	fputc('\n', page->out);
}

void tpa_findings_print(const struct tpa_growth_view *view, const struct tpa_findings *findings, uint64_t top)
{
	const char *unit = tpa_growth_unit(tpa_growth_stats_of(view));
	const struct tpa_page *page = view->listing.page;
	size_t shown = top && top < findings->leaks ? (size_t)top : findings->leaks;
	struct tpa_table *table;
	char titles[200], limit[60] = "";

	if (view->limit)
		snprintf(limit, sizeof(limit), ">%.40s in|", tpa_bytes(view->limit, page->exact).text);
	snprintf(titles, sizeof(titles), ">a %s|>95%% interval|>so far|%ssince|%sblocks|where", unit,
		 page->bars ? "|" : "", limit);
	table = tpa_table_new(titles);
	for (size_t i = 0; i < shown; i++)
		add_row(view, table, &findings->list[i]);
	tpa_table_end(table, page);
	for (size_t i = 0; i < shown; i++)
		print_pinned(view, &findings->list[i]);
}

/* Prints why no leak is listed. */
static void print_no_leak(const struct tpa_growth_view *view)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_page *page = view->listing.page;

	if (tpa_growth_unknown(view))
		fputs("  not known: no allocation was recorded\n", page->out);
	else if (!tpa_findings_enough(view))
		fputs("  not known: the run was too short to tell\n", page->out);
	else if (stats->seconds)
		fprintf(page->out, "  none found: no place's memory kept growing in %s\n",
			tpa_growth_place(stats, stats->last).text);
	else
		fprintf(page->out, "  none found: no place's memory kept growing in %s steps\n",
			tpa_count(stats->last).text);
}

/* Prints the holders, or how to find them: with a search at a step, as the program may free much before the end. */
static void print_holders(const struct tpa_growth_view *view, const struct tpa_findings *findings, size_t shown)
{
	const struct tpa_process *process = &view->listing.run->processes[view->process];
	const struct tpa_page *page = view->listing.page;
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	char place[700], holder[1200], shorter[1200];
	const char *name;
	bool any = false, blocks = false;

	for (size_t i = 0; i < shown; i++) {
		const struct tpa_finding *finding = &findings->list[i];

		blocks |= !finding->arenas;
		if (finding->arenas || !tpa_holder_text(process->trace, view->listing.symbols[view->process],
							finding->site.node, finding->site.op, holder, sizeof(holder)))
			continue;
		name = file_place(view, &finding->lines[0].line, place, sizeof(place));
		fprintf(page->out, "  %s is held by %s\n", name,
			tpa_shorten(page, holder, page->width - 16 - tpa_text_columns(page, name), shorter,
				    sizeof(shorter)));
		any = true;
	}
	if (!blocks || any)
		return;
	if (!stats->seconds && process->steps.source == TPA_STEPS_MARKED)
		tpa_print(page, TPA_STYLE_DIM, "  record with TPROF_LEAKCHECK=step:%" PRIu64 " to see who holds it\n",
			  stats->last);
	else
		tpa_print(page, TPA_STYLE_DIM, "  `tprof ctl PID holders`, while it runs, finds who holds it\n");
}

/* Prints a note on arenas: they don't show the objects in them. */
static void print_arenas(const struct tpa_growth_view *view, const struct tpa_findings *findings)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_page *page = view->listing.page;

	for (size_t i = 0; i < findings->count; i++) {
		const struct tpa_growth_site *site = &findings->list[i].site;

		if (!findings->list[i].arenas)
			continue;
		if (site->verdict == TPA_VERDICT_RISING)
			fprintf(page->out, "  " TPA_ARENAS_NAME " may leak: %s more since %s\n",
				tpa_bytes((uint64_t)site->grown, page->exact).text,
				tpa_growth_place(stats, site->since).text);
		tpa_print(page, TPA_STYLE_DIM, "  " TPA_ARENAS_HINT "\n");
	}
}

void tpa_findings_answer_print(const struct tpa_growth_view *view)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_page *page = view->listing.page;
	struct tpa_findings findings = { NULL };
	uint64_t top = view->listing.top;
	size_t shown;

	if (tpa_findings_enough(view))
		tpa_findings_find(&findings, view, false);
	shown = top && top < findings.leaks ? (size_t)top : findings.leaks;
	if (!findings.leaks)
		tpa_headline(page, "Leaks");
	else
		tpa_headline(page, "Leaks: %s place%s that grow%s with every %s, and had not stopped",
			     tpa_count(findings.leaks).text, tpa_plural(findings.leaks), findings.leaks == 1 ? "s" : "",
			     stats->seconds ? "second" : "step");
	if (findings.leaks)
		tpa_findings_print(view, &findings, top);
	else
		print_no_leak(view);
	print_holders(view, &findings, shown);
	print_arenas(view, &findings);
	if (findings.count > findings.leaks)
		tpa_print(page, TPA_STYLE_DIM, "  %s more may leak\n", tpa_count(findings.count - findings.leaks).text);
	tpa_findings_free(&findings);
}

void tpa_findings_brief_print(const struct tpa_growth_view *view)
{
	const struct tpa_process *process = &view->listing.run->processes[view->process];
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_page *page = view->listing.page;
	const struct tpa_finding *first;
	struct tpa_findings findings;
	char text[1200];

	tpa_findings_find(&findings, view, false);
	first = findings.list;
	fprintf(page->out, "%s a %s", tpa_growth_rate(view, first->site.rate).text, tpa_growth_unit(stats));
	if (pins_more(first))
		fprintf(page->out, ", and %s of free memory between its blocks,",
			tpa_growth_rate(view, first->pinned.rate).text);
	if (first->arenas)
		fputs(" by " TPA_ARENAS_NAME, page->out);
	else
		fprintf(page->out, " at %s",
			tpa_finding_place(view, &first->lines[0].line, page->width / 2, text, sizeof(text)));
	if (!first->arenas && tpa_holder_text(process->trace, view->listing.symbols[view->process], first->site.node,
					      first->site.op, text, sizeof(text)))
		fprintf(page->out, ", held by %s", text);
	if (findings.leaks > 1)
		fprintf(page->out, "; %zu more", findings.leaks - 1);
	tpa_findings_free(&findings);
}
