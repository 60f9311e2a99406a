/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of CPU samples, printed. */
#ifndef TPROF_REPORT_TEXT_CPU_LISTING_H
#define TPROF_REPORT_TEXT_CPU_LISTING_H

#include <jansson.h>

#include "report/rows/cpu_rows.h"
#include "report/text/text.h"

struct tp_cpu_listing {
	const struct tp_page *page;
	const struct tp_run *run;
	struct tp_symbols *const *symbols; /* as run->processes */
	struct tp_cpu_options options;
	uint64_t top; /* rows to print; 0: all */
};

/* What there is of samples, in a line: how many of which period, or why there are none. */
void tp_cpu_print_capture(const struct tp_page *page, const struct tp_process *process);

/* A table of rows; with what remains below it. */
void tp_cpu_print(const struct tp_cpu_listing *context, const struct tp_cpu_rows *rows);

/* The first rows as an array; NULL: memory is out. */
json_t *tp_cpu_json(const struct tp_cpu_listing *context, const struct tp_cpu_rows *rows);

#endif
