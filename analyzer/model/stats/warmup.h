/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many calls (or steps) at the start are not like those that follow: caches are cold, memory is touched for the first
 * time, kernels are compiled. They are left out of means. The first of several always is one; so is each further call in a
 * row that took longer than the upper fence, Q3 + 1.5 (Q3 - Q1) (Tukey, Exploratory Data Analysis, 1977), of the calls in
 * the second half of those at hand: a rule that a single late outlier does not move, and which needs no distribution.
 */
#ifndef TPROF_MODEL_STATS_WARMUP_H
#define TPROF_MODEL_STATS_WARMUP_H

#include <stddef.h>
#include <stdint.h>

#include "model/stats/histogram.h"

#define TP_WARMUP_MIN 8u /* calls that it takes to tell more than the first from the rest */

/* `durations`: of the first `count` calls, in order. 0 if there is but one; at most half of them otherwise. */
size_t tp_warmup(const uint64_t *durations, size_t count);

/* The same of a histogram of durations that were added in order. */
size_t tp_warmup_of(const struct tp_histogram *durations);

#endif
