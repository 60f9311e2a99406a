/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stats/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/memory.h"
#include "base/order.h"
#include "model/stats/stats.h"

#define GROUPS (64 - TPA_HISTOGRAM_BITS + 1)

void tpa_histogram_free(struct tpa_histogram *histogram)
{
	for (unsigned i = 0; histogram && i < GROUPS; i++)
		free(histogram->parts[i]);
}

static unsigned group_of(uint64_t value)
{
	return value < TPA_HISTOGRAM_PARTS ? 0 : 64 - TPA_HISTOGRAM_BITS - (unsigned)__builtin_clzll(value);
}

static uint64_t part_of(uint64_t value, unsigned group)
{
	return group ? (value >> (group - 1)) - TPA_HISTOGRAM_PARTS : value;
}

uint64_t tpa_histogram_bucket(const struct tpa_histogram *histogram, size_t bucket)
{
	unsigned group = (unsigned)(bucket / TPA_HISTOGRAM_PARTS);
	uint64_t part = bucket % TPA_HISTOGRAM_PARTS, found = 0;

	if (histogram->count > TPA_HISTOGRAM_EXACT)
		return histogram->parts[group] ? histogram->parts[group][part] : 0;
	for (uint64_t i = 0; i < histogram->count; i++)
		found += group_of(histogram->few[i]) == group && part_of(histogram->few[i], group) == part;
	return found;
}

static uint64_t *parts_of(struct tpa_histogram *histogram, unsigned group)
{
	if (!histogram->parts[group])
		histogram->parts[group] = tpa_zalloc(TPA_HISTOGRAM_PARTS, sizeof(uint64_t));
	return histogram->parts[group];
}

static void add_to_bucket(struct tpa_histogram *histogram, uint64_t value, uint64_t times)
{
	unsigned group = group_of(value);

	parts_of(histogram, group)[part_of(value, group)] += times;
}

