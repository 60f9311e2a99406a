/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a process: a line, a table. */
#ifndef TPROF_REPORT_TEXT_STEP_LISTING_H
#define TPROF_REPORT_TEXT_STEP_LISTING_H

#include "report/rows/sorted.h"
#include "report/text/text.h"

/* "120 steps of 1.2 ms, ..." and a newline. */
void tpa_steps_print_line(const struct tpa_page *page, const struct tpa_step_stats *steps);

/*
 * The same, shorter, for the first page: "120 steps of 1.2 ms (p50 1.1 ms, p99 3.0 ms) after 2.1 s of start and warm-up; each ends
 * with a backward pass". Nothing if there are no steps.
 */
void tpa_steps_print_short(const struct tpa_page *page, const struct tpa_process *process);

/* How the steps are known, if the program did not mark them. */
void tpa_steps_print_source(const struct tpa_page *page, const struct tpa_process *process);

/* What the ops take themselves in a step; steps that took long, and why. Nothing where there is none. */
void tpa_steps_print_ops(const struct tpa_page *page, const struct tpa_process *process, uint64_t top);
void tpa_steps_print_outliers(const struct tpa_page *page, const struct tpa_process *process);

/* The first `top` (0: all) in an order: time (the slowest first), high, growth or step. */
void tpa_steps_print(const struct tpa_page *page, const struct tpa_process *process, const char *sort, uint64_t top);

#endif
