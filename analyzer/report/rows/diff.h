/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sides, each of one run or several, held against each other. A run is added and can then be closed: what is kept are
 * its sums, by names (report/rows/named_stacks.h).
 */
#ifndef TPROF_REPORT_ROWS_DIFF_H
#define TPROF_REPORT_ROWS_DIFF_H

#include "report/rows/diff_sites.h"
#include "report/rows/diff_times.h"
#include "report/rows/notes.h"

/* Totals of a run, all processes together. */
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
	struct tpa_diff_rows growth; /* one row: of all live blocks */
	char **files[2];	     /* owned; the first of each run */
	size_t runs[2];
	bool heap_unknown[2];	/* of a run of that side it is not known what it allocated */
	struct tpa_notes notes; /* what was not recorded of which run */
};

void tpa_diff_init(struct tpa_diff *diff, enum tpa_by by, const regex_t *filter);
void tpa_diff_free(struct tpa_diff *diff);

/* Side 0: old, 1: new. `symbols` of each process. Replayed with `batches`. */
void tpa_diff_add(struct tpa_diff *diff, int side, const struct tpa_run *run, struct tpa_symbols *const *symbols);

/* After the last run. */
void tpa_diff_test(struct tpa_diff *diff);

/* A number of a run that stands for the whole; see enum tpa_diff_total. */
struct tpa_diff_amount tpa_diff_total_of(const struct tpa_run *run, enum tpa_diff_total what);

#endif
