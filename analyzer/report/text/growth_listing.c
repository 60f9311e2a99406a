/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/growth_listing.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/rows/known_caches.h"
#include "report/text/coverage.h"
#include "report/text/holder_listing.h"
#include "report/text/name.h"

#define LINES_MOST 5 /* most lines of a leak */

struct tpa_text tpa_growth_rate(const struct tpa_growth_view *view, double rate)
{
	if (fabs(rate) < 999.5 && rate != floor(rate))
		return tpa_text_of("%.3g B", rate);
	return tpa_signed_bytes(llround(rate), view->listing.page->exact);
}

/* Blocks per second may be thousands, blocks per step a few hundredths. */
static struct tpa_text plain_number(double value)
{
	return fabs(value) >= 999.5 ? tpa_count(tpa_round(value)) : tpa_text_of("%.3g", value);
}

const char *tpa_growth_unit(const struct tpa_growth_stats *stats)
{
	return stats->seconds ? "second" : "step";
}

struct tpa_text tpa_growth_place(const struct tpa_growth_stats *stats, uint64_t place)
{
	return stats->seconds ? tpa_time(place - stats->begin) : tpa_text_of("step %s", tpa_count(place).text);
}

static struct tpa_text age_text(const struct tpa_growth_stats *stats, uint64_t born)
{
	uint64_t age = stats->last > born ? stats->last - born : 0;

	return stats->seconds ? tpa_time(age) : tpa_text_of("%s step%s", tpa_count(age).text, tpa_plural(age));
}

const char *tpa_growth_group_name(const struct tpa_growth_view *view, const struct tpa_growth_group *group, char *text,
				  size_t size)
{
	const struct tpa_trace *trace = view->listing.run->processes[view->process].trace;
	char name[400], place[700];
	const char *named, *placed;

	if (view->listing.by == TPA_BY_OP)
		return group->op ? tpa_short_name(view->listing.page, group->op, 80, text, size)
				 : "(outside of every op)";
	if (!group->line.location)
		return "(stack not recorded)";
	if (view->listing.by == TPA_BY_MODULE)
		return group->line.symbol->path[0] ? group->line.symbol->path : "(no module)";
	named = tpa_line_name(&group->line, name, sizeof(name));
	placed = tpa_line_place(&group->line, trace->cwd, place, sizeof(place));
	if (view->listing.by == TPA_BY_LINE)
		snprintf(text, size, "%s (%s)", placed, named);
	else
		snprintf(text, size, "%s (%s)", named, group->line.symbol->module);
	return text;
}

/* ---- one leak ---- */

static void print_ages(const struct tpa_growth_view *view, const struct tpa_growth_site *site)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_page *page = view->listing.page;

	if (!site->typical)
		return;
	fprintf(page->out, "        typically %s; born in %s to %s", tpa_bytes(site->typical, page->exact).text,
		tpa_growth_place(stats, site->born[0]).text, tpa_growth_place(stats, site->born[2]).text);
	fprintf(page->out, ", half of them more than %s old\n", age_text(stats, site->born[1]).text);
}

/* Prints a group of stacks, and the stack in it that grew most. */
static void print_group(const struct tpa_growth_view *view, const struct tpa_growth_site *site)
{
	const struct tpa_growth_group *group = &view->pooled->groups[site->number];
	const struct tpa_page *page = view->listing.page;
	char text[1200];

	fputs("        ", page->out);
	tpa_print(page, TPA_STYLE_FUNCTION, "%s: ", tpa_growth_group_name(view, group, text, sizeof(text)));
	fprintf(page->out, "%u stack%s", site->members, site->members == 1 ? "" : "s");
	if (site->blocks && !view->listing.run->processes[view->process].estimated)
		fprintf(page->out, ", blocks of %s on average",
			tpa_bytes(site->bytes / site->blocks, page->exact).text);
	fputs(site->members == 1 ? "\n" : "; the one that grew most:\n", page->out);
	tpa_listing_print_stack(&view->listing, view->process, site->node);
}

/* ", typically 200 B, born in step 1 to step 300" */
static void print_births(const struct tpa_growth_view *view, const struct tpa_growth_site *site)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_page *page = view->listing.page;

	if (site->typical)
		fprintf(page->out, ", typically %s, born in %s to %s", tpa_bytes(site->typical, page->exact).text,
			tpa_growth_place(stats, site->born[0]).text, tpa_growth_place(stats, site->born[2]).text);
}

