/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics that reports share. Intervals are at 95% confidence. */
#ifndef TPROF_MODEL_STATS_STATS_H
#define TPROF_MODEL_STATS_STATS_H

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

/*
 * Of a sum over what was sampled, with its variance: by the gamma distribution (M. Fay, E. Feuer, "Confidence intervals for
 * directly standardized rates", Statistics in Medicine 16, 1997), for a sum of rare things that weigh much is skewed, and a
 * normal interval ends too low. What one more would have weighed is taken to be variance / estimate, the mean weight of
 * one that was sampled, but not less than `unseen` (0: that is all that is known): where much of the sum was sure to be met,
 * that mean says nothing of the rest. Equal weights give Garwood's (1936) interval of a Poisson count.
 */
struct tp_interval tp_interval_estimate(double estimate, double variance, double unseen);

/*
 * Mean and variance of numbers that come one by one, without cancellation: Welford, "Note on a method for calculating
 * corrected sums of squares and products", Technometrics 4 (1962).
 */
struct tp_moments {
	uint64_t count;
	double mean, squares; /* squares: sum of the squared distances from the mean */
};
void tp_moments_add(struct tp_moments *moments, double value);
/* All numbers of both: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm", 1979. */
void tp_moments_merge(struct tp_moments *to, const struct tp_moments *from);
/* The same value so many times: the pairwise update of Chan, Golub and LeVeque (1979). */
void tp_moments_add_many(struct tp_moments *moments, double value, uint64_t times);
/* Zeros until there are `count`: of what was met late, those before. */
void tp_moments_fill(struct tp_moments *moments, uint64_t count);
/* Of a sample, by n - 1; 0 if there are less than two. */
double tp_moments_deviation(const struct tp_moments *moments);

/*
 * Of the mean, mean +- t(0.975, n - 1) * s / sqrt(n) (Student 1908), which holds for normal numbers, and about for others
 * when there are many. Of less than two it is not known: low = high = NAN.
 */
struct tp_interval tp_moments_interval(const struct tp_moments *moments);

/* A number that was made from a trace, as an integer: negative and too large ones end at the ends of the type. */
uint64_t tp_round(double value);

#endif
