/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "model/growth/same_stacks.h"
#include "report/rows/known_caches.h"
#include "report/rows/own_code.h"

#define FRAMES_MAX 4096
#define POINTERS_MOST                                                                                                  \
	5.0 /* words per block in a table of blocks: a pointer, or an entry of a dict or std::function; and spare room */
#define WRAPPERS_MAX 4 /* functions that only pass memory on, each called by the next */

/* A stack that leaks or may leak. */
struct suspect {
	const struct tpa_growth_site *site;
	bool mapped;
	struct tpa_line line; /* the place of the leak, in the user's own code */
	char *place;	      /* its text, with generated parts of names masked */
	struct tpa_line *own; /* all own lines of the stack, innermost first */
	size_t own_count;
	size_t leader; /* index of an earlier suspect of the same finding; the first one has its own */
	bool array;    /* it is a table of another suspect's blocks, whose place is the finding's */
};

struct finder {
	const struct tpa_growth_view *view;
	const struct tpa_process *process;
	struct suspect *list;
	size_t count;
};

/* ---- the user's own line ---- */

/*
 * Reads all lines that the user wrote; if there are none, the innermost Python line or the line that memory is put
 * down to.
 */
static void read_own(const struct finder *finder, struct suspect *suspect)
{
	struct tpa_symbols *symbols = finder->view->listing.symbols[finder->view->process];
	struct tpa_stack stack = { NULL };
	const struct tpa_line *python = NULL, *fallback;

	tpa_stack_read(&stack, finder->process->trace, symbols, suspect->site->node);
	suspect->own = tpa_zalloc(stack.count + 1, sizeof(*suspect->own));
	for (size_t i = stack.first; i < stack.last; i++) {
		if (tpa_line_is_own(&stack, &stack.lines[i]))
			suspect->own[suspect->own_count++] = stack.lines[i];
		if (!python && stack.lines[i].location->python)
			python = &stack.lines[i];
	}
	fallback = python ? python : tpa_stack_own(&stack);
	if (!suspect->own_count && fallback)
		suspect->own[suspect->own_count++] = *fallback;
	tpa_stack_free(&stack);
}

/* Is the site free of leaks: were at least half of its blocks freed, and is it no suspect? */
static bool is_clean(const struct finder *finder, const struct tpa_site *site)
{
	if (site->live_blocks > site->allocations / 2)
		return false;
	for (size_t i = 0; i < finder->count; i++)
		if (finder->list[i].site->node == site->node)
			return false;
	return true;
}

/* Do other callers call the function at that very place, for memory that does not leak? */
static bool serves_others(const struct finder *finder, uint32_t frame, uint32_t caller)
{
	uint32_t frames[FRAMES_MAX], end;

	for (size_t s = 0; s < finder->process->site_count; s++) {
		const struct tpa_site *site = &finder->process->sites[s];
		size_t count = tpa_trace_stack(finder->process->trace, site->node, frames, FRAMES_MAX, &end), i = 0;

		count = count < FRAMES_MAX ? count : FRAMES_MAX;
		while (i < count && frames[i] != frame)
			i++;
		if (i + 1 < count && frames[i + 1] != caller && is_clean(finder, site))
			return true;
	}
	return false;
}

static void choose_line(const struct finder *finder, struct suspect *suspect)
{
	size_t chosen = 0;

	while (chosen < WRAPPERS_MAX && chosen + 1 < suspect->own_count && !suspect->own[chosen].location->python &&
	       suspect->own[chosen].frame != suspect->own[chosen + 1].frame &&
	       serves_others(finder, suspect->own[chosen].frame, suspect->own[chosen + 1].frame))
		chosen++;
	if (chosen < suspect->own_count)
		suspect->line = suspect->own[chosen];
}

static char *place_of(const struct finder *finder, const struct suspect *suspect)
{
	char name[400], place[4400], text[4900];

	if (!suspect->line.location)
		return tpa_alike_name("");
	snprintf(text, sizeof(text), "%s %s",
		 tpa_line_place(&suspect->line, finder->process->trace->cwd, place, sizeof(place)),
		 tpa_line_name(&suspect->line, name, sizeof(name)));
	return tpa_alike_name(text);
}

/* ---- which are one ---- */

static bool same_function(const struct tpa_line *a, const struct tpa_line *b)
{
	const struct tpa_location *x = a->location, *y = b->location;

	return x && y && x->function && y->function && strcmp(x->function, y->function) == 0 &&
	       strcmp(x->file ? x->file : a->symbol->path, y->file ? y->file : b->symbol->path) == 0;
}

/* Does the stack run in the function of the line, or in what that calls? */
static bool runs_in(const struct suspect *suspect, const struct tpa_line *line)
{
	for (size_t i = 0; i < suspect->own_count; i++)
		if (same_function(&suspect->own[i], line))
			return true;
	return false;
}

