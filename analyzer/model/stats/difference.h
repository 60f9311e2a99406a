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

/*
 * Two estimates with their variances, normal. `unseen`: so much a hit in a sample stands for (struct tp_unseen), so that what
 * is missing on one side may be what its sample passed by. All three 0: the numbers are exact, and there is no p.
 */
struct tp_difference tp_difference_estimates(double old_value, double old_variance, double new_value,
					     double new_variance, double unseen);

#endif
