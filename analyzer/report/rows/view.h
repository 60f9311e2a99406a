/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a report lists: which run, grouped by what, how many rows. Text and JSON are made from the same view. JSON ignores `page`,
 * which is where text goes.
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
	struct tpa_symbols *const *symbols; /* one for each of run->processes */
	enum tpa_by by;
	enum tpa_what what;
	uint64_t top;  /* rows to print; 0: all */
	bool hotspots; /* show calls before bytes */
};

struct tpa_cpu_listing {
	const struct tpa_page *page;
	const struct tpa_run *run;
	struct tpa_symbols *const *symbols; /* one for each of run->processes */
	struct tpa_cpu_options options;
	uint64_t top; /* rows to print; 0: all */
};

struct tpa_growth_view {
	struct tpa_listing listing;		/* page, run, symbols, top */
	size_t process;				/* index in the run */
	const regex_t *filter;			/* NULL: all stacks */
	struct tpa_suppressions *suppressions;	/* NULL: none */
	uint64_t limit;				/* bytes that the process may use; 0: not given */
	const struct tpa_growth_pooled *pooled; /* pooled by listing.by; NULL: not pooled, one row per stack */
};

/* The growth list to print: pooled if the view is, else by stack. */
static inline const struct tpa_growth_list *tpa_growth_listed(const struct tpa_growth_view *view)
{
	return view->pooled ? &view->pooled->list : &view->listing.run->processes[view->process].growth.heap;
}

/* What each row stands for: "stack", "line", ... */
static inline const char *tpa_growth_series(const struct tpa_growth_view *view)
{
	return tpa_by_name(view->pooled ? view->listing.by : TPA_BY_STACK);
}

static inline const struct tpa_growth_stats *tpa_growth_stats_of(const struct tpa_growth_view *view)
{
	return &view->listing.run->processes[view->process].growth;
}

/* Are the process's allocations unknown? If so, leaks are unknown too. */
bool tpa_growth_unknown(const struct tpa_growth_view *view);

/* Do the filter and the suppressions let the stack of `node` through? */
bool tpa_growth_shown(const struct tpa_growth_view *view, uint32_t node);

/* Name of a verdict in JSON: "leak", ... `seconds`: growth was measured over time, not steps; a leak is then called "growth". */
const char *tpa_verdict_name(enum tpa_verdict verdict, bool seconds);

#endif
