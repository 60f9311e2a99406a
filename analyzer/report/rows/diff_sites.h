/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares memory, growth and CPU samples of the runs of two sides, by stack, function, module or op. The processes,
 * symbols and traces of a run can be closed after it was added.
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
	struct tpa_diff_rows growth;		       /* stacks that leak; bytes a step or second */
	struct tpa_diff_rows cpu;	 /* shares of the CPU samples; if `by` is TPA_BY_STACK, by function */
	struct tpa_diff_rows cpu_stacks; /* the same by stack, only if `by` is TPA_BY_STACK */
	int growth_unit;  /* 0: every run is too short to tell; 1: per step; 2: per second; 3: runs differ */
	bool growth_open; /* a run is too short to tell */
};

void tpa_diff_sites_free(struct tpa_diff_sites *sites);

/*
 * Adds the process with that index. Call it for each process of a run, then tpa_diff_sites_end_run(). Sides: 0: old,
 * 1: new.
 */
void tpa_diff_sites_add(struct tpa_diff_sites *sites, const struct tpa_run *run, size_t index,
			struct tpa_symbols *symbols);
void tpa_diff_sites_end_run(struct tpa_diff_sites *sites, int side, const struct tpa_run *run);

void tpa_diff_sites_test(struct tpa_diff_sites *sites);

/*
 * What one hit of the sample during the whole observed time stands for, in bytes a step or second; 0: the process was
 * not sampled, or was observed too briefly.
 */
double tpa_diff_unseen_rate(const struct tpa_process *process);

#endif
