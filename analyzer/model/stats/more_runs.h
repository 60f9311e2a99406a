/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates how many more runs would tell whether two sides differ. */
#ifndef TPROF_MODEL_STATS_MORE_RUNS_H
#define TPROF_MODEL_STATS_MORE_RUNS_H

#include "model/stats/difference.h"

#define TPA_MORE_RUNS_MOST 1000u

/*
 * Returns how many more runs each side needs so that Welch's test at 5%, corrected for `tests` rows, finds a difference
 * of `size` in four of five cases, if new runs vary like those already made. `runs`: those already made, per side.
 * Returns 0 if the number is unknown or above TPA_MORE_RUNS_MOST. With one run per side, the variances are those within
 * a run, and the result is a lower bound: the variation between runs is not known.
 */
size_t tpa_more_runs(const struct tpa_difference *difference, const size_t runs[2], double size, size_t tests);

#endif
