/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stats/series.h"

#include <math.h>
#include <string.h>

#include "model/stats/effective.h"

/* Merges neighbouring batches in pairs. Their number must be even. */
static void merge_pairs(struct tpa_series *series, double *means)
{
	series->count /= 2;
	series->size *= 2;
	for (size_t i = 0; i < series->count; i++)
		means[i] = (means[2 * i] + means[2 * i + 1]) / 2;
}

void tpa_series_add(struct tpa_series *series, double *means, size_t room, double value, uint64_t times)
{
	if (!series->size)
		series->size = 1;
	while (times) {
		uint64_t take = series->size - series->open;

		take = take < times ? take : times;
		series->open += take;
		series->open_sum += value * (double)take;
		times -= take;
		if (series->open < series->size)
			break;
		means[series->count++] = series->open_sum / (double)series->size;
		series->open = 0;
		series->open_sum = 0;
		if (series->count == room)
			merge_pairs(series, means);
	}
}

void tpa_series_scale(struct tpa_series *series, double *means, double factor)
{
	for (size_t i = 0; i < series->count; i++)
		means[i] *= factor;
	series->open_sum *= factor;
}

bool tpa_series_is_valid(const struct tpa_series *series, size_t room)
{
	return series->count < room && (series->size ? series->open < series->size : !series->count && !series->open);
}

/* Enlarges the batches to at least `values` values each. A last batch without a neighbour is reopened. */
static void grow(struct tpa_means *means, uint64_t values)
{
	struct tpa_series *series = &means->series;

	while (series->count && series->size < values) {
		if (series->count % 2) {
			series->open_sum += means->values[--series->count] * (double)series->size;
			series->open += series->size;
		}
		merge_pairs(series, means->values);
	}
	series->size = series->size > values ? series->size : values;
}

void tpa_means_add_mean(struct tpa_means *means, double mean, uint64_t values)
{
	struct tpa_series *series = &means->series;

	means->together |= values > 1;
	grow(means, values);
	series->open += values;
	series->open_sum += mean * (double)values;
	if (!values || series->open < series->size)
		return;
	means->values[series->count++] = series->open_sum / (double)series->open;
	series->open = 0;
	series->open_sum = 0;
	if (series->count == TPA_MEANS)
		merge_pairs(series, means->values);
}

void tpa_means_append(struct tpa_means *to, const struct tpa_means *from)
{
	const struct tpa_series *series = &from->series;
	bool together = to->together;

	for (size_t i = 0; i < series->count; i++)
		tpa_means_add_mean(to, from->values[i], series->size);
	if (series->open)
		tpa_means_add_mean(to, series->open_sum / (double)series->open, series->open);
	to->together = together || from->together;
}

void tpa_means_leave_out(struct tpa_means *means, uint64_t values)
{
	struct tpa_series *series = &means->series;
	uint64_t batches = series->size ? (values + series->size - 1) / series->size : 0;
	size_t leave = batches < series->count ? (size_t)batches : series->count;

	series->count -= leave;
	memmove(means->values, means->values + leave, series->count * sizeof(*means->values));
	if (batches > leave) {
		series->open = 0;
		series->open_sum = 0;
	}
}

static double half_of(struct tpa_interval interval)
{
	return (interval.high - interval.low) / 2;
}

struct tpa_interval tpa_means_interval(const struct tpa_means *means, const struct tpa_moments *moments,
				       double variance)
{
	double least = half_of(tpa_moments_interval(moments)), half;

	if (moments->count < 2)
		return (struct tpa_interval){ NAN, NAN };
	half = half_of(tpa_effective_mean(means->values, means->series.count).interval);
	if (!means->together || means->series.count < TPA_MEANS_LEAST)
		half = fmax(half, least);
	half = hypot(half, TPA_NORMAL_95 * sqrt(variance));
	return (struct tpa_interval){ moments->mean - half, moments->mean + half };
}

double tpa_means_worth(struct tpa_interval interval, const struct tpa_moments *moments)
{
	double all = (double)moments->count, half = half_of(interval), least;

	if (moments->count < 2 || !(half > 0))
		return all;
	least = half_of(tpa_moments_interval(moments));
	return fmin(all * (least / half) * (least / half), all);
}
