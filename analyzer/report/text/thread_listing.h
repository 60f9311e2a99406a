/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, printed. */
#ifndef TPROF_REPORT_TEXT_THREAD_LISTING_H
#define TPROF_REPORT_TEXT_THREAD_LISTING_H

#include "report/rows/thread_rows.h"
#include "report/text/text.h"

/* A table; what no thread has (CPU samples, ops) has no column. `top`: rows to print; 0: all. */
void tp_threads_print(const struct tp_page *page, const struct tp_process *process, const struct tp_thread_rows *rows,
		      uint64_t top);

#endif