/* Prints the stacks that were merged because they are alike. */
static void print_alike(const struct tpa_growth_view *view, const struct tpa_growth_site *site)
{
	enum tpa_language language = tpa_symbols_options(view->listing.symbols[view->process])->language;
	const struct tpa_page *page = view->listing.page;

	fprintf(page->out, "        %s %s%s", tpa_count(site->members).text,
		language == TPA_LANGUAGE_PYTHON ? "native stacks" : "stacks",
		site->renewed ? " that differ in names made anew" : " that look the same");
	print_births(view, site);
	fputs("; the one that grew most:\n", page->out);
}

static void print_rate(const struct tpa_growth_view *view, const struct tpa_growth_site *site, size_t number)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_page *page = view->listing.page;

	fprintf(page->out, "\n%4zu. ", number);
	tpa_print(page, TPA_STYLE_NUMBER, "%s a %s", tpa_growth_rate(view, site->rate).text, tpa_growth_unit(stats));
	fprintf(page->out, " (95%% interval %s to ", tpa_growth_rate(view, site->low).text);
	fprintf(page->out, "%s)", tpa_growth_rate(view, site->high).text);
}

/* Prints what remained at the end. A leak may be freed there, though it was live at the last look. */
static void print_left(const struct tpa_growth_view *view, const struct tpa_growth_site *site)
{
	const struct tpa_page *page = view->listing.page;

	if (site->left >= site->bytes / 2)
		return;
	fputs(", freed on the program's way out", page->out);
	if (site->left)
		fprintf(page->out, ", all but %s", tpa_bytes(site->left, page->exact).text);
}

static void print_mapped(const struct tpa_growth_view *view, const struct tpa_finding *finding)
{
	const struct tpa_growth_site *site = &finding->site;
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_page *page = view->listing.page;
	const char *holder =
		tpa_holder_name(tpa_mapping_holder(&view->listing.run->processes[view->process],
						   view->listing.symbols[view->process], site->node, site->file));

	fprintf(page->out, " of %s; %s by %s, since ", site->file ? "files mapped" : "address space, by mmap",
		tpa_bytes(site->bytes, page->exact).text, tpa_growth_place(stats, stats->last).text);
	fputs(tpa_growth_place(stats, site->since).text, page->out);
	if (!finding->arenas)
		print_left(view, site);
	fputc('\n', page->out);
	if (holder)
		tpa_print(page, TPA_STYLE_DIM, "        held by %s\n", holder);
}

static void print_blocks(const struct tpa_growth_view *view, const struct tpa_growth_site *site)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_page *page = view->listing.page;

	if (view->listing.run->processes[view->process].estimated) /* sampled runs have too few blocks to count */
		fprintf(page->out, "; about %s by %s, since %s", tpa_bytes(site->bytes, page->exact).text,
			tpa_growth_place(stats, stats->last).text, tpa_growth_place(stats, site->since).text);
	else
		fprintf(page->out, ", %s block%s; %s in %s block%s by %s, since %s",
			plain_number(site->block_rate).text, site->block_rate == 1 ? "" : "s",
			tpa_bytes(site->bytes, page->exact).text, tpa_count(site->blocks).text,
			site->blocks == 1 ? "" : "s", tpa_growth_place(stats, stats->last).text,
			tpa_growth_place(stats, site->since).text);
}

static void print_pooled(const struct tpa_growth_view *view, const struct tpa_growth_site *site, size_t number)
{
	print_rate(view, site, number);
	print_blocks(view, site);
	fputc('\n', view->listing.page->out);
	print_group(view, site);
}

/* Prints the other lines of a leak; the first one's stack is shown. */
static void print_lines(const struct tpa_growth_view *view, const struct tpa_finding *finding)
{
	const struct tpa_page *page = view->listing.page;
	char text[1200];

	fprintf(page->out, "        %s stacks leak together", tpa_count(finding->site.members).text);
	print_births(view, &finding->site);
	fputs(finding->line_count > 1 ? ", from these lines:\n" : "; the one that grew most:\n", page->out);
	for (size_t i = 0; finding->line_count > 1 && i < finding->line_count && i < LINES_MOST; i++)
		fprintf(page->out, "          %s a %s from %s\n", tpa_growth_rate(view, finding->lines[i].rate).text,
			tpa_growth_unit(tpa_growth_stats_of(view)),
			tpa_finding_place(view, &finding->lines[i].line, 0, text, sizeof(text)));
	if (finding->line_count > LINES_MOST)
		fprintf(page->out, "          and from %zu more lines\n", finding->line_count - LINES_MOST);
	if (finding->line_count > 1)
		fputs("        the stack that grew most:\n", page->out);
}

