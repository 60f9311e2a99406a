/* SPDX-License-Identifier: Apache-2.0 */
/* What grows with the steps, as text and as JSON. */
#ifndef TPROF_REPORT_TEXT_GROWTH_LISTING_H
#define TPROF_REPORT_TEXT_GROWTH_LISTING_H

#include <jansson.h>

#include "model/result/result.h"
#include "report/rows/growth_pool.h"
#include "report/text/listing.h"
#include "report/rows/suppressions.h"

struct tp_growth_view {
	struct tp_listing listing; /* page, run, symbols, top */
	size_t process;
	const regex_t *filter;		       /* NULL: all stacks */
	struct tp_suppressions *suppressions;  /* NULL: none */
	uint64_t limit;			       /* bytes that the process may have; 0: not asked for */
	const struct tp_growth_pooled *pooled; /* put together as listing.by says; NULL: stack by stack */
};

/* What is listed: stacks, or what they were put together to. */
static inline const struct tp_growth_list *tp_growth_listed(const struct tp_growth_view *view)
{
	return view->pooled ? &view->pooled->list : &view->listing.run->processes[view->process].growth.heap;
}

/* What each row is: "stack", "line", ... */
static inline const char *tp_growth_series(const struct tp_growth_view *view)
{
	return tp_by_name(view->pooled ? view->listing.by : TP_BY_STACK);
}

static inline const struct tp_growth_stats *tp_growth_stats_of(const struct tp_growth_view *view)
{
	return &view->listing.run->processes[view->process].growth;
}

/*
 * The section of `leaks`: what leaks, stack by stack, with ages; when the limit will be reached; what else moved, in a line a
 * verdict; what the process's memory is made of. Nothing if nothing can be said.
 */
void tp_growth_print(const struct tp_growth_view *view);

/* One line for the summary, and the leaks in a table. */
void tp_growth_print_short(const struct tp_growth_view *view);

/* Mappings that grow, by stack, numbered on from `printed`, which is returned with what was added. */
size_t tp_growth_print_maps(const struct tp_growth_view *view, size_t printed);

/* The table of what the process's memory is made of. */
void tp_growth_print_parts(const struct tp_growth_view *view);

/* What a group is: in `text`, or a text of its own. */
const char *tp_growth_group_name(const struct tp_growth_view *view, const struct tp_growth_group *group, char *text,
				 size_t size);

/* "step", or "second"; "step 12", or a time. */
const char *tp_growth_unit(const struct tp_growth_stats *stats);
struct tp_text tp_growth_place(const struct tp_growth_stats *stats, uint64_t place);

/* Bytes with a sign; parts of bytes matter at small rates. */
struct tp_text tp_growth_rate(const struct tp_growth_view *view, double rate);

/* steps.growth: a list of stacks, leaks first. */
json_t *tp_growth_json_sites(const struct tp_growth_view *view);

/* "growth": the same with what it was found from, and the process's memory by parts. */
json_t *tp_growth_json(const struct tp_growth_view *view);

/* What RSS is made of, in lines that add up to it: "memory.growth.parts". null: the trace does not say. */
json_t *tp_growth_json_fine(const struct tp_growth_stats *stats);

/* Is it unknown what the process allocated? Nothing is then known of what leaks. */
bool tp_growth_unknown(const struct tp_growth_view *view);

/* Whether the filter and the suppressions let a stack through. */
bool tp_growth_shown(const struct tp_growth_view *view, uint32_t node);

/* "leak", ... As JSON has it: what grows with time alone is "growth", not "leak". */
const char *tp_verdict_name(enum tp_verdict verdict, bool seconds);

#endif
