/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a report lists: of which run, by what, how many rows. Text and JSON are made from the same view; `page`, where text goes,
 * means nothing to JSON.
 */
#ifndef TPROF_REPORT_ROWS_VIEW_H
#define TPROF_REPORT_ROWS_VIEW_H

#include "report/rows/cpu_rows.h"
#include "report/rows/growth_pool.h"
#include "report/rows/suppressions.h"

struct tpa_page;

struct tpa_listing {
	const struct tpa_page *page;
	const struct tpa_run *run;
	struct tpa_symbols *const *symbols; /* as run->processes */
	enum tpa_by by;
	enum tpa_what what;
	uint64_t top;  /* rows to print; 0: all */
	bool hotspots; /* calls come before bytes */
};

struct tpa_cpu_listing {
	const struct tpa_page *page;
	const struct tpa_run *run;
	struct tpa_symbols *const *symbols; /* as run->processes */
	struct tpa_cpu_options options;
	uint64_t top; /* rows to print; 0: all */
};

struct tpa_growth_view {
	struct tpa_listing listing; /* page, run, symbols, top */
	size_t process;
	const regex_t *filter;			/* NULL: all stacks */
	struct tpa_suppressions *suppressions;	/* NULL: none */
	uint64_t limit;				/* bytes that the process may have; 0: not asked for */
	const struct tpa_growth_pooled *pooled; /* put together as listing.by says; NULL: stack by stack */
};

/* What is listed: stacks, or what they were put together to. */
static inline const struct tpa_growth_list *tpa_growth_listed(const struct tpa_growth_view *view)
{
	return view->pooled ? &view->pooled->list : &view->listing.run->processes[view->process].growth.heap;
}

/* What each row is: "stack", "line", ... */
static inline const char *tpa_growth_series(const struct tpa_growth_view *view)
{
	return tpa_by_name(view->pooled ? view->listing.by : TPA_BY_STACK);
}

static inline const struct tpa_growth_stats *tpa_growth_stats_of(const struct tpa_growth_view *view)
{
	return &view->listing.run->processes[view->process].growth;
}

/* Is it unknown what the process allocated? Nothing is then known of what leaks. */
bool tpa_growth_unknown(const struct tpa_growth_view *view);

/* Whether the filter and the suppressions let a stack through. */
bool tpa_growth_shown(const struct tpa_growth_view *view, uint32_t node);

/* "leak", ... As JSON has it: what grows with time alone is "growth", not "leak". */
const char *tpa_verdict_name(enum tpa_verdict verdict, bool seconds);

#endif
