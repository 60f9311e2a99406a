/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what grows with the steps. */
#ifndef TPROF_REPORT_TEXT_GROWTH_LISTING_H
#define TPROF_REPORT_TEXT_GROWTH_LISTING_H

#include "report/rows/findings.h"
#include "report/text/listing.h"

/*
 * The section of `leaks`: each leaking stack with the blocks' ages, when the limit will be reached, one line per
 * verdict on other changes, and the makeup of the process's memory. Prints nothing if nothing is known.
 */
void tpa_growth_print(const struct tpa_growth_view *view);

/* For the summary: prints a table of leaks. */
void tpa_growth_print_short(const struct tpa_growth_view *view);

/* Prints a table with one line per leak, at most `top` (0: all). */
void tpa_findings_print(const struct tpa_growth_view *view, const struct tpa_findings *findings, uint64_t top);

/* For the first page: the same table, each leak's holder, and a sentence if nothing leaks. */
void tpa_findings_answer_print(const struct tpa_growth_view *view);

/* Prints the fastest leak as one line, without its end: rate, place, holder. Something must leak. */
void tpa_findings_brief_print(const struct tpa_growth_view *view);

/*
 * "train.py:15 (main)" in `text`. Shortens the middle of the path to fit into `columns` (0: any length); keeps file,
 * line and function.
 */
const char *tpa_finding_place(const struct tpa_growth_view *view, const struct tpa_line *line, int columns, char *text,
			      size_t size);

/* Prints a table of the makeup of the process's memory. */
void tpa_growth_print_parts(const struct tpa_growth_view *view);

/* A group's name, in `text` or in static storage. */
const char *tpa_growth_group_name(const struct tpa_growth_view *view, const struct tpa_growth_group *group, char *text,
				  size_t size);

/* "step" or "second"; "step 12" or the time since the process's start. */
const char *tpa_growth_unit(const struct tpa_growth_stats *stats);
struct tpa_text tpa_growth_place(const struct tpa_growth_stats *stats, uint64_t place);

/* Bytes with a sign, with decimals if the rate is small. */
struct tpa_text tpa_growth_rate(const struct tpa_growth_view *view, double rate);

#endif
