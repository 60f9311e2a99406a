/* SPDX-License-Identifier: Apache-2.0 */
/* One line on hooks: which of the functions that make up ops were hooked, which were not, and why. */
#ifndef TPROF_REPORT_TEXT_COVERAGE_H
#define TPROF_REPORT_TEXT_COVERAGE_H

#include "model/result/result.h"
#include "report/rows/process_facts.h"
#include "report/text/text.h"

/*
 * For a trace with hook records (hooks_count): prints the number of hooked pointers and their objects, the number of
 * functions without hooks by reason, and a newline. Counts a function once for each object that calls it.
 */
void tpa_hooks_print_line(const struct tpa_page *page, const struct tpa_trace *trace);

/* The same with a label in front; prints nothing if the trace has no hook records. */
void tpa_hooks_print(const struct tpa_page *page, const struct tpa_trace *trace);

/* Ends a process's report: after an empty line, the same, the sampled CPU time, and its share outside of all ops. */
void tpa_coverage_print(const struct tpa_page *page, const struct tpa_process *process);

#endif
