/* SPDX-License-Identifier: Apache-2.0 */
/* What grows with the steps, as text and as JSON. */
#ifndef TPROF_REPORT_GROWTH_LISTING_H
#define TPROF_REPORT_GROWTH_LISTING_H

#include <jansson.h>

#include "model/run.h"
#include "report/listing.h"
#include "report/suppressions.h"

struct tp_growth_view {
	struct tp_listing listing; /* page, run, symbols, top */
	size_t process;
	const regex_t *filter;		      /* NULL: all stacks */
	struct tp_suppressions *suppressions; /* NULL: none */
	uint64_t limit;			      /* bytes that the process may have; 0: not asked for */
};

/*
 * The section of `leaks`: what leaks, stack by stack, with ages; when the limit will be reached; what else moved, in a line a
 * verdict; what the process's memory is made of. Nothing if nothing can be said.
 */
void tp_growth_print(const struct tp_growth_view *view);

/* One line for the summary, and the leaks in a table. */
void tp_growth_print_short(const struct tp_growth_view *view);

/* steps.growth: a list of stacks, leaks first. */
json_t *tp_growth_json_sites(const struct tp_growth_view *view);

/* "growth": the same with what it was found from, and the process's memory by parts. */
json_t *tp_growth_json(const struct tp_growth_view *view);

/* Whether the filter and the suppressions let a stack through. */
bool tp_growth_shown(const struct tp_growth_view *view, uint32_t node);

/* "leak", ... As JSON has it: what grows with time alone is "growth", not "leak". */
const char *tp_verdict_name(enum tp_verdict verdict, bool seconds);

#endif
