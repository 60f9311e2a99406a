/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two runs differ by more than chance. All p are two-sided; NAN: there is too little to test. */
#ifndef TPROF_MODEL_STATS_RANK_H
#define TPROF_MODEL_STATS_RANK_H

#include <stddef.h>

#include "model/stats/histogram.h"

#define TP_RANK_LEAST 8u /* calls of each: with fewer the normal distribution is no good stand-in */

struct tp_rank_test {
	double p;
	double later; /* the chance that a call of `b` takes longer than one of `a`; a tie counts half. NAN: no calls */
};

/*
 * The rank test of Mann and Whitney (1947), with ties, by the normal distribution. While both histograms hold their
 * values one by one the ranks are exact; else values of one bucket (0.8% wide) are ties. Calls are taken as independent.
 */
struct tp_rank_test tp_rank_test(const struct tp_histogram *a, const struct tp_histogram *b);

/* Two shares, met `a_hits` times in `a_trials` (any numbers): the pooled test of two proportions. */
double tp_share_test(double a_hits, double a_trials, double b_hits, double b_trials);

/*
 * Corrects p-values for being many, in place (Holm 1979): the chance that any of those below 5% is false is below 5%.
 * NANs are no tests.
 */
void tp_holm(double *list, size_t count);

#endif
