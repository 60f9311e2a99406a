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
enum tp_diff_total {
	TP_DIFF_PEAK,
	TP_DIFF_UNFREED,
	TP_DIFF_ALLOCATED,
	TP_DIFF_ALLOCATIONS,
	TP_DIFF_RSS,
	TP_DIFF_TOTALS,
};

struct tp_diff {
	struct tp_diff_sites sites;
	struct tp_diff_times times;
	struct tp_diff_rows totals; /* by enum tp_diff_total */
	struct tp_diff_rows growth; /* one row: of all live blocks */
	char **files[2];	    /* owned; the first of each run */
	size_t runs[2];
	bool heap_unknown[2];  /* of a run of that side it is not known what it allocated */
	struct tp_notes notes; /* what was not recorded of which run */
};

/* False: no memory; tp_diff_free() is due in any case. */
bool tp_diff_init(struct tp_diff *diff, enum tp_by by, const regex_t *filter);
void tp_diff_free(struct tp_diff *diff);

/* Side 0: old, 1: new. `symbols` of each process. Replayed with `batches`. False: no memory. */
bool tp_diff_add(struct tp_diff *diff, int side, const struct tp_run *run, struct tp_symbols *const *symbols);

/* After the last run. False: no memory. */
bool tp_diff_test(struct tp_diff *diff);

/* A number of a run that stands for the whole; see enum tp_diff_total. */
struct tp_diff_amount tp_diff_total_of(const struct tp_run *run, enum tp_diff_total what);

#endif
