/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two sides, each of one run or several. A run can be closed after it was added: the diff keeps only its
 * sums, by name (report/rows/named_stacks.h).
 */
#ifndef TPROF_REPORT_ROWS_DIFF_H
#define TPROF_REPORT_ROWS_DIFF_H

#include "report/rows/diff_sites.h"
#include "report/rows/diff_times.h"
#include "report/rows/notes.h"

/* Totals of a run, over all its processes. In bytes, except TPA_DIFF_ALLOCATIONS, a number. */
enum tpa_diff_total {
	TPA_DIFF_PEAK,
	TPA_DIFF_UNFREED,
	TPA_DIFF_ALLOCATED,
	TPA_DIFF_ALLOCATIONS,
	TPA_DIFF_RSS,
	TPA_DIFF_TOTALS,
};

struct tpa_diff {
	struct tpa_diff_sites sites;
	struct tpa_diff_times times;
	struct tpa_diff_rows totals; /* by enum tpa_diff_total */
	struct tpa_diff_rows growth; /* one row: all live blocks together */
	char **files[2];	     /* owned; the trace of the first process of each run */
	size_t runs[2];
	bool heap_unknown[2];	/* by side: in a run, what a process allocated is unknown */
	struct tpa_notes notes; /* what was not recorded, by run */
};

void tpa_diff_init(struct tpa_diff *diff, enum tpa_by by, const regex_t *filter);
void tpa_diff_free(struct tpa_diff *diff);

/*
 * Adds a run to a side (0: old, 1: new). `symbols`: of each process of the run. The run must have been replayed with
 * `batches`.
 */
void tpa_diff_add(struct tpa_diff *diff, int side, const struct tpa_run *run, struct tpa_symbols *const *symbols);

/* Tests the differences. Call it after the last run. */
void tpa_diff_test(struct tpa_diff *diff);

/* One total of a run, as an amount. TPA_DIFF_RSS is the most that all processes had resident together, each page once. */
struct tpa_diff_amount tpa_diff_total_of(const struct tpa_run *run, enum tpa_diff_total what);

#endif