static void print_leak(const struct tpa_growth_view *view, const struct tpa_finding *finding, size_t number)
{
	const struct tpa_process *process = &view->listing.run->processes[view->process];
	const struct tpa_growth_site *site = &finding->site;
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_page *page = view->listing.page;
	const char *op = tpa_process_op_name(process, site->op);
	char shorter[400];

	print_rate(view, site, number);
	if (finding->mapped) {
		print_mapped(view, finding);
	} else {
		print_blocks(view, site);
		print_left(view, site);
		fputc('\n', page->out);
	}
	if (site->recent > 0)
		tpa_print(page, TPA_STYLE_WARN, "        it accelerates: %s a %s of late\n",
			  tpa_growth_rate(view, site->recent).text, tpa_growth_unit(stats));
	if (site->factor > 0)
		fprintf(page->out,
			"        a table that becomes %.3g times as large when it is full, next at about %s\n",
			site->factor, tpa_growth_place(stats, site->next).text);
	if (!finding->mapped && site->members < 2)
		print_ages(view, site);
	if (op && !finding->mapped)
		tpa_print(page, TPA_STYLE_DIM, "        in op %s\n",
			  tpa_short_name(page, op, 80, shorter, sizeof(shorter)));
	if (finding->arenas) {
		tpa_print(page, TPA_STYLE_DIM, "        " TPA_ARENAS_HINT "\n");
		return;
	}
	if (finding->series > 1)
		print_lines(view, finding);
	else if (!finding->mapped && site->members > 1)
		print_alike(view, site);
	tpa_holder_print_line(&view->listing, view->process, site->node, site->op);
	tpa_listing_print_stack(&view->listing, view->process, site->node);
}

/* ---- the process ---- */

/* Rate of all leaks together; uses the recent rate of those that accelerate. */
static double leak_rate_now(const struct tpa_growth_view *view)
{
	const struct tpa_growth_list *list = tpa_growth_listed(view);
	double rate = list->leak_rate;

	for (size_t i = 0; i < list->leaks; i++)
		rate += list->list[i].recent > list->list[i].rate ? list->list[i].recent - list->list[i].rate : 0;
	return rate;
}

/* Prints when the process reaches its limit at the rate of its leaks. */
static void print_limit(const struct tpa_growth_view *view)
{
	const struct tpa_process *process = &view->listing.run->processes[view->process];
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_page *page = view->listing.page;
	int64_t size = stats->rss.last > stats->live.last ? stats->rss.last : stats->live.last;
	double rate = leak_rate_now(view), left = (double)view->limit - (double)size, steps;
	double whole = stats->rss.recent > stats->rss.rate ? stats->rss.recent : stats->rss.rate;

	if (stats->rss.verdict == TPA_VERDICT_LEAK && whole > rate)
		rate = whole; /* includes growth that no malloc stack explains */
	if (!view->limit || !(rate > 0))
		return;
	steps = left / rate;
	if (left <= 0) {
		tpa_print(page, TPA_STYLE_WARN, "\n%s are reached already\n", tpa_bytes(view->limit, page->exact).text);
		return;
	}
	tpa_print(page, TPA_STYLE_WARN, "\nat %s a %s, %s are reached in ", tpa_growth_rate(view, rate).text,
		  tpa_growth_unit(stats), tpa_bytes(view->limit, page->exact).text);
	if (stats->seconds)
		tpa_print(page, TPA_STYLE_WARN, "%s", tpa_time(tpa_round(steps * 1e9)).text);
	else
		tpa_print(page, TPA_STYLE_WARN, "%s steps, some %s", tpa_count(tpa_round(steps)).text,
			  tpa_time(tpa_round(steps * process->steps.durations.mean)).text);
	fputc('\n', page->out);
}

/* Prints stacks that grow steadily only in sum: none of them is a leak alone. */
static void print_steady(const struct tpa_growth_view *view)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);

	if (view->pooled || stats->others.verdict != TPA_VERDICT_LEAK)
		return;
	tpa_print(view->listing.page, TPA_STYLE_WARN,
		  "  together these grow steadily, %s a %s (95%% interval %s to %s): new stacks keep coming; --by "
		  "function or line shows what they have in common\n",
		  tpa_growth_rate(view, stats->others.rate).text, tpa_growth_unit(stats),
		  tpa_growth_rate(view, stats->others.low).text, tpa_growth_rate(view, stats->others.high).text);
}

