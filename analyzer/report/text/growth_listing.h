/* SPDX-License-Identifier: Apache-2.0 */
/* What grows with the steps. */
#ifndef TPROF_REPORT_TEXT_GROWTH_LISTING_H
#define TPROF_REPORT_TEXT_GROWTH_LISTING_H

#include "report/rows/findings.h"
#include "report/text/listing.h"

/*
 * The section of `leaks`: what leaks, stack by stack, with ages; when the limit will be reached; what else moved, in a line a
 * verdict; what the process's memory is made of. Nothing if nothing can be said.
 */
void tpa_growth_print(const struct tpa_growth_view *view);

/* For the summary: the leaks in a table. */
void tpa_growth_print_short(const struct tpa_growth_view *view);

/* A table with a line for each leak, at most `top` (0: all). */
void tpa_findings_print(const struct tpa_growth_view *view, const struct tpa_findings *findings, uint64_t top);

/* For the first page: the same table, who holds each, and a sentence where nothing leaks. */
void tpa_findings_answer_print(const struct tpa_growth_view *view);

/*
 * "train.py:15 (main)" in `text`. At most `columns` long (0: any length), by leaving out the middle of the path: file, line and
 * function stay.
 */
const char *tpa_finding_place(const struct tpa_growth_view *view, const struct tpa_line *line, int columns, char *text,
			      size_t size);

/* The table of what the process's memory is made of. */
void tpa_growth_print_parts(const struct tpa_growth_view *view);

/* What a group is: in `text`, or a text of its own. */
const char *tpa_growth_group_name(const struct tpa_growth_view *view, const struct tpa_growth_group *group, char *text,
				  size_t size);

/* "step", or "second"; "step 12", or a time. */
const char *tpa_growth_unit(const struct tpa_growth_stats *stats);
struct tpa_text tpa_growth_place(const struct tpa_growth_stats *stats, uint64_t place);

/* Bytes with a sign; parts of bytes matter at small rates. */
struct tpa_text tpa_growth_rate(const struct tpa_growth_view *view, double rate);

#endif
