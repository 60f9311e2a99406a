/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics that reports share. Intervals are at 95% confidence. */
#ifndef TPROF_MODEL_STATS_H
#define TPROF_MODEL_STATS_H

#include <stdint.h>

#define TP_NORMAL_95 1.959963984540054 /* the normal distribution's 97.5% point */

struct tp_interval {
	double low, high;
};

/*
 * Of a share p that was met `hits` times in `trials` (any numbers, not only whole ones): the score interval of Wilson
 * (1927), which holds its level also for small samples and shares near 0 and 1. Without a trial: [0, 1].
 */
struct tp_interval tp_interval_share(double hits, double trials);

/* Of an estimate of something that can't be negative, with its variance: normal, cut at 0. */
struct tp_interval tp_interval_estimate(double estimate, double variance);

/* Half the width of tp_interval_estimate() before it is cut. */
double tp_interval_half(double variance);

/* A number that was made from a trace, as an integer: negative and too large ones end at the ends of the type. */
uint64_t tp_round(double value);

#endif
