/* SPDX-License-Identifier: Apache-2.0 */
/* How many more runs would tell whether two sides differ. */
#ifndef TPROF_MODEL_STATS_MORE_RUNS_H
#define TPROF_MODEL_STATS_MORE_RUNS_H

#include "model/stats/difference.h"

#define TPA_MORE_RUNS_MOST 1000u

/*
 * So many more on each side, and Welch's test at 5%, corrected for `tests` rows, finds a difference of that size in four
 * cases of five, if runs vary as those that were made. 0: unknown, or more than TPA_MORE_RUNS_MOST. Of one run a side,
 * whose `variances` are those within a run, it is the least number: how runs differ is not known.
 */
size_t tpa_more_runs(const struct tpa_difference *difference, const size_t runs[2], double size, size_t tests);

#endif
