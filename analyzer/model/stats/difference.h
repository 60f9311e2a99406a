/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is what was measured twice different, and by how much? As a ratio, new to old, with its interval at 95% and the
 * two-sided p of there being no difference. Not corrected for many: tp_holm() does that.
 *
 * One run a side: calls that follow each other are alike, as a machine that is slow now is slow in the next call too, so
 * a test that takes them as independent sees differences between any two runs. Batches of neighbours (model/stats/batches.h)
 * are ranked instead of calls, by Mann and Whitney (1947), and the variance of their rank sum is what dependent values
 * have: each side's is taken times (1 + r) / (1 - r), r the correlation of neighbouring batches without the bias that it
 * has in short series (Marriott and Pope 1954), or of batches put together in pairs, or in fours, where that says more.
 * The p is Student's, with as many degrees of freedom as there were independent batches. Where a run is not much longer than
 * what goes on in it nothing can be told: TP_DOUBT_DRIFT. The interval is of the ratios that this test would not refuse, the
 * ratio their middle (Hodges and Lehmann 1963).
 *
 * What differs from one run to the next (where memory lies, what else the machine does) is in no single run: several a
 * side are compared by Welch's test (1947) over one value a run.
 */
#ifndef TPROF_MODEL_STATS_DIFFERENCE_H
#define TPROF_MODEL_STATS_DIFFERENCE_H

#include "model/stats/batches.h"
#include "model/stats/stats.h"

/* Why there is no p. */
enum tp_doubt {
	TP_DOUBT_NONE,
	TP_DOUBT_FEW,	/* too little to test */
	TP_DOUBT_DRIFT, /* it changes so slowly within a run that there are too few independent parts */
};

struct tp_difference {
	double ratio;		     /* NAN: of nothing */
	struct tp_interval interval; /* NAN, each end alone: not known */
	struct tp_interval change;   /* of the difference, where the values are no logarithms; NAN: not known */
	double p;		     /* NAN: not known, see `doubt` */
	enum tp_doubt doubt;
};

#define TP_DIFFERENCE_LEAST 8u /* batches of each */

/* Durations of one run a side. */
struct tp_difference tp_difference_batches(const struct tp_batches *old_side, const struct tp_batches *new_side);

/*
 * A value a run. `logarithms`: the values are such, and the ratio is that of what they are of. Of one run on one side
 * the other's spread is taken for both; of one on each there is a ratio and no more.
 */
struct tp_difference tp_difference_runs(const struct tp_moments *old_side, const struct tp_moments *new_side,
					bool logarithms);

/* `unseen`: what one hit in its sample stands for (struct tp_unseen); 0: no sample, and the estimate is normal. */
struct tp_estimated {
	double value, variance, unseen;
};

/* At 95%. Of a sample that met nothing: from 0 up to what it passes by once in 40 times. */
struct tp_interval tp_estimated_interval(const struct tp_estimated *estimated);

/*
 * Two estimates. What is missing on one side may be what its sample passed by. The intervals of their difference and ratio
 * are put together from those of each side, which for a sample reach further up than down (A. Donner, G. Zou,
 * "Closed-form confidence intervals for functions of the normal mean and standard deviation", Statistical Methods in
 * Medical Research 21, 2012). Where the old sample met nothing the ratio is not known, but what it is at least.
 * Variances and unseen all 0: the numbers are exact, and there is no p.
 */
struct tp_difference tp_difference_estimates(const struct tp_estimated *old_side, const struct tp_estimated *new_side);

/*
 * Several runs a side that were sampled: no surer than the runs' spread allows, nor than what their samples may have
 * passed by, as few runs may agree by chance. `runs`: tp_difference_runs(); `means`: tp_difference_estimates() of the means.
 */
struct tp_difference tp_difference_wider(const struct tp_difference *runs, const struct tp_difference *means);

#endif