/* Can `array` be the array of pointers to the blocks of `kept`? It is one block, which grows with their number. */
static bool lists(const struct tpa_growth_site *array, const struct tpa_growth_site *kept)
{
	return array->blocks <= 1 && array->block_rate == 0 && kept->block_rate > 0 && kept->rate > array->rate &&
	       array->rate < POINTERS_MOST * sizeof(void *) * kept->block_rate;
}

static bool are_one(const struct finder *finder, const struct suspect *a, const struct suspect *b)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(finder->view);

	if (a->mapped != b->mapped)
		return false;
	if (strcmp(a->place, b->place) == 0)
		return true;
	if (!runs_in(a, &b->line) && !runs_in(b, &a->line))
		return false;
	if (lists(a->site, b->site) || lists(b->site, a->site))
		return true;
	/* Stacks that only may leak are too often in step by chance. */
	return a->site->verdict == TPA_VERDICT_LEAK && b->site->verdict == TPA_VERDICT_LEAK &&
	       tpa_growth_in_step(stats, a->site, b->site);
}

static size_t leader_of(const struct finder *finder, size_t i)
{
	while (finder->list[i].leader != i)
		i = finder->list[i].leader;
	return i;
}

static void join(struct finder *finder, size_t k, size_t i)
{
	struct suspect *a = &finder->list[k], *b = &finder->list[i];
	size_t first = leader_of(finder, k), second = leader_of(finder, i);

	if (first == second || !are_one(finder, a, b))
		return;
	finder->list[first < second ? second : first].leader = first < second ? first : second;
	a->array |= lists(a->site, b->site);
	b->array |= lists(b->site, a->site);
}

static void join_all(struct finder *finder)
{
	for (size_t i = 0; i < finder->count; i++)
		for (size_t k = 0; k < i; k++)
			join(finder, k, i);
}

/* ---- findings ---- */

static int by_rate(const void *a, const void *b)
{
	const struct tpa_finding_line *x = a, *y = b;

	return TPA_DOWN(x->rate, y->rate) ?: TPA_UP(x->line.frame, y->line.frame);
}

/* Counts the stacks of the finding that run in the function of the line. */
static size_t stacks_in(const struct finder *finder, size_t leader, const struct tpa_line *line)
{
	size_t count = 0;

	for (size_t i = 0; line->location && i < finder->count; i++)
		count += leader_of(finder, i) == leader && !finder->list[i].array && runs_in(&finder->list[i], line);
	return count;
}

/* Puts the line first whose function is in most of the finding's stacks: it is where they meet. */
static void put_place_first(const struct finder *finder, size_t leader, struct tpa_finding *finding)
{
	size_t best = 0, most = 0;

	qsort(finding->lines, finding->line_count, sizeof(*finding->lines), by_rate);
	for (size_t i = 0; finding->line_count > 1 && i < finding->line_count; i++) {
		size_t count = stacks_in(finder, leader, &finding->lines[i].line);

		if (count > most) {
			most = count;
			best = i;
		}
	}
	if (best) {
		struct tpa_finding_line place = finding->lines[best];

		memmove(finding->lines + 1, finding->lines, best * sizeof(place));
		finding->lines[0] = place;
	}
}

static void add_line(struct tpa_finding *finding, const char **places, const struct suspect *suspect)
{
	size_t i = 0;

	while (i < finding->line_count && strcmp(places[i], suspect->place) != 0)
		i++;
	if (i == finding->line_count) {
		places[finding->line_count++] = suspect->place;
		finding->lines[i] = (struct tpa_finding_line){ .line = suspect->line };
	}
	finding->lines[i].rate += suspect->site->rate;
	finding->lines[i].stacks += suspect->site->members;
}

/* What the sites held together at each look. */
static double *curve_of(const struct tpa_growth_stats *stats, const struct tpa_growth_site *const *sites, size_t count)
{
	double *curve = tpa_zalloc(stats->looks, sizeof(*curve));

	for (size_t k = 0; k < count; k++)
		for (size_t i = 0; sites[k]->curve && i < stats->looks; i++)
			curve[i] += stats->curves[sites[k]->curve - 1].bytes[i];
	return curve;
}

static void gather(const struct finder *finder, size_t leader, struct tpa_finding *finding)
{
	const struct tpa_growth_site **sites = tpa_zalloc(finder->count, sizeof(*sites));
	const char **places = tpa_zalloc(finder->count, sizeof(*places));

	*finding = (struct tpa_finding){ .mapped = finder->list[leader].mapped,
					 .lines = tpa_zalloc(finder->count, sizeof(*finding->lines)) };
	for (size_t i = leader; i < finder->count; i++)
		if (leader_of(finder, i) == leader) {
			sites[finding->series++] = finder->list[i].site;
			add_line(finding, places, &finder->list[i]);
		}
	finding->site = tpa_growth_sum(tpa_growth_stats_of(finder->view), sites, finding->series);
	finding->curve = curve_of(tpa_growth_stats_of(finder->view), sites, finding->series);
	if (!finding->mapped)
		finding->pinned = tpa_pinned_by(finder->process, sites, finding->series);
	put_place_first(finder, leader, finding);
	free(places);
	free(sites);
}

