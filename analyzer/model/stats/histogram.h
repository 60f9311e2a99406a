/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Percentiles of many durations in bounded memory, like HdrHistogram (Tene): each power of two is divided into
 * TPA_HISTOGRAM_PARTS buckets of equal width, and a percentile is the middle of its bucket. It is off by at most half a
 * bucket, 1 / (2 * TPA_HISTOGRAM_PARTS) of its value, 0.4%. The first TPA_HISTOGRAM_EXACT values are kept as they are, so
 * percentiles are exact up to that number.
 */
#ifndef TPROF_MODEL_STATS_HISTOGRAM_H
#define TPROF_MODEL_STATS_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpa_archive;

#define TPA_HISTOGRAM_BITS 7
#define TPA_HISTOGRAM_PARTS (1u << TPA_HISTOGRAM_BITS)
#define TPA_HISTOGRAM_EXACT 64u

struct tpa_histogram {
	uint64_t count, min, max;
	uint64_t few[TPA_HISTOGRAM_EXACT];
	/*
	 * [0] counts the values below TPA_HISTOGRAM_PARTS, each in its own bucket; [n] counts those in the n-th power
	 * of two from there on. NULL: there are none.
	 */
	uint64_t *parts[64 - TPA_HISTOGRAM_BITS + 1];
};

/* Frees the histogram's contents, not the histogram. NULL: does nothing. */
void tpa_histogram_free(struct tpa_histogram *histogram);

/* Saves the histogram, or loads into an empty one. */
void tpa_histogram_archive(struct tpa_archive *archive, struct tpa_histogram *histogram);

void tpa_histogram_add(struct tpa_histogram *histogram, uint64_t value);

/* Adds the value `times` times. */
void tpa_histogram_add_many(struct tpa_histogram *histogram, uint64_t value, uint64_t times);

/* Adds all values of `from`. */
void tpa_histogram_merge(struct tpa_histogram *to, const struct tpa_histogram *from);

/* Multiplies all values by `factor`. Values that are known only by their bucket may move by up to half a bucket. */
void tpa_histogram_scale(struct tpa_histogram *histogram, double factor);

/* The smallest value that at least this share of all values does not exceed ("nearest rank"); 0 if there are none. */
uint64_t tpa_histogram_percentile(const struct tpa_histogram *histogram, double share);

/*
 * The quantile as if values were not rounded but spread evenly within their buckets. It changes smoothly where a
 * percentile jumps from one bucket to the next. NAN if there are no values.
 */
double tpa_histogram_quantile(const struct tpa_histogram *histogram, double share);

/*
 * The number of values in a bucket, which is below TPA_HISTOGRAM_BUCKETS; bucket 0 has the smallest values. Also works
 * while the values are still kept one by one.
 */
uint64_t tpa_histogram_bucket(const struct tpa_histogram *histogram, size_t bucket);
/* The smallest value that a bucket counts. */
uint64_t tpa_histogram_low(size_t bucket);
#define TPA_HISTOGRAM_BUCKETS ((size_t)(64 - TPA_HISTOGRAM_BITS + 1) * TPA_HISTOGRAM_PARTS)

#endif
