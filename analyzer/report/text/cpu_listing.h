/* SPDX-License-Identifier: Apache-2.0 */
/* Prints rows of CPU samples. */
#ifndef TPROF_REPORT_TEXT_CPU_LISTING_H
#define TPROF_REPORT_TEXT_CPU_LISTING_H

#include "report/rows/view.h"
#include "report/text/text.h"

/* Prints a line with the number of samples and their period, or why there are none. */
void tpa_cpu_print_capture(const struct tpa_page *page, const struct tpa_process *process);

/* Prints a table of rows, followed by the remainder. */
void tpa_cpu_print(const struct tpa_cpu_listing *context, const struct tpa_cpu_rows *rows);

#endif