static int rank_of(const struct tpa_finding *finding)
{
	return (finding->site.verdict == TPA_VERDICT_LEAK ? 0 : 2) + finding->mapped;
}

static int by_weight(const void *a, const void *b)
{
	const struct tpa_finding *x = a, *y = b;

	return TPA_UP(rank_of(x), rank_of(y)) ?: TPA_DOWN(x->site.rate, y->site.rate) ?:
	       TPA_UP(x->site.number, y->site.number);
}

/* ---- Python's arenas ---- */

static bool is_arena(const struct finder *finder, uint32_t node)
{
	return finder->process->trace->header->python &&
	       tpa_mapping_holder(finder->process, finder->view->listing.symbols[finder->view->process], node, false) ==
		       TPA_HOLDER_PYTHON_ARENAS;
}

/*
 * Adds Python's arenas as one finding. Whichever stack needs memory when the last arena is full maps a new one, so
 * single stacks say little; together they show what Python needs.
 */
static void add_arenas(const struct finder *finder, struct tpa_findings *findings)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(finder->view);
	struct tpa_finding finding = { .mapped = true, .arenas = true, .line_count = 1, .series = 1 };
	size_t count, arenas = 0;
	const struct tpa_growth_member *members = tpa_growth_members(stats->mapped, &count);
	bool *chosen = tpa_zalloc(count, sizeof(*chosen));

	for (size_t i = 0; i < count; i++) {
		chosen[i] = tpa_growth_shown(finder->view, members[i].node) && is_arena(finder, members[i].node);
		arenas += chosen[i] ? 1 : 0;
	}
	if (arenas && tpa_growth_pool_some(stats->mapped, chosen, &finding.site) &&
	    (finding.site.verdict == TPA_VERDICT_LEAK || finding.site.verdict == TPA_VERDICT_RISING)) {
		finding.lines = tpa_zalloc(1, sizeof(*finding.lines));
		finding.lines->rate = finding.site.rate;
		finding.lines->stacks = finding.site.members;
		findings->list[findings->count++] = finding;
	}
	free(chosen);
}

/* ---- all ---- */

static void take_suspects(struct finder *finder, const struct tpa_growth_list *list, bool mapped)
{
	for (size_t i = 0; i < list->leaks + (mapped ? 0 : list->rising); i++)
		if (tpa_growth_shown(finder->view, list->list[i].node) &&
		    !(mapped && is_arena(finder, list->list[i].node)))
			finder->list[finder->count++] = (struct suspect){ .site = &list->list[i], .mapped = mapped };
}

static void find_lines(struct finder *finder)
{
	for (size_t i = 0; i < finder->count; i++) {
		read_own(finder, &finder->list[i]);
		finder->list[i].leader = i;
	}
	for (size_t i = 0; i < finder->count; i++) {
		choose_line(finder, &finder->list[i]);
		finder->list[i].place = place_of(finder, &finder->list[i]);
	}
}

void tpa_findings_find(struct tpa_findings *findings, const struct tpa_growth_view *view, bool exact)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	struct finder finder = { .view = view, .process = &view->listing.run->processes[view->process] };
	size_t most = stats->heap.leaks + stats->heap.rising + stats->maps.leaks + 1;

	*findings = (struct tpa_findings){ .list = tpa_zalloc(most, sizeof(*findings->list)) };
	finder.list = tpa_zalloc(most, sizeof(*finder.list));
	take_suspects(&finder, &stats->heap, false);
	take_suspects(&finder, &stats->maps, true);
	find_lines(&finder);
	if (!exact)
		join_all(&finder);
	for (size_t i = 0; i < finder.count; i++)
		if (finder.list[i].leader == i)
			gather(&finder, i, &findings->list[findings->count++]);
	add_arenas(&finder, findings);
	qsort(findings->list, findings->count, sizeof(*findings->list), by_weight);
	while (findings->leaks < findings->count && findings->list[findings->leaks].site.verdict == TPA_VERDICT_LEAK)
		findings->leaks++;
	for (size_t i = 0; i < finder.count; i++) {
		free(finder.list[i].own);
		free(finder.list[i].place);
	}
	free(finder.list);
}

void tpa_findings_free(struct tpa_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->list[i].lines);
		free(findings->list[i].curve);
	}
	free(findings->list);
	*findings = (struct tpa_findings){ 0 };
}

bool tpa_findings_enough(const struct tpa_growth_view *view)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);

	return !tpa_growth_unknown(view) && stats->looks >= TPA_TREND_LEAST &&
	       (!stats->seconds || stats->last - stats->begin >= 100000000);
}

double tpa_finding_left(const struct tpa_finding *finding, double size, double limit)
{
	double rate = finding->site.recent > finding->site.rate ? finding->site.recent : finding->site.rate;

	if (size >= limit)
		return 0;
	return rate > 0 ? (limit - size) / rate : -1;
}
