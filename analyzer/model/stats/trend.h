/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a series grow without end? The statistics behind leaks: a stack's live memory, looked at in some dozens of steps.
 *
 * Neighbouring values of live memory are not independent, which is what makes common tests of trends (Mann, Kendall) see
 * leaks everywhere. So the differences between neighbours are tested, not the values: under the null hypothesis that no
 * direction is preferred, each difference might as well have had the other sign (Fisher 1935, sign-flip test), whatever its
 * size. That holds for a random walk, and more than holds for all that comes back to where it was, as its differences
 * then cancel each other. P(sum >= the one seen) is bounded by Chernoff's method (1952): the least of
 * exp(-l s) * product of cosh(l d) over l > 0, which is 2^-k for k rises and no fall.
 *
 * Of many stacks that are looked at together, Holm's method (1979) keeps the probability of any false leak at its level.
 */
#ifndef TPROF_MODEL_STATS_TREND_H
#define TPROF_MODEL_STATS_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/stats/rates.h"

#define TP_TREND_MAX 128u  /* values of a series at most */
#define TP_TREND_LEAST 16u /* fewer tell nothing */
#define TP_TREND_LEVEL 0.05

enum tp_verdict {
	TP_VERDICT_STABLE,
	TP_VERDICT_LEAK,     /* grows, and still did at the end */
	TP_VERDICT_WARM_UP,  /* grew, then stopped */
	TP_VERDICT_SAWTOOTH, /* grows and is emptied, again and again */
	TP_VERDICT_BURST,    /* rose for a short time, or in a jump or two */
	TP_VERDICT_RISING,   /* rose now and then, never fell, and goes on: too rarely to be told from chance. Or surely
			      * grows, but ever more slowly, and whether to an end can't be told; or the run is short */
};

struct tp_trend {
	double p;	       /* of the growth, for this series alone */
	enum tp_course course; /* steady, until tp_trend_course() was asked */
	bool varies;	       /* it is one of those that are looked at: not constant since the warm-up */
	bool ongoing;
	bool doubtful;		 /* no, until tp_trend_is_doubtful() was asked */
	size_t onset;		 /* the value from which on it grows; 0: from the beginning */
	double slope, low, high; /* per unit of x, since the onset; 95% confidence */
};

/*
 * Looks at y[0..n) at places x[0..n), which rise. n is TP_TREND_LEAST to TP_TREND_MAX. Costs n; what is expensive of it
 * (onset, slope) waits for tp_trend_measure().
 */
void tp_trend_test(const double *x, const double *y, size_t n, struct tp_trend *trend);

/* tp_rates_course() of all but the warm-up. */
enum tp_course tp_trend_course(const double *x, const double *bytes, const double *blocks, size_t n);

/*
 * A short run, of less than 64 looks, says too little if what grew is replaced all the time, by tp_rates_are_replaced(): most of
 * what begins does so empty, and fills for as long. Or if bytes fell now and then and p, of `looked` series, is not below a
 * fifth of the level: what is empty at first can't but rise. Of longer runs the growth itself says enough; and what is copied
 * as a whole in each step may grow all the same. `survivors`: NULL if they are not known.
 */
bool tp_trend_is_doubtful(const double *x, const double *bytes, const double *blocks, const double *survivors, size_t n,
			  double p, size_t looked);

/*
 * Onset by the best fit of a flat line that turns into a rising one; from there on, slope by Theil (1950) and Sen (1968):
 * the median of the slopes between all pairs. Its interval is that of a random walk's drift, Student's with the differences'
 * variance, which is too wide for all that is less dependent, never too narrow. Costs n * n.
 */
void tp_trend_measure(const double *x, const double *y, size_t n, struct tp_trend *trend);

/* The slope from the first value to the last, with the interval of a random walk's drift. Costs n. */
void tp_trend_drift(const double *x, const double *y, size_t n, struct tp_trend *trend);

/* The slope alone, of all values. */
void tp_trend_slope(const double *x, const double *y, size_t n, struct tp_trend *trend);

/*
 * What it is. `significant`: the growth is, as tp_trend_holm() says.
 */
enum tp_verdict tp_trend_verdict(const double *y, size_t n, const struct tp_trend *trend, bool significant);

/* Can any series of n values be significant at all, of so many that are looked at? One that rises each time has the least p. */
bool tp_trend_can_tell(size_t n, size_t looked);

/*
 * Holm's step-down method: of p-values in rising order, how many are significant at TP_TREND_LEVEL together. `looked`: how
 * many there were, those that are not in the list (they are larger) with them.
 */
size_t tp_trend_holm(const double *sorted, size_t count, size_t looked);

#endif
