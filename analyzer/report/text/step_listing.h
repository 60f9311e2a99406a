/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the steps of a process: as a line, as a table. */
#ifndef TPROF_REPORT_TEXT_STEP_LISTING_H
#define TPROF_REPORT_TEXT_STEP_LISTING_H

#include "report/rows/sorted.h"
#include "report/text/text.h"

/* Prints "120 steps of 1.2 ms, ..." and a newline. */
void tpa_steps_print_line(const struct tpa_page *page, const struct tpa_step_stats *steps);

/*
 * A shorter line for the first page: "120 steps of 1.2 ms (p50 1.1 ms, p99 3.0 ms) after 2.1 s of start and warm-up;
 * each ends with a backward pass". Prints nothing if there are no steps.
 */
void tpa_steps_print_short(const struct tpa_page *page, const struct tpa_process *process);

/* Prints how the steps were found, if the program did not mark them. */
void tpa_steps_print_source(const struct tpa_page *page, const struct tpa_process *process);

/* Prints the ops' self time per step, and slow steps with their causes. Prints nothing if there are none. */
void tpa_steps_print_ops(const struct tpa_page *page, const struct tpa_process *process, uint64_t top);
void tpa_steps_print_outliers(const struct tpa_page *page, const struct tpa_process *process);

/* Prints the first `top` (0: all), ordered by time (slowest first), high, growth or step. */
void tpa_steps_print(const struct tpa_page *page, const struct tpa_process *process, const char *sort, uint64_t top);

#endif
