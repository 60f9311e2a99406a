/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers in time order, kept as the means of batches of neighbours, in bounded memory. Averaging removes the
 * dependence between neighbours. When all places are taken, neighbouring batches are merged. So all batches have the
 * same number of values, a power of two, and at least half of the places are in use.
 */
#ifndef TPROF_MODEL_STATS_SERIES_H
#define TPROF_MODEL_STATS_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/stats/stats.h"

struct tpa_series {
	size_t count;  /* full batches */
	uint64_t size; /* values of a full batch; 0: nothing was added yet */
	uint64_t open; /* values of the batch that is being filled */
	double open_sum;
};

/* Adds the same value `times` times. `means` has `room` places, an even number, and belongs to the series. */
void tpa_series_add(struct tpa_series *series, double *means, size_t room, double value, uint64_t times);

/* Multiplies all values. */
void tpa_series_scale(struct tpa_series *series, double *means, double factor);

/* Is a loaded series valid for `room` places? */
bool tpa_series_is_valid(const struct tpa_series *series, size_t room);

/* ---- durations whose mean is reported ---- */

#define TPA_MEANS 256u

#define TPA_MEANS_LEAST 8u /* batches needed if only means of the values are known */

struct tpa_means {
	struct tpa_series series;
	bool together; /* only the mean of some values is known */
	double values[TPA_MEANS];
};

static inline void tpa_means_add(struct tpa_means *means, double value)
{
	tpa_series_add(&means->series, means->values, TPA_MEANS, value, 1);
}

/*
 * Adds `values` values of which only the mean is known. They stay in one batch, so from now on a batch has at least as
 * many values.
 */
void tpa_means_add_mean(struct tpa_means *means, double mean, uint64_t values);

/* Appends the batches of `from`. */
void tpa_means_append(struct tpa_means *to, const struct tpa_means *from);

/* Removes the first `values` values, and those that are in a batch with them. */
void tpa_means_leave_out(struct tpa_means *means, uint64_t values);

/*
 * The 95% interval of the mean of the values of `moments`. It is that of batches whose neighbours may be correlated
 * (model/stats/effective.h), but never narrower than the interval of independent values, which the moments give. If
 * values were added by their mean, that lower bound is too wide and applies only while there are fewer than
 * TPA_MEANS_LEAST batches. `variance`: variance of the mean due to values that were estimated instead of measured; 0:
 * none were.
 */
struct tpa_interval tpa_means_interval(const struct tpa_means *means, const struct tpa_moments *moments,
				       double variance);

/* The number of independent values that give an interval of that width; at most all of them. */
double tpa_means_worth(struct tpa_interval interval, const struct tpa_moments *moments);

#endif
