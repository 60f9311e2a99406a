/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests whether two measurements differ, and by how much: the ratio of new to old, its 95% interval, and the two-sided
 * p-value of no difference. The p-value is not corrected for multiple tests; tpa_holm() does that.
 *
 * One run per side: successive calls are correlated, because a machine that is slow now is slow in the next call too. A
 * test that treats calls as independent would find differences between any two runs. So the test of Mann and Whitney
 * (1947) ranks batches of neighbouring calls (model/stats/batches.h) instead of calls. The variance of the rank sum
 * allows for the correlation: each side's variance is multiplied by (1 + r) / (1 - r), where r is the correlation of
 * neighbouring batches, corrected for its bias in short series (Marriott and Pope 1954). If batches merged in pairs
 * give a larger variance, that one is used. p is Student's, with as many degrees of freedom as there are independent
 * batches. If a run is not much longer than the correlation lasts, p is unknown: TPA_DOUBT_DRIFT. The interval contains
 * the ratios that this test would not reject; the ratio is the median over all pairs of batches (Hodges and Lehmann
 * 1963).
 *
 * A single run can't show what differs from run to run (the placement of memory, other load on the machine). Several
 * runs per side are compared by Welch's test (1947), with one value for each run.
 */
#ifndef TPROF_MODEL_STATS_DIFFERENCE_H
#define TPROF_MODEL_STATS_DIFFERENCE_H

#include "model/stats/batches.h"
#include "model/stats/stats.h"

/* The reason why there is no p. */
enum tpa_doubt {
	TPA_DOUBT_NONE,
	TPA_DOUBT_FEW,	 /* too few values to test */
	TPA_DOUBT_DRIFT, /* the values change so slowly within a run that too few batches are independent */
};

struct tpa_difference {
	double ratio;		      /* new / old; NAN: nothing to compare */
	struct tpa_interval interval; /* of the ratio; NAN: this end is unknown */
	/* Interval of new - old, if the values are not logarithms; NAN: unknown */
	struct tpa_interval change;
	/*
	 * Variance of one run's value, or of its logarithm, on each side. With one run per side: the variance within
	 * the run. NAN: unknown
	 */
	double variances[2];
	double p; /* NAN: unknown, see `doubt` */
	enum tpa_doubt doubt;
};

#define TPA_DIFFERENCE_LEAST 8u /* batches needed on each side for a p-value */

/*
 * Compares durations of one run per side. With fewer than TPA_DIFFERENCE_LEAST batches on a side, only the ratio is
 * known.
 */
struct tpa_difference tpa_difference_batches(const struct tpa_batches *old_side, const struct tpa_batches *new_side);

/*
 * Compares runs, with one value for each run. `logarithms`: the values are logarithms, and the ratio is that of the
 * original values. If one side has a single run, the other side's variance is used for both. If both sides have a
 * single run, only the ratio is known.
 */
struct tpa_difference tpa_difference_runs(const struct tpa_moments *old_side, const struct tpa_moments *new_side,
					  bool logarithms);

/*
 * An estimate. `unseen`: what one hit of its sample stands for (struct tpa_unseen); 0: it has no sample, and is
 * normally distributed.
 */
struct tpa_estimated {
	double value, variance, unseen;
};

/*
 * The 95% interval of an estimate. If its sample hit nothing: from 0 to the value that a sample misses in one of 40
 * cases.
 */
struct tpa_interval tpa_estimated_interval(const struct tpa_estimated *estimated);

/*
 * Compares two estimates. What is missing on one side may have been missed by its sample. The intervals of the
 * difference and of the ratio are computed from each side's interval, which for a sample reaches further up than down
 * (A. Donner, G. Zou, "Closed-form confidence intervals for functions of the normal mean and standard deviation",
 * Statistical Methods in Medical Research 21, 2012). If the old sample hit nothing, the ratio is unknown, but the lower
 * end of its interval is known. If `variance` and `unseen` are 0 on both sides, the numbers are exact, and p is
 * unknown.
 */
struct tpa_difference tpa_difference_estimates(const struct tpa_estimated *old_side,
					       const struct tpa_estimated *new_side);

/*
 * Combines two results for several sampled runs per side: takes the larger p and the wider intervals. A few runs may
 * agree by chance, so the spread of the runs alone is not enough: their samples may have missed something. `runs`: from
 * tpa_difference_runs(); `means`: from tpa_difference_estimates() of the means.
 */
struct tpa_difference tpa_difference_wider(const struct tpa_difference *runs, const struct tpa_difference *means);

#endif
