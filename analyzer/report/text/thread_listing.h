/* SPDX-License-Identifier: Apache-2.0 */
/* Prints threads. */
#ifndef TPROF_REPORT_TEXT_THREAD_LISTING_H
#define TPROF_REPORT_TEXT_THREAD_LISTING_H

#include "report/rows/thread_rows.h"
#include "report/text/text.h"

/* Prints a table; omits columns that no thread has data for (CPU samples, ops). `top`: rows to print; 0: all. */
void tpa_threads_print(const struct tpa_page *page, const struct tpa_process *process,
		       const struct tpa_thread_rows *rows, uint64_t top);

#endif
