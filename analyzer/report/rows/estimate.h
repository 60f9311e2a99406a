/* SPDX-License-Identifier: Apache-2.0 */
/* Which numbers of a run are estimates, and how uncertain they are. */
#ifndef TPROF_REPORT_ROWS_ESTIMATE_H
#define TPROF_REPORT_ROWS_ESTIMATE_H

#include "model/result/result.h"

/* Whether any process of the run was sampled; and the largest of their `unseen` values, field by field. */
bool tpa_run_estimated(const struct tpa_run *run);
struct tpa_unseen tpa_run_unseen(const struct tpa_run *run);
struct tpa_unseen tpa_unseen_larger(struct tpa_unseen a, struct tpa_unseen b);

/*
 * Whether an estimate has no upper bound. If no sample hit it, nothing tells how much there is; the variance, which
 * comes from the samples, would wrongly say that there is surely none.
 */
static inline bool tpa_estimate_is_open(uint64_t value)
{
	return value == 0;
}

#endif