void tpa_histogram_add(struct tpa_histogram *histogram, uint64_t value)
{
	if (!histogram->count || value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	if (histogram->count < TPA_HISTOGRAM_EXACT) {
		histogram->few[histogram->count++] = value;
		return;
	}
	if (histogram->count == TPA_HISTOGRAM_EXACT)
		for (unsigned i = 0; i < TPA_HISTOGRAM_EXACT; i++)
			add_to_bucket(histogram, histogram->few[i], 1);
	histogram->count++;
	add_to_bucket(histogram, value, 1);
}

void tpa_histogram_add_many(struct tpa_histogram *histogram, uint64_t value, uint64_t times)
{
	for (; times && histogram->count <= TPA_HISTOGRAM_EXACT; times--)
		tpa_histogram_add(histogram, value);
	if (!times)
		return;
	histogram->min = value < histogram->min ? value : histogram->min;
	histogram->max = value > histogram->max ? value : histogram->max;
	histogram->count += times;
	add_to_bucket(histogram, value, times);
}

void tpa_histogram_merge(struct tpa_histogram *to, const struct tpa_histogram *from)
{
	if (from->count <= TPA_HISTOGRAM_EXACT) {
		for (uint64_t i = 0; i < from->count; i++)
			tpa_histogram_add(to, from->few[i]);
		return;
	}
	for (uint64_t i = 0; to->count <= TPA_HISTOGRAM_EXACT && i < to->count; i++)
		add_to_bucket(to, to->few[i], 1);
	for (unsigned group = 0; group < GROUPS; group++)
		for (unsigned part = 0; from->parts[group] && part < TPA_HISTOGRAM_PARTS; part++)
			parts_of(to, group)[part] += from->parts[group][part];
	to->min = to->count && to->min < from->min ? to->min : from->min;
	to->max = to->max > from->max ? to->max : from->max;
	to->count += from->count;
}

/* The smallest value of a bucket. */
static uint64_t low_of(unsigned group, uint64_t part)
{
	return group ? (TPA_HISTOGRAM_PARTS + part) << (group - 1) : part;
}

uint64_t tpa_histogram_low(size_t bucket)
{
	return low_of((unsigned)(bucket / TPA_HISTOGRAM_PARTS), bucket % TPA_HISTOGRAM_PARTS);
}

/* Adds `values` values, spread evenly from `low` to `high`, to the buckets of this range. */
static void spread(struct tpa_histogram *histogram, double low, double high, uint64_t values)
{
	uint64_t at = tpa_round(low), done = 0;

	while (done < values) {
		unsigned group = group_of(at);
		uint64_t next = low_of(group, part_of(at, group) + 1);
		double share = high > low ? ((double)next - 0.5 - low) / (high - low) : 1;
		uint64_t upto = share < 1 && next > at ? (uint64_t)(share * (double)values) : values;

		parts_of(histogram, group)[part_of(at, group)] += upto - done;
		done = upto;
		at = next;
	}
}

void tpa_histogram_scale(struct tpa_histogram *histogram, double factor)
{
	uint64_t *parts[GROUPS];

	if (factor == 1)
		return;
	histogram->min = tpa_round((double)histogram->min * factor);
	histogram->max = tpa_round((double)histogram->max * factor);
	for (size_t i = 0; i < TPA_HISTOGRAM_EXACT; i++)
		histogram->few[i] = tpa_round((double)histogram->few[i] * factor);
	memcpy(parts, histogram->parts, sizeof(parts));
	memset(histogram->parts, 0, sizeof(parts));
	for (unsigned group = 0; group < GROUPS; group++) {
		for (unsigned part = 0; parts[group] && part < TPA_HISTOGRAM_PARTS; part++) {
			double low = (double)low_of(group, part), width = group ? ldexp(1, (int)group - 1) : 1;

			spread(histogram, (low - 0.5) * factor, (low + width - 0.5) * factor, parts[group][part]);
		}
		free(parts[group]);
	}
}

static uint64_t exact(const struct tpa_histogram *histogram, uint64_t rank)
{
	uint64_t sorted[TPA_HISTOGRAM_EXACT];

	memcpy(sorted, histogram->few, sizeof(sorted));
	TPA_SORT_NUMBERS(sorted, histogram->count);
	return sorted[rank - 1];
}

/* The middle of a bucket; those of the first two groups hold one value each. */
static uint64_t middle(unsigned group, uint64_t part)
{
	if (group < 2)
		return group ? TPA_HISTOGRAM_PARTS + part : part;
	return ((TPA_HISTOGRAM_PARTS + part) << (group - 1)) + (UINT64_C(1) << (group - 2));
}

uint64_t tpa_histogram_percentile(const struct tpa_histogram *histogram, double share)
{
	uint64_t rank = (uint64_t)ceil(share * (double)histogram->count), seen = 0, value = histogram->max;
	bool found = false;

	if (!histogram->count)
		return 0;
	rank = rank < 1 ? 1 : rank > histogram->count ? histogram->count : rank;
	if (histogram->count <= TPA_HISTOGRAM_EXACT)
		return exact(histogram, rank);
	for (unsigned group = 0; group < GROUPS && !found; group++)
		for (unsigned part = 0; histogram->parts[group] && part < TPA_HISTOGRAM_PARTS && !found; part++) {
			seen += histogram->parts[group][part];
			found = seen >= rank;
			if (found)
				value = middle(group, part);
		}
	return value < histogram->min ? histogram->min : value > histogram->max ? histogram->max : value;
}

/* Interpolates between neighbouring values. */
static double exact_quantile(const struct tpa_histogram *histogram, double share)
{
	double place = share * (double)(histogram->count - 1), below = floor(place);
	uint64_t rank = (uint64_t)below + 1, next = rank < histogram->count ? rank + 1 : rank;
	double low = (double)exact(histogram, rank), high = (double)exact(histogram, next);

	return low + (high - low) * (place - below);
}

double tpa_histogram_quantile(const struct tpa_histogram *histogram, double share)
{
	double place = share * (double)histogram->count, seen = 0;

	if (!histogram->count)
		return NAN;
	if (histogram->count <= TPA_HISTOGRAM_EXACT)
		return exact_quantile(histogram, share);
	for (unsigned group = 0; group < GROUPS; group++) {
		for (unsigned part = 0; histogram->parts[group] && part < TPA_HISTOGRAM_PARTS; part++) {
			double count = (double)histogram->parts[group][part];
			double width = group ? ldexp(1, (int)group - 1) : 1;
			double low = group ? (TPA_HISTOGRAM_PARTS + part) * width : part;

			if (count > 0 && seen + count >= place)
				return low - 0.5 + width * (place - seen) / count;
			seen += count;
		}
	}
	return (double)histogram->max;
}

void tpa_histogram_archive(struct tpa_archive *archive, struct tpa_histogram *histogram)
{
	TPA_ARCHIVE(archive, histogram->count);
	TPA_ARCHIVE(archive, histogram->min);
	TPA_ARCHIVE(archive, histogram->max);
	TPA_ARCHIVE(archive, histogram->few);
	for (unsigned i = 0; i < GROUPS && !archive->failed; i++) {
		size_t parts = histogram->parts[i] ? TPA_HISTOGRAM_PARTS : 0;

		TPA_ARCHIVE(archive, parts);
		if (!parts || !tpa_archive_check(archive, parts == TPA_HISTOGRAM_PARTS, "a histogram has no such part"))
			continue;
		tpa_archive_array(archive, &histogram->parts[i], &parts, NULL, sizeof(uint64_t));
		tpa_archive_check(archive, parts == TPA_HISTOGRAM_PARTS, "a part of a histogram is cut short");
	}
}
