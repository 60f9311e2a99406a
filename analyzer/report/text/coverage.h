/* SPDX-License-Identifier: Apache-2.0 */
/* What of the functions that ops are made of was hooked, and what not, and why: in one line. */
#ifndef TPROF_REPORT_TEXT_COVERAGE_H
#define TPROF_REPORT_TEXT_COVERAGE_H

#include "model/result/result.h"
#include "report/rows/process_facts.h"
#include "report/text/text.h"

/*
 * Of a trace that tells of hooks (hooks_count): pointers hooked and from how many objects, then how many functions were not,
 * by reason, and a line's end. A function that several objects call is counted for each of them.
 */
void tpa_hooks_print_line(const struct tpa_page *page, const struct tpa_trace *trace);

/* The same and a label in front of it, if the trace tells of hooks; else nothing. */
void tpa_hooks_print(const struct tpa_page *page, const struct tpa_trace *trace);

/*
 * At the end of a report on a process, below an empty line: the same, and how much CPU time was sampled and how much of it
 * was outside of every op.
 */
void tpa_coverage_print(const struct tpa_page *page, const struct tpa_process *process);

#endif
