/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests whether a series grows without end. These are the statistics of leaks: the series is a stack's live memory,
 * read at some dozens of steps.
 *
 * Neighbouring values of live memory are not independent, so common trend tests (Mann, Kendall) see leaks everywhere.
 * Therefore the differences between neighbours are tested, not the values. Under the null hypothesis no direction is
 * preferred: each difference could have had the other sign with the same probability, whatever its size (Fisher 1935,
 * sign-flip test). That holds for a random walk. For a series that comes back to where it was, the test is
 * conservative, because the differences cancel each other. P(sum >= the observed sum) is bounded by Chernoff's method
 * (1952): the minimum of exp(-l s) * product of cosh(l d) over l > 0, which is 2^-k for k rises and no fall.
 *
 * When many stacks are judged together, Holm's method (1979) keeps the probability of any false leak at its level.
 */
#ifndef TPROF_MODEL_STATS_TREND_H
#define TPROF_MODEL_STATS_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/stats/rates.h"

#define TPA_TREND_MAX 128u  /* the most values of a series */
#define TPA_TREND_LEAST 16u /* fewer prove nothing */
#define TPA_TREND_LEVEL 0.05

enum tpa_verdict {
	TPA_VERDICT_STABLE,
	TPA_VERDICT_LEAK,     /* grew, and still grew at the end */
	TPA_VERDICT_WARM_UP,  /* grew, then stopped */
	TPA_VERDICT_SAWTOOTH, /* grows and is emptied, again and again */
	TPA_VERDICT_BURST,    /* rose for a short time, or in a jump or two */
	/*
	 * May leak. It rose now and then, never fell, and goes on, but too rarely to be distinguished from chance; or
	 * it surely grows, but ever more slowly, and it is unknown whether it will stop; or the run is short.
	 */
	TPA_VERDICT_RISING,
	TPA_VERDICT_WORK, /* grows, but nothing of it stays: later steps need more than earlier ones */
};

struct tpa_trend {
	double p;		 /* p-value of the growth, for this series alone */
	enum tpa_course course;	 /* steady until set by tpa_trend_follow() */
	bool varies;		 /* not constant after the warm-up: it is tested */
	bool ongoing;		 /* it still grows at the end */
	bool doubtful;		 /* false until set from tpa_trend_is_doubtful() */
	bool replaced;		 /* false until set from tpa_trend_is_replaced() */
	size_t onset;		 /* index of the value from which on it grows; 0: from the beginning */
	double slope, low, high; /* per unit of x, since the onset; 95% confidence */
};

/*
 * Tests the values y[0..n) at the positions x[0..n), which must rise. n is TPA_TREND_LEAST to TPA_TREND_MAX. Costs n;
 * the expensive results (onset, slope) are left to tpa_trend_measure().
 */
void tpa_trend_test(const double *x, const double *y, size_t n, struct tpa_trend *trend);

/*
 * Sets trend->ongoing and trend->course. If the growth begins after the warm-up, only the values since then count: a
 * series that fills ever more slowly from the middle of a run on does not do so over the whole run.
 */
void tpa_trend_follow(const double *x, const double *bytes, const double *blocks, size_t n, struct tpa_trend *trend);

/*
 * Does a short run, of fewer than 64 observations, prove too little? It does in two cases. Either the blocks that grew
 * are replaced all the time, by tpa_rates_are_replaced(): most structures are empty at first, and take that long to
 * fill. Or bytes fell now and then, and p is above a fifth of the level over `looked` series: a structure that is empty
 * at first can only rise. In longer runs the growth itself is proof enough, and something that is copied as a whole in
 * each step may still grow. `survivors`: NULL if unknown.
 */
bool tpa_trend_is_doubtful(const double *x, const double *bytes, const double *blocks, const double *survivors,
			   size_t n, double p, size_t looked);

/*
 * Is all that grows freed again soon, so that no block survives more than a few observations? Then what a step needs
 * grows, not what it leaves behind: its input becomes larger. False for a block that begins at nothing and is replaced
 * by a larger one (a list that is copied to append to it).
 */
bool tpa_trend_is_replaced(const double *x, const double *bytes, const double *blocks, const double *survivors,
			   size_t n);

/*
 * Finds the onset by the best fit of a flat line that turns into a rising one, and the slope since the onset by Theil
 * (1950) and Sen (1968): the median of the slopes between all pairs. The slope's interval is that of a random walk's
 * drift, Student's with the variance of the differences: too wide for all series that are less dependent, never too
 * narrow. Costs n * n. Not thread-safe.
 */
void tpa_trend_measure(const double *x, const double *y, size_t n, struct tpa_trend *trend);

/* Finds the slope from the first value to the last, with the interval of a random walk's drift. Costs n. */
void tpa_trend_drift(const double *x, const double *y, size_t n, struct tpa_trend *trend);

/*
 * The slope of the last quarter if the growth surely accelerates, that is, if that slope exceeds trend->slope, the
 * slope since the onset, by more than a fifth with 95% confidence. Otherwise 0.
 */
double tpa_trend_recent(const double *x, const double *y, size_t n, const struct tpa_trend *trend);

/* Finds the slope over all values, as tpa_trend_measure() does since the onset. Costs n * n. Not thread-safe. */
void tpa_trend_slope(const double *x, const double *y, size_t n, struct tpa_trend *trend);

/* The verdict on a series. `significant`: the growth is significant, by tpa_trend_holm(). */
enum tpa_verdict tpa_trend_verdict(const double *y, size_t n, const struct tpa_trend *trend, bool significant);

/*
 * Can any series of n values be significant, if `looked` series are tested? A series that always rises has the smallest
 * p.
 */
bool tpa_trend_can_tell(size_t n, size_t looked);

/*
 * Holm's step-down method: the number of p-values, in rising order, that are significant at TPA_TREND_LEVEL together.
 * `looked`: number of tested series, including those whose p is not in the list (they are larger).
 */
size_t tpa_trend_holm(const double *sorted, size_t count, size_t looked);

#endif
