/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics that several reports use. Intervals are at 95% confidence. */
#ifndef TPROF_MODEL_STATS_STATS_H
#define TPROF_MODEL_STATS_STATS_H

#include <stddef.h>
#include <stdint.h>

#define TPA_NORMAL_95 1.959963984540054 /* the normal distribution's 97.5% point */

struct tpa_interval {
	double low, high;
};

/*
 * The interval of a share p with `hits` hits in `trials` trials (any numbers, not only integers): the score interval of
 * Wilson (1927), which keeps its level also for small samples and for shares near 0 and 1. Without a trial: [0, 1].
 */
struct tpa_interval tpa_interval_share(double hits, double trials);

/*
 * The interval of a sum that is estimated from a sample, by the gamma distribution (M. Fay, E. Feuer, "Confidence
 * intervals for directly standardized rates", Statistics in Medicine 16, 1997). A sum of rare and heavy items is
 * skewed, so a normal interval would end too low. The weight of one more item is taken to be variance / estimate, the
 * mean weight of a sampled item, but not less than `unseen` (0: unknown): if large items were certain to be sampled,
 * that mean says nothing about the rest. Equal weights give Garwood's (1936) interval of a Poisson count.
 */
struct tpa_interval tpa_interval_estimate(double estimate, double variance, double unseen);

/*
 * Mean and variance of numbers that are added one by one, without cancellation: Welford, "Note on a method for
 * calculating corrected sums of squares and products", Technometrics 4 (1962).
 */
struct tpa_moments {
	uint64_t count;
	double mean, squares; /* squares: sum of the squared distances from the mean */
};
void tpa_moments_add(struct tpa_moments *moments, double value);
/* Adds all numbers of `from`: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm", 1979. */
void tpa_moments_merge(struct tpa_moments *to, const struct tpa_moments *from);
/* Adds the same value `times` times: the pairwise update of Chan, Golub and LeVeque (1979). */
void tpa_moments_add_many(struct tpa_moments *moments, double value, uint64_t times);
/* Multiplies all numbers. */
void tpa_moments_scale(struct tpa_moments *moments, double factor);
/* Adds zeros until there are `count` numbers, for something that was first found late. */
void tpa_moments_fill(struct tpa_moments *moments, uint64_t count);
/* Standard deviation of a sample, with n - 1; 0 if there are fewer than two numbers. */
double tpa_moments_deviation(const struct tpa_moments *moments);

/*
 * The interval of the mean, mean +- t(0.975, n - 1) * s / sqrt(n) (Student 1908). It holds for normal numbers, and
 * approximately for many others. For fewer than two it is unknown: low = high = NAN.
 */
struct tpa_interval tpa_moments_interval(const struct tpa_moments *moments);

/* The median of `count` numbers, none of which is NAN, in linear time; `list` is left in another order. `count` must not be 0. */
double tpa_median(double *list, size_t count);

/* Rounds to the nearest integer. Negative numbers and NAN become 0, too large ones UINT64_MAX. */
uint64_t tpa_round(double value);

#endif
