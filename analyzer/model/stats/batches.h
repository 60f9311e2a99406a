/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations in order of time, kept as the means of batches of neighbours (model/stats/series.h).
 *
 * The means are of the logarithms: a batch with one call that took a thousand times as long stays near the others, and
 * a difference of two means is the logarithm of a ratio.
 */
#ifndef TPROF_MODEL_STATS_BATCHES_H
#define TPROF_MODEL_STATS_BATCHES_H

#include <stddef.h>
#include <stdint.h>

#include "model/stats/histogram.h"
#include "model/stats/series.h"

#define TPA_BATCH_MAX 64u

struct tpa_batches {
	uint64_t calls; /* in all */
	struct tpa_series series;
	double means[TPA_BATCH_MAX]; /* of its full batches */
};

/* Adds `calls` calls of this duration in ns. Durations below 1 count as 1. */
void tpa_batches_add(struct tpa_batches *batches, double ns, uint64_t calls);

/* Adds durations whose order is unknown: they are shuffled, in the same way each time. */
struct tpa_batch_part {
	double ns;
	uint64_t calls;
};
void tpa_batches_add_parts(struct tpa_batches *batches, const struct tpa_batch_part *parts, size_t count);

/* Multiplies all durations. */
void tpa_batches_scale(struct tpa_batches *batches, double factor);

/* Appends the batches of another process in which the same op was called. */
void tpa_batches_append(struct tpa_batches *to, const struct tpa_batches *from);

#endif
