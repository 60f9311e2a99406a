/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/pinned.h"

#include "model/stats/trend.h"

#define LEAST 4 /* number of searches that a rate needs */

static bool has_site(const struct tpa_growth_stats *stats, const struct tpa_growth_site *const *sites, size_t count,
		     uint32_t site)
{
	for (size_t i = 0; i < count; i++)
		if (stats->series[site] && stats->series[site] == stats->series[sites[i]->number])
			return true;
	return false;
}

static uint64_t pinned_at(const struct tpa_growth_stats *stats, const struct tpa_growth_site *const *sites,
			  size_t count, const struct tpa_hole_reading *reading)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < reading->count; i++)
		if (has_site(stats, sites, count, reading->list[i].site))
			bytes += reading->list[i].bytes;
	return bytes;
}

struct tpa_pinned tpa_pinned_by(const struct tpa_process *process, const struct tpa_growth_site *const *sites,
				size_t count)
{
	const struct tpa_growth_stats *stats = &process->growth;
	const struct tpa_hole_series *holes = &process->holes;
	double x[TPA_HOLE_READINGS + 1] = { 0 }, y[TPA_HOLE_READINGS + 1] = { 0 };
	struct tpa_pinned pinned = { .known = false };
	struct tpa_trend trend = { 0 };
	uint64_t since = sites[0]->since;
	size_t n = 0;

	for (size_t i = 1; i < count; i++)
		since = sites[i]->since < since ? sites[i]->since : since;
	for (size_t i = 0; i < holes->count; i++) {
		const struct tpa_hole_reading *reading = &holes->list[i];
		uint64_t at = stats->seconds ? reading->time : reading->steps;
		double place = stats->seconds ? (double)at / 1e9 : (double)at;

		/* After the last look, the program frees its memory before it ends. */
		if (at < since || at >= stats->last)
			continue;
		n -= n && !(place > x[n - 1]); /* keep only the last search of a step */
		x[n] = place;
		y[n++] = (double)(pinned.bytes = pinned_at(stats, sites, count, reading));
	}
	pinned.known = n >= LEAST;
	if (pinned.known) {
		tpa_trend_slope(x, y, n, &trend);
		pinned.rate = trend.slope;
	}
	return pinned;
}
