/* SPDX-License-Identifier: Apache-2.0 */
/* Threads as rows of a report: what the replay counted for each thread, its live memory, and its top functions. */
#ifndef TPROF_REPORT_ROWS_THREAD_ROWS_H
#define TPROF_REPORT_ROWS_THREAD_ROWS_H

#include "report/rows/column.h"
#include "report/rows/stack.h"

struct tpa_thread_row {
	struct tpa_thread_stats stats;
	uint64_t peak_bytes, peak_blocks; /* allocated by the thread and live at the process's peak */
	uint64_t live_bytes, live_blocks; /* allocated by the thread and live at the end */
	double peak_bytes_variance, peak_blocks_variance, live_bytes_variance, live_blocks_variance;
	struct tpa_line cpu_line;   /* of the function with most of the thread's CPU time; location NULL: no samples */
	uint64_t cpu_line_ns;	    /* self time of that function on the thread */
	struct tpa_line alloc_line; /* of the function that allocated most bytes; location NULL: none did */
	uint64_t alloc_line_bytes;
};

struct tpa_thread_rows {
	struct tpa_thread_row *rows;
	size_t count;
};

/*
 * Lists the threads of a process that was replayed with TPA_GROUP_THREAD. `sort`: cpu, ops, allocations, frees, bytes, peak or
 * unfreed (largest first), or first or thread (smallest first). Lines are valid as long as the symbols. Free with
 * tpa_thread_rows_free().
 */
void tpa_thread_rows(struct tpa_thread_rows *rows, const struct tpa_process *process, struct tpa_symbols *symbols,
		     const char *sort);
void tpa_thread_rows_free(struct tpa_thread_rows *rows);

/*
 * Rows: struct tpa_thread_row. The columns up to "bytes" also work on a struct tpa_thread_stats, the first member. Their context
 * must have `process` and `unseen`.
 */
extern const struct tpa_column tpa_thread_columns[];

#endif
