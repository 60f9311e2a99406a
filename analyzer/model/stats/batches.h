/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations in time order, kept as the means of batches of neighbouring calls (model/stats/series.h).
 *
 * The means are means of logarithms. So one call that took a thousand times as long hardly moves its batch, and the
 * difference of two means is the logarithm of a ratio.
 */
#ifndef TPROF_MODEL_STATS_BATCHES_H
#define TPROF_MODEL_STATS_BATCHES_H

#include <stddef.h>
#include <stdint.h>

#include "model/stats/histogram.h"
#include "model/stats/series.h"

#define TPA_BATCH_MAX 64u

struct tpa_batches {
	uint64_t calls; /* calls added so far */
	struct tpa_series series;
	double means[TPA_BATCH_MAX]; /* of the logarithms, for each full batch */
};

/* Adds `calls` calls that took `ns` nanoseconds each. Durations below 1 count as 1. */
void tpa_batches_add(struct tpa_batches *batches, double ns, uint64_t calls);

/* Calls that took `ns` nanoseconds each. */
struct tpa_batch_part {
	double ns;
	uint64_t calls;
};

/* Adds calls in an unknown order: shuffles them, in the same way each time. */
void tpa_batches_add_parts(struct tpa_batches *batches, const struct tpa_batch_part *parts, size_t count);

/* Multiplies all durations by `factor`. */
void tpa_batches_scale(struct tpa_batches *batches, double factor);

/* Appends the batches of the same op in another process. */
void tpa_batches_append(struct tpa_batches *to, const struct tpa_batches *from);

#endif
