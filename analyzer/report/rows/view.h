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

struct tp_page;

struct tp_listing {
	const struct tp_page *page;
	const struct tp_run *run;
	struct tp_symbols *const *symbols; /* as run->processes */
	enum tp_by by;
	enum tp_what what;
	uint64_t top;  /* rows to print; 0: all */
	bool hotspots; /* calls come before bytes */
};

struct tp_cpu_listing {
	const struct tp_page *page;
	const struct tp_run *run;
	struct tp_symbols *const *symbols; /* as run->processes */
	struct tp_cpu_options options;
	uint64_t top; /* rows to print; 0: all */
};

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

/* Is it unknown what the process allocated? Nothing is then known of what leaks. */
bool tp_growth_unknown(const struct tp_growth_view *view);

/* Whether the filter and the suppressions let a stack through. */
bool tp_growth_shown(const struct tp_growth_view *view, uint32_t node);

/* "leak", ... As JSON has it: what grows with time alone is "growth", not "leak". */
const char *tp_verdict_name(enum tp_verdict verdict, bool seconds);

#endif
