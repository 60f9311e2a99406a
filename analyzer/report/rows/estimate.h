/* SPDX-License-Identifier: Apache-2.0 */
/* Which numbers of a run are estimates, and how uncertain they are. */
#ifndef TPROF_REPORT_ROWS_ESTIMATE_H
#define TPROF_REPORT_ROWS_ESTIMATE_H

#include "model/result/result.h"

/* Whether any process of the run was sampled; and the larger of what is not known of theirs. */
bool tp_run_estimated(const struct tp_run *run);
struct tp_unseen tp_run_unseen(const struct tp_run *run);
struct tp_unseen tp_unseen_larger(struct tp_unseen a, struct tp_unseen b);

/*
 * Whether an estimate has no upper end: of what no sample met nothing tells how much there is. The variance, which is of
 * samples, would say that there is surely none.
 */
static inline bool tp_estimate_is_open(uint64_t value)
{
	return value == 0;
}

#endif