/* Prints work that grows: each step frees what the previous one held, and needs more. */
static void print_work(const struct tpa_growth_view *view)
{
	const struct tpa_growth_list *list = tpa_growth_listed(view);
	const struct tpa_growth_site *largest = NULL;
	const struct tpa_page *page = view->listing.page;
	uint64_t most = 0;
	double rate = 0;
	char text[600];

	for (size_t i = list->leaks; list->replaced && i < list->count; i++) {
		const struct tpa_growth_site *site = &list->list[i];

		if (site->verdict != TPA_VERDICT_WORK)
			continue;
		most += site->most;
		rate += site->rate;
		largest = largest ? largest : site;
	}
	if (!largest)
		return;
	tpa_listing_describe(&view->listing, view->process, largest->node, 60, text, sizeof(text));
	fprintf(page->out,
		"  %zu stack%s with the work, by %s a step: no leak, as each block is freed within some steps, but "
		"later "
		"steps need more (larger inputs, longer sequences): %s at most, %s of it by %s\n",
		list->replaced, list->replaced == 1 ? " grows" : "s grow", tpa_growth_rate(view, rate).text,
		tpa_bytes(most, page->exact).text, tpa_bytes(largest->most, page->exact).text, text);
}

/* Groups contain only leaks. */
static void print_others(const struct tpa_growth_view *view)
{
	const struct tpa_growth_list *list = tpa_growth_listed(view);
	const struct tpa_page *page = view->listing.page;
	static const struct {
		enum tpa_verdict verdict;
		const char *words;
	} kinds[] = { { TPA_VERDICT_WARM_UP, "grew and stopped (warm-up)" },
		      { TPA_VERDICT_SAWTOOTH, "filled and emptied again and again (sawtooth)" },
		      { TPA_VERDICT_BURST, "rose for a short time, or in a jump (burst)" } };
	char text[600];

	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		const struct tpa_growth_site *largest = NULL;
		uint64_t most = 0;
		size_t count = 0;

		for (size_t i = list->leaks; i < list->count; i++) {
			const struct tpa_growth_site *site = &list->list[i];

			if (site->verdict != kinds[k].verdict)
				continue;
			count++;
			most += site->most;
			largest = largest ? largest : site; /* the list is sorted by size */
		}
		if (!largest)
			continue;
		tpa_listing_describe(&view->listing, view->process, largest->node, 60, text, sizeof(text));
		fprintf(page->out, "  %zu stack%s that %s: %s at most, %s of it by %s\n", count, count == 1 ? "" : "s",
			kinds[k].words, tpa_bytes(most, page->exact).text, tpa_bytes(largest->most, page->exact).text,
			text);
	}
}

static void print_basis(const struct tpa_page *page)
{
	tpa_print(page, TPA_STYLE_DIM, "  the chance of any false one among these rows (a false alarm) is under 5%%\n");
}

/*
 * No leak is certain. All live blocks form one series, which needs no correction for multiple tests, so their growth
 * may be certain.
 */
static void print_none(const struct tpa_growth_view *view)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_growth_list *list = tpa_growth_listed(view);
	const struct tpa_page *page = view->listing.page;

	if (tpa_growth_unknown(view))
		fputs("  no allocation was recorded\n", page->out);
	else if (stats->live.verdict == TPA_VERDICT_LEAK && !stats->heap.replaced)
		fprintf(page->out, "  no %s grows for sure, but live blocks together do: %s a %s%s\n",
			view->pooled ? tpa_growth_series(view) : "stack", tpa_growth_rate(view, stats->live.rate).text,
			tpa_growth_unit(stats), view->pooled ? "" : "; --by function, line or op may tell more");
	else if (!tpa_trend_can_tell(stats->looks, view->pooled ? view->pooled->varying : stats->varying))
		fprintf(page->out,
			"  too short a run to tell: from %zu looks nothing can be sure to, among so many %ss\n",
			stats->looks, tpa_growth_series(view));
	else if (list->rising)
		fputs("  nothing is sure to\n", page->out);
	else
		fputs("  nothing does\n", page->out);
}

static void print_hidden(const struct tpa_growth_view *view, size_t hidden, const char *what)
{
	if (hidden)
		tpa_print(view->listing.page, TPA_STYLE_DIM, "\n      and %zu more%s%s (--top 0 shows all)\n", hidden,
			  what, *what && hidden > 1 ? "s" : "");
}

