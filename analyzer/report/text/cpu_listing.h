/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of CPU samples, printed. */
#ifndef TPROF_REPORT_TEXT_CPU_LISTING_H
#define TPROF_REPORT_TEXT_CPU_LISTING_H

#include "report/rows/view.h"
#include "report/text/text.h"

/* What there is of samples, in a line: how many of which period, or why there are none. */
void tp_cpu_print_capture(const struct tp_page *page, const struct tp_process *process);

/* A table of rows; with what remains below it. */
void tp_cpu_print(const struct tp_cpu_listing *context, const struct tp_cpu_rows *rows);

#endif
