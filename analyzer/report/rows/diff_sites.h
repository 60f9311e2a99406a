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

struct tp_diff_sites {
	enum tp_by by;	       /* TP_BY_STACK, _FUNCTION, _MODULE or _OP */
	const regex_t *filter; /* NULL: all stacks */
	struct tp_named_stacks names;
	struct tp_diff_rows peak, unfreed, allocated; /* bytes */
	struct tp_diff_rows growth;		      /* of what leaks, bytes a step, or a second */
	struct tp_diff_rows cpu;		      /* shares of the samples; by stack: by function */
	struct tp_diff_rows cpu_stacks;		      /* by stack: that */
	int growth_unit;  /* 0: no run can tell; 1: a step; 2: a second; 3: the runs differ */
	bool growth_open; /* a run is too short to tell */
};

/* `by` and `filter` are set. False: no memory; tp_diff_sites_free() is due in any case. */
bool tp_diff_sites_init(struct tp_diff_sites *sites);
void tp_diff_sites_free(struct tp_diff_sites *sites);

/* Each process of a run, by its index, then its end. Side 0: old, 1: new. False: no memory. */
bool tp_diff_sites_add(struct tp_diff_sites *sites, const struct tp_run *run, size_t index, struct tp_symbols *symbols);
void tp_diff_sites_end_run(struct tp_diff_sites *sites, int side, const struct tp_run *run);

bool tp_diff_sites_test(struct tp_diff_sites *sites);

/* Of a sampled process, the rate that one hit in all the time that was looked at stands for; else 0. */
double tp_diff_unseen_rate(const struct tp_process *process);

#endif