/* Prints leaks that occur once in many steps, and caches that may still be filling. --by doesn't group these. */
static void print_rising(const struct tpa_growth_view *view, const struct tpa_findings *findings)
{
	const struct tpa_page *page = view->listing.page;
	uint64_t top = view->listing.top;
	size_t count = findings->count - findings->leaks, shown = top && top < count ? (size_t)top : count;

	if (!count)
		return;
	tpa_headline(page,
		     "What may leak: it rose too rarely to be told from chance, rises ever more slowly, or is replaced "
		     "all the time");
	for (size_t i = 0; i < shown; i++)
		print_leak(view, &findings->list[findings->leaks + i], i + 1);
	print_hidden(view, count - shown, "");
	fputc('\n', page->out);
}

/* A line may leak several kinds of block, each its own stack: prints their sum before the list. */
static void print_sum(const struct tpa_growth_view *view)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_growth_list *list = tpa_growth_listed(view);
	size_t shown = 0;
	double rate = 0;

	for (size_t i = 0; i < list->leaks; i++) {
		if (!view->pooled && !tpa_growth_shown(view, list->list[i].node))
			continue;
		shown++;
		rate += list->list[i].rate;
	}
	if (shown > 1)
		fprintf(view->listing.page->out, "  %zu %ss do, %s a %s together%s\n", shown, tpa_growth_series(view),
			tpa_growth_rate(view, rate).text, tpa_growth_unit(stats),
			view->pooled ? ""
				     : "; --by line adds up what a line leaks, --exact lists each stack by itself");
}

/* Prints the groups of --by. Returns their number. */
static size_t print_groups(const struct tpa_growth_view *view)
{
	const struct tpa_growth_list *list = tpa_growth_listed(view);
	uint64_t top = view->listing.top;
	size_t shown = top && top < list->leaks ? (size_t)top : list->leaks;
	char what[40];

	for (size_t i = 0; i < shown; i++)
		print_pooled(view, &list->list[i], i + 1);
	snprintf(what, sizeof(what), " %s", tpa_growth_series(view));
	print_hidden(view, list->leaks - shown, what);
	return list->leaks;
}

/* Prints the table of leaks, then each with its stack. Returns their number. */
static size_t print_leaks(const struct tpa_growth_view *view, const struct tpa_findings *findings)
{
	uint64_t top = view->listing.top;
	size_t shown = top && top < findings->leaks ? (size_t)top : findings->leaks;

	if (view->pooled)
		return print_groups(view);
	if (findings->leaks)
		tpa_findings_print(view, findings, top);
	for (size_t i = 0; i < shown; i++)
		print_leak(view, &findings->list[i], i + 1);
	print_hidden(view, findings->leaks - shown, " leak");
	return findings->leaks;
}

static void print_verdicts(const struct tpa_growth_view *view, const struct tpa_findings *findings)
{
	size_t printed;

	print_sum(view);
	printed = print_leaks(view, findings);
	if (!printed)
		print_none(view);
	else
		fputc('\n', view->listing.page->out);
	if (printed || !tpa_growth_unknown(view)) /* looks without data prove nothing */
		print_basis(view->listing.page);
	print_rising(view, findings);
	print_work(view);
	print_others(view);
	print_steady(view);
	print_limit(view);
	tpa_growth_print_parts(view);
}

void tpa_growth_print(const struct tpa_growth_view *view)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_page *page = view->listing.page;
	struct tpa_findings findings = { 0 };

	if (!stats->looks)
		return;
	tpa_headline(page, "%s%s%s",
		     stats->seconds ? "What grows with time (the trace has no steps: tprof_step() marks them)"
				    : "What leaks: it grows step after step, to the end of the run",
		     view->pooled ? ": put together by " : "", view->pooled ? tpa_growth_series(view) : "");
	if (stats->looks < TPA_TREND_LEAST) {
		fputs("  too short a run to tell\n", page->out);
		return;
	}
	if (!view->pooled)
		tpa_findings_find(&findings, view, page->exact);
	print_verdicts(view, &findings);
	tpa_findings_free(&findings);
}

void tpa_growth_print_short(const struct tpa_growth_view *view)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	struct tpa_findings findings;

	if (!stats->heap.leaks && !stats->maps.leaks)
		return;
	tpa_findings_find(&findings, view, false);
	if (findings.leaks) {
		tpa_headline(view->listing.page, "%s",
			     stats->seconds ? "What grows with time, to the end of the run"
					    : "What leaks: it grows step after step, to the end of the run");
		tpa_findings_print(view, &findings, view->listing.top);
	}
	tpa_findings_free(&findings);
}
