/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether two runs differ by more than chance. All p-values are two-sided; NAN: too little data to test. */
#ifndef TPROF_MODEL_STATS_RANK_H
#define TPROF_MODEL_STATS_RANK_H

#include <stddef.h>

#include "model/stats/histogram.h"

/* Calls needed on each side: with fewer, the normal distribution is not a good approximation */
#define TPA_RANK_LEAST 8u

struct tpa_rank_test {
	double p;
	/* The probability that a call of `b` takes longer than one of `a`; a tie counts half. NAN: no calls */
	double later;
};

/*
 * The rank test of Mann and Whitney (1947), with ties, by the normal distribution. It treats calls as independent.
 * While both histograms keep their values one by one, the ranks are exact; otherwise values in one bucket (0.8% wide)
 * are ties.
 */
struct tpa_rank_test tpa_rank_test(const struct tpa_histogram *a, const struct tpa_histogram *b);

/* The pooled test of two proportions, with `a_hits` hits in `a_trials` trials and so on (any numbers). */
double tpa_share_test(double a_hits, double a_trials, double b_hits, double b_trials);

/*
 * Corrects p-values for many tests, in place (Holm 1979): the probability that any of those below 5% is false is below
 * 5%. NANs are ignored.
 */
void tpa_holm(double *list, size_t count);

#endif
