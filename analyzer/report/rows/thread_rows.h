/* SPDX-License-Identifier: Apache-2.0 */
/* Threads as rows of a report: what the replay counted of each, with its memory and where its time went. */
#ifndef TPROF_REPORT_ROWS_THREAD_ROWS_H
#define TPROF_REPORT_ROWS_THREAD_ROWS_H

#include "report/rows/column.h"
#include "report/rows/stack.h"

struct tpa_thread_row {
	struct tpa_thread_stats stats;
	uint64_t peak_bytes, peak_blocks; /* allocated by it, and live at the process's peak */
	uint64_t live_bytes, live_blocks; /* ... at the end */
	double peak_bytes_variance, peak_blocks_variance, live_bytes_variance, live_blocks_variance;
	struct tpa_line cpu_line;   /* of the function with most of its samples; location NULL: it has none */
	uint64_t cpu_line_ns;	    /* CPU time in that function itself */
	struct tpa_line alloc_line; /* of the function that allocated most bytes for it; location NULL: none did */
	uint64_t alloc_line_bytes;
};

struct tpa_thread_rows {
	struct tpa_thread_row *rows;
	size_t count;
};

/*
 * Of a process that was replayed with TPA_GROUP_THREAD. `sort`: cpu, ops, allocations, frees, bytes, peak, unfreed, the most
 * first, or first, thread, the earliest first. Lines live as long as the symbols.
 */
void tpa_thread_rows(struct tpa_thread_rows *rows, const struct tpa_process *process, struct tpa_symbols *symbols,
		     const char *sort);
void tpa_thread_rows_free(struct tpa_thread_rows *rows);

/* Those of the statistics, up to "bytes", are columns of a struct tpa_thread_stats too. Want a context. */
extern const struct tpa_column tpa_thread_columns[];

#endif
