/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many calls (or steps) at the start differ from those that follow, because caches are cold, memory is touched for
 * the first time, or kernels are compiled. Means leave them out. The first of several calls always counts as warm-up.
 * So does each further call in a row that took longer than the upper fence, Q3 + 1.5 (Q3 - Q1) (Tukey, Exploratory Data
 * Analysis, 1977), of the second half of the given calls. A single late outlier does not affect this rule, and it
 * assumes no distribution.
 */
#ifndef TPROF_MODEL_STATS_WARMUP_H
#define TPROF_MODEL_STATS_WARMUP_H

#include <stddef.h>
#include <stdint.h>

#include "model/stats/histogram.h"

#define TPA_WARMUP_MIN 8u /* with fewer calls only the first is warm-up */

/*
 * Returns the number of warm-up calls: 0 if there is only one call, else at most half of them. `durations`: of the
 * first `count` calls, in order.
 */
size_t tpa_warmup(const uint64_t *durations, size_t count);

/* The same for a histogram of durations that were added in order. */
size_t tpa_warmup_of(const struct tpa_histogram *durations);

#endif
