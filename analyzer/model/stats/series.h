/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers in the order in which they came, as the means of batches of neighbours: what is left of numbers that depend on
 * each other once they are put together, in bounded memory. When there are as many batches as there is room for,
 * neighbours become one, so all are of the same number of values, a power of two, and at least half of the room is in use.
 */
#ifndef TPROF_MODEL_STATS_SERIES_H
#define TPROF_MODEL_STATS_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/stats/stats.h"

struct tp_series {
	size_t count;  /* full batches */
	uint64_t size; /* values of a full one; 0: nothing was added yet */
	uint64_t open; /* values of the one that is being filled */
	double open_sum;
};

/* The same value so many times. `means` has `room` places, an even number, and is the series' own. */
void tp_series_add(struct tp_series *series, double *means, size_t room, double value, uint64_t times);

/* Whether it can be of so many places: for one that was loaded. */
bool tp_series_is_valid(const struct tp_series *series, size_t room);

/* ---- durations of which the mean is asked for ---- */

#define TP_MEANS 256u

#define TP_MEANS_LEAST 8u /* batches that say enough of values of which only means are known */

struct tp_means {
	struct tp_series series;
	bool together; /* of some only the mean was known */
	double values[TP_MEANS];
};

static inline void tp_means_add(struct tp_means *means, double value)
{
	tp_series_add(&means->series, means->values, TP_MEANS, value, 1);
}

/* So many values of which only the mean is known. They stay together: a batch has at least as many, from here on. */
void tp_means_add_mean(struct tp_means *means, double mean, uint64_t values);

/* The other's behind its own. */
void tp_means_append(struct tp_means *to, const struct tp_means *from);

/* Without the first `values`, and without those that were put together with them. */
void tp_means_leave_out(struct tp_means *means, uint64_t values);

/*
 * The 95% interval of the mean of the values that `moments` is of. That of batches whose neighbours may be alike
 * (model/stats/effective.h), and never narrower than that of independent values, of which the moments know all: but of values
 * that came together the moments know about where they were, and are too wide.
 * `variance`: of the mean, by those values that were not measured but estimated; 0: there are none.
 */
struct tp_interval tp_means_interval(const struct tp_means *means, const struct tp_moments *moments, double variance);

/* As many independent values would have an interval of that width: at most all of them. */
double tp_means_worth(struct tp_interval interval, const struct tp_moments *moments);

#endif
