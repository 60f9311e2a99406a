/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests whether two measurements differ, and by how much: the ratio of new to old, its 95% interval, and the two-sided
 * p of no difference. p is not corrected for many tests: tpa_holm() does that.
 *
 * One run a side: successive calls are alike, because a machine that is slow now is slow in the next call too. A test
 * that takes calls as independent would find differences between any two runs. Therefore batches of neighbours
 * (model/stats/batches.h) are ranked instead of calls, by Mann and Whitney (1947). The variance of the rank sum allows
 * for dependent values: each side's is multiplied by (1 + r) / (1 - r), where r is the correlation of neighbouring
 * batches, corrected for its bias in short series (Marriott and Pope 1954), or that of batches merged in pairs or
 * fours, if it is larger. p is Student's, with as many degrees of freedom as there are independent batches. If a run is
 * not much longer than the correlation lasts, nothing can be told: TPA_DOUBT_DRIFT. The interval contains the ratios
 * that this test would not reject; the ratio is their middle (Hodges and Lehmann 1963).
 *
 * A single run can't show what differs from run to run (the placement of memory, other load on the machine). Several
 * runs a side are compared by Welch's test (1947), with one value for each run.
 */
#ifndef TPROF_MODEL_STATS_DIFFERENCE_H
#define TPROF_MODEL_STATS_DIFFERENCE_H

#include "model/stats/batches.h"
#include "model/stats/stats.h"

/* The reason why there is no p. */
enum tpa_doubt {
	TPA_DOUBT_NONE,
	TPA_DOUBT_FEW,	 /* too few values to test */
	TPA_DOUBT_DRIFT, /* it changes so slowly within a run that too few parts are independent */
};

struct tpa_difference {
	double ratio;		      /* NAN: nothing to compare */
	struct tpa_interval interval; /* an end that is unknown is NAN */
	/* Of the difference, if the values are not logarithms; NAN: unknown */
	struct tpa_interval change;
	/* Of one run's value, or of its logarithm, on each side; of one run a side those within the run. NAN: unknown */
	double variances[2];
	double p; /* NAN: unknown, see `doubt` */
	enum tpa_doubt doubt;
};

#define TPA_DIFFERENCE_LEAST 8u /* batches on each side */

/* Compares durations, with one run a side. */
struct tpa_difference tpa_difference_batches(const struct tpa_batches *old_side, const struct tpa_batches *new_side);

/*
 * Compares one value for each run. `logarithms`: the values are logarithms, and the ratio is that of the original
 * values. If one side has a single run, the other side's spread is used for both; if both have, the result is a ratio
 * and nothing else.
 */
struct tpa_difference tpa_difference_runs(const struct tpa_moments *old_side, const struct tpa_moments *new_side,
					  bool logarithms);

/* `unseen`: what one hit in its sample stands for (struct tpa_unseen); 0: no sample, and the estimate is normal. */
struct tpa_estimated {
	double value, variance, unseen;
};

/* At 95%. Of a sample that met nothing: from 0 up to what it passes by once in 40 times. */
struct tpa_interval tpa_estimated_interval(const struct tpa_estimated *estimated);

/*
 * Two estimates. What is missing on one side may be what its sample passed by. The intervals of their difference and ratio
 * are put together from those of each side, which for a sample reach further up than down (A. Donner, G. Zou,
 * "Closed-form confidence intervals for functions of the normal mean and standard deviation", Statistical Methods in
 * Medical Research 21, 2012). Where the old sample met nothing the ratio is not known, but what it is at least.
 * Variances and unseen all 0: the numbers are exact, and there is no p.
 */
struct tpa_difference tpa_difference_estimates(const struct tpa_estimated *old_side,
					       const struct tpa_estimated *new_side);

/*
 * Several runs a side that were sampled: no surer than the runs' spread allows, nor than what their samples may have
 * passed by, as few runs may agree by chance. `runs`: tpa_difference_runs(); `means`: tpa_difference_estimates() of the means.
 */
struct tpa_difference tpa_difference_wider(const struct tpa_difference *runs, const struct tpa_difference *means);

#endif
