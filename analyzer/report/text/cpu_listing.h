/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of CPU samples, printed. */
#ifndef TPROF_REPORT_TEXT_CPU_LISTING_H
#define TPROF_REPORT_TEXT_CPU_LISTING_H

#include "report/rows/view.h"
#include "report/text/text.h"

/* What there is of samples, in a line: how many of which period, or why there are none. */
void tpa_cpu_print_capture(const struct tpa_page *page, const struct tpa_process *process);

/* A table of rows; with what remains below it. */
void tpa_cpu_print(const struct tpa_cpu_listing *context, const struct tpa_cpu_rows *rows);

#endif
