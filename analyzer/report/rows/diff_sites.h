/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory, growth and CPU samples of runs of two sides, by stack, function, module or op. A run's processes, symbols
 * and traces can be closed once it is added.
 */
#ifndef TPROF_REPORT_ROWS_DIFF_SITES_H
#define TPROF_REPORT_ROWS_DIFF_SITES_H

#include <regex.h>

#include "report/rows/diff_rows.h"
#include "report/rows/rows.h"

struct tpa_diff_sites {
	enum tpa_by by;	       /* TPA_BY_STACK, _FUNCTION, _MODULE or _OP */
	const regex_t *filter; /* NULL: all stacks */
	struct tpa_named_stacks names;
	struct tpa_diff_rows peak, unfreed, allocated; /* bytes */
	struct tpa_diff_rows growth;		       /* of what leaks, bytes a step, or a second */
	struct tpa_diff_rows cpu;		       /* shares of the samples; by stack: by function */
	struct tpa_diff_rows cpu_stacks;	       /* by stack: that */
	int growth_unit;  /* 0: no run can tell; 1: a step; 2: a second; 3: the runs differ */
	bool growth_open; /* a run is too short to tell */
};

void tpa_diff_sites_free(struct tpa_diff_sites *sites);

/* Each process of a run, by its index, then its end. Side 0: old, 1: new. */
void tpa_diff_sites_add(struct tpa_diff_sites *sites, const struct tpa_run *run, size_t index,
			struct tpa_symbols *symbols);
void tpa_diff_sites_end_run(struct tpa_diff_sites *sites, int side, const struct tpa_run *run);

void tpa_diff_sites_test(struct tpa_diff_sites *sites);

/* Of a sampled process, the rate that one hit in all the time that was looked at stands for; else 0. */
double tpa_diff_unseen_rate(const struct tpa_process *process);

#endif
