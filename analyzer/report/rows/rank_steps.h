/* SPDX-License-Identifier: Apache-2.0 */
/* What each rank did in each step: time, waiting, memory. */
#ifndef TPROF_REPORT_ROWS_RANK_STEPS_H
#define TPROF_REPORT_ROWS_RANK_STEPS_H

#include "model/ranks/ranks.h"
#include "model/result/result.h"

#define TPA_RANK_STEPS_MOST 240u /* columns: a long run has several steps in each */

struct tpa_rank_cell {
	double ns, wait_ns;  /* of all steps of the column */
	uint64_t high_bytes; /* most live bytes in it */
};

/* One step, or several neighbouring ones. */
struct tpa_rank_step {
	uint64_t first, steps;
	uint32_t slowest;	    /* rank that took longest without waiting */
	double slowest_ns, mean_ns; /* without waiting: of the slowest, and the mean over ranks */
	double wait_ns;		    /* of all ranks */
};

struct tpa_rank_steps {
	struct tpa_rank_step *list;  /* in their order */
	size_t count;		     /* 0: the ranks have no steps */
	struct tpa_rank_cell *cells; /* [rank * count + step] */
};

/* tpa_rank.process must be the index in the run. The caller frees the result with tpa_rank_steps_free(). */
struct tpa_rank_steps tpa_rank_steps_make(const struct tpa_run *run, const struct tpa_ranks *ranks);
void tpa_rank_steps_free(struct tpa_rank_steps *steps);

#endif
