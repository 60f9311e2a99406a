/* SPDX-License-Identifier: Apache-2.0 */
/* Fills in a process's result: its sites and mappings, judged together, and what its memory consists of. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/growth/growth_impl.h"

/* This many readings all rise by chance at most once in LINES * 20 cases. */
#define READINGS_LEAST 8u
#define LINES 10u /* lines that RSS consists of: the number of tests for Holm's correction */

/* ---- a line ---- */

/* Index of the look at the end of the warm-up. */
static size_t skip_of(const struct tpa_growth_places *places)
{
	return places->count / 10 ? places->count / 10 : 1;
}

/* Finds the verdict as for a site. `looked`: the number of series that are tested, including this one. */
static enum tpa_verdict verdict_of(const double *x, const double *y, const double *blocks, size_t n, size_t looked)
{
	struct tpa_trend trend;
	enum tpa_verdict verdict;
	bool significant;

	tpa_trend_test(x, y, n, &trend);
	significant = tpa_trend_holm(&trend.p, 1, looked) == 1;
	verdict = tpa_trend_verdict(y, n, &trend, significant);
	if (n < TPA_TREND_LEAST || (verdict != TPA_VERDICT_LEAK && verdict != TPA_VERDICT_RISING))
		return verdict; /* with fewer looks, the course is unknown */
	tpa_trend_follow(x, y, blocks, n, &trend);
	trend.doubtful = tpa_trend_is_doubtful(x, y, blocks, NULL, n, trend.p, looked);
	return tpa_trend_verdict(y, n, &trend, significant);
}

/* `blocks`: number of blocks, for memory that consists of blocks; else NULL. */
static void measure_among(const struct tpa_growth_places *places, const double *y, const double *blocks, size_t looked,
			  struct tpa_growth_line *line)
{
	size_t n = places->count, skip = skip_of(places);
	struct tpa_trend trend = { .onset = 0 };

	line->verdict = verdict_of(places->x, y, blocks ? blocks : y, n, looked);
	line->first = tpa_growth_round(y[skip]);
	line->last = tpa_growth_round(y[n - 1]);
	/* Fit from the end of the warm-up on, so that the lines add up. */
	tpa_trend_slope(places->x + skip, y + skip, n - skip, &trend);
	line->rate = trend.slope;
	line->low = trend.low;
	line->high = trend.high;
	line->recent = tpa_trend_recent(places->x + skip, y + skip, n - skip, &trend);
}

/* Keeps the verdict from contradicting the interval that is printed beside it. */
static void agree_with_interval(struct tpa_growth_line *line)
{
	if (line->verdict == TPA_VERDICT_LEAK && !(line->low > 0))
		line->verdict = TPA_VERDICT_RISING;
}

static void measure_line(const struct tpa_growth_places *places, const double *y, const double *blocks,
			 struct tpa_growth_line *line)
{
	measure_among(places, y, blocks, LINES, line);
	agree_with_interval(line);
}

/* ---- sites and mappings ---- */

/*
 * The family of all sites and mappings. The mappings' indexes follow the sites', and Holm's correction is over both
 * together.
 */
struct source {
	const struct tpa_growth *growth;
	const struct tpa_growth_inputs *in;
	struct tpa_growth_series_list series;
	size_t looks;
};

static const struct tpa_growth_state *state_of(const struct source *source, size_t member)
{
	return tpa_growth_state_at(source->growth, source->series.order[member]);
}

static bool is_heap(const struct source *source, size_t series)
{
	return source->series.order[source->series.first[series]] < source->growth->sites.count;
}

static void read_series(const void *from, size_t series, struct tpa_growth_values *values)
{
	const struct source *source = from;
	size_t member = source->series.first[series];

	tpa_growth_read_state(state_of(source, member), source->looks, values);
	while (++member < source->series.first[series + 1])
		tpa_growth_add_state(state_of(source, member), source->looks, values);
}

/* Sets the stack and op of a series: those of the member that grew most. */
static void set_stack(const struct source *source, size_t series, struct tpa_growth_site *site)
{
	size_t sites = source->growth->sites.count, chosen = source->series.first[series], index;
	double most = 0, grown;

	for (size_t i = chosen; site->members > 1 && i < source->series.first[series + 1]; i++) {
		grown = tpa_growth_grown(state_of(source, i), source->looks);
		if (grown > most || i == source->series.first[series]) {
			most = grown;
			chosen = i;
		}
	}
	index = source->series.order[chosen];
	if (index < sites) {
		site->node = source->in->sites->list[index].node;
		site->op = source->in->sites->list[index].op;
	} else {
		site->node = source->in->maps->sites[index - sites].node;
		site->file = source->in->maps->sites[index - sites].file;
	}
}

/*
 * The number of a series: the smallest index of its members, so that equal series stay in the order in which they came.
 */
static uint32_t number_of(const struct source *source, size_t series)
{
	size_t least = SIZE_MAX;

	for (size_t i = source->series.first[series]; i < source->series.first[series + 1]; i++)
		least = source->series.order[i] < least ? source->series.order[i] : least;
	return (uint32_t)least;
}

/* Bytes that the site or mapping at an index has at the end of the run. */
static uint64_t left_of(const struct source *source, size_t index)
{
	const struct tpa_estimates *estimates = source->in->estimates;
	size_t sites = source->growth->sites.count;

	if (index >= sites)
		return source->in->maps->sites[index - sites].live;
	return estimates && index < estimates->count ? tpa_round(estimates->sites[index].live.bytes.value)
						     : source->in->sites->list[index].live.bytes;
}

static struct tpa_growth_site site_at(const struct source *source, size_t series)
{
	size_t first = source->series.first[series], end = source->series.first[series + 1];
	struct tpa_growth_site site = { .number = number_of(source, series),
					.members = (uint32_t)(end - first),
					.renewed = source->series.renewed[series] };

	for (size_t i = first; i < end; i++) {
		tpa_growth_add_last(state_of(source, i), source->looks, &site.bytes, &site.blocks);
		site.left += left_of(source, source->series.order[i]);
	}
	set_stack(source, series, &site);
	return site;
}

/* Tests all series. *varying: how many of them changed. */
static struct tpa_growth_found *test_all(const struct tpa_growth_family *family, struct tpa_growth_stats *stats,
					 size_t *varying)
{
	const struct source *source = family->source;
	size_t count = source->series.count;
	struct tpa_growth_found *list = tpa_zalloc(count, sizeof(*list));

	*varying = 0;
	for (size_t i = 0; i < count; i++) {
		struct tpa_growth_found *found = &list[i];

		found->index = i;
		found->site = site_at(source, i);
		tpa_growth_test(family, found);
		stats->varying += is_heap(source, i) && found->trend.varies;
		*varying += found->trend.varies;
	}
	return list;
}

/* Counts all sites, including those without a series, and notes the series of each. */
static void count_sites(const struct source *source, struct tpa_growth_stats *stats)
{
	size_t sites = source->growth->sites.count;

	stats->sites = sites > TPA_SITE_FIRST ? sites - TPA_SITE_FIRST - source->series.repeated : 0;
	stats->series = tpa_zalloc(source->in->sites->count, sizeof(*stats->series));
	for (size_t i = 0; i < source->series.count; i++) {
		uint32_t number = number_of(source, i) + 1;

		if (!is_heap(source, i))
			continue;
		for (size_t m = source->series.first[i]; m < source->series.first[i + 1]; m++)
			stats->series[source->series.order[m]] = number;
	}
}

static bool is_suspect(const struct tpa_growth_site *site)
{
	return site->verdict == TPA_VERDICT_LEAK || site->verdict == TPA_VERDICT_RISING;
}

static void take_all(const struct source *source, struct tpa_growth_found *list, struct tpa_growth_stats *stats)
{
	struct tpa_growth_values values;

	stats->curves = tpa_zalloc(source->series.count, sizeof(*stats->curves));
	for (size_t i = 0; i < source->series.count; i++) {
		if (!is_suspect(&list[i].site))
			continue;
		read_series(source, list[i].index, &values);
		tpa_growth_keep_curve(stats, &values, source->looks, &list[i].site);
	}
	for (size_t i = 0; i < source->series.count; i++)
		tpa_growth_take(is_heap(source, list[i].index) ? &stats->heap : &stats->maps, &list[i].site);
	tpa_growth_sort(&stats->heap);
	tpa_growth_sort(&stats->maps);
	tpa_shrink(&stats->curves, stats->curve_count, sizeof(*stats->curves));
	tpa_shrink(&stats->heap.list, stats->heap.count, sizeof(*stats->heap.list));
	tpa_shrink(&stats->maps.list, stats->maps.count, sizeof(*stats->maps.list));
}

static void take_rates(const struct source *source, const struct tpa_growth_family *family,
		       const struct tpa_growth_found *list, struct tpa_growth_stats *stats)
{
	const struct tpa_growth_places *places = family->places;
	size_t skip = skip_of(places);
	struct tpa_growth_values values;

	stats->rates = tpa_zalloc(source->series.count, sizeof(*stats->rates));
	for (size_t i = 0; i < source->series.count; i++) {
		struct tpa_growth_site site = list[i].site;
		struct tpa_trend drift = { 0 };

		if (!is_heap(source, list[i].index) ||
		    !(is_suspect(&site) || (source->in->estimates && list[i].trend.varies)))
			continue;
		if (!is_suspect(&site)) {
			read_series(source, list[i].index, &values);
			tpa_trend_drift(places->x + skip, values.bytes + skip, places->count - skip, &drift);
			site.rate = drift.slope;
			site.low = drift.low;
			site.high = drift.high;
		}
		stats->rates[stats->rate_count++] = site;
	}
	tpa_shrink(&stats->rates, stats->rate_count, sizeof(*stats->rates));
}

/*
 * Measures the sum of all stacks that are not listed as growth. They may leak together: a program may use new stacks
 * again and again, none of which grows for long.
 */
static void measure_others(const struct tpa_growth_family *family, const struct tpa_growth_found *list, size_t varying,
			   struct tpa_growth_stats *stats)
{
	const struct source *source = family->source;
	struct tpa_growth_values values, sum = { { 0 }, { 0 }, { 0 } };

	for (size_t i = 0; i < source->series.count; i++) {
		if (!is_heap(source, list[i].index) || is_suspect(&list[i].site) ||
		    list[i].site.verdict == TPA_VERDICT_WORK)
			continue;
		read_series(source, list[i].index, &values);
		for (size_t look = 0; look < source->looks; look++) {
			sum.bytes[look] += values.bytes[look];
			sum.blocks[look] += values.blocks[look];
		}
	}
	measure_among(family->places, sum.bytes, sum.blocks, varying + 1, &stats->others);
	agree_with_interval(&stats->others);
}

static void judge(const struct source *source, const struct tpa_growth_places *places, struct tpa_growth_stats *stats)
{
	const struct tpa_growth_family family = { places, source, read_series };
	size_t count = source->series.count, varying;
	struct tpa_growth_found *list = test_all(&family, stats, &varying);

	count_sites(source, stats);
	tpa_growth_judge(&family, list, count, varying);
	stats->heap.list = tpa_zalloc(count, sizeof(*stats->heap.list));
	stats->maps.list = tpa_zalloc(count, sizeof(*stats->maps.list));
	take_rates(source, &family, list, stats);
	take_all(source, list, stats);
	measure_others(&family, list, varying, stats);
	free(list);
}

/* ---- the whole process ---- */

static void measure_whole(const struct tpa_growth *growth, const struct tpa_growth_places *places,
			  struct tpa_growth_stats *stats)
{
	double y[5][TPA_TREND_MAX] = { { 0 } }, blocks[TPA_TREND_MAX];

	for (size_t i = 0; i < places->count; i++) {
		const struct tpa_growth_whole *whole = &growth->whole[i];

		y[0][i] = (double)whole->live;
		y[1][i] = (double)whole->anonymous;
		y[2][i] = (double)whole->file;
		y[3][i] = (double)whole->rss;
		y[4][i] = y[3][i] - y[0][i] - y[1][i];
		blocks[i] = (double)whole->blocks;
	}
	measure_line(places, y[0], blocks, &stats->live);
	measure_line(places, y[1], NULL, &stats->anonymous);
	measure_line(places, y[2], NULL, &stats->file);
	measure_line(places, y[3], NULL, &stats->rss);
	measure_line(places, y[4], NULL, &stats->rest);
}

static double part_of(const struct tpa_growth_whole *whole, enum tpa_growth_part part)
{
	const struct tpa_memory_parts *parts = &whole->parts;

	switch (part) {
	case TPA_PART_LIVE:
		return (double)whole->live;
	case TPA_PART_MAPPED:
		return (double)parts->mapped;
	case TPA_PART_FILES:
		return (double)parts->shared;
	case TPA_PART_STACKS:
		return (double)parts->stacks;
	case TPA_PART_COLLECTOR:
		return (double)parts->own;
	default:
		return (double)whole->rss - (double)whole->live - (double)parts->mapped - (double)parts->shared -
		       (double)parts->stacks - (double)parts->own;
	}
}

static void measure_parts(const struct tpa_growth *growth, const struct tpa_growth_places *places,
			  struct tpa_growth_stats *stats)
{
	double y[TPA_TREND_MAX] = { 0 };

	stats->parts_known = growth->whole[skip_of(places)].parts.counted;
	stats->parts[TPA_PART_LIVE] = stats->live;
	for (int part = TPA_PART_LIVE + 1; stats->parts_known && part < TPA_PARTS; part++) {
		for (size_t i = 0; i < places->count; i++)
			y[i] = part_of(&growth->whole[i], (enum tpa_growth_part)part);
		measure_line(places, y, NULL, &stats->parts[part]);
	}
}

static double made_of(const struct tpa_growth_inputs *in, uint64_t time, enum tpa_makeup_part part)
{
	double bytes = 0;

	tpa_makeup_at(in->makeup, time, part, &bytes);
	return bytes;
}

static double fine_of(const struct tpa_growth_whole *whole, const struct tpa_growth_inputs *in, uint64_t time,
		      enum tpa_growth_fine part)
{
	double shared = made_of(in, time, TPA_MAKEUP_SHARED), data;

	if (shared > (double)whole->parts.shared)
		shared = (double)whole->parts.shared;
	switch (part) {
	case TPA_FINE_UNSEEN:
		return made_of(in, time, TPA_MAKEUP_UNSEEN);
	case TPA_FINE_STATIC:
		return made_of(in, time, TPA_MAKEUP_STATIC);
	case TPA_FINE_SHARED:
		return shared;
	case TPA_FINE_FILES:
		return part_of(whole, TPA_PART_FILES) - shared;
	default:
		data = made_of(in, time, TPA_MAKEUP_UNSEEN) + made_of(in, time, TPA_MAKEUP_STATIC);
		return part_of(whole, TPA_PART_ALLOCATOR) - data;
	}
}

/*
 * Measures a part that is known only from readings of smaps. Between two readings it is taken to change steadily, which
 * would look like growth at each look. So the verdict uses one value for each reading, and the interval of the rate is
 * widened to allow for the largest change between two readings.
 */
static void measure_readings(const struct tpa_growth *growth, const struct tpa_growth_places *places,
			     const struct tpa_growth_inputs *in, const double *y, struct tpa_growth_line *line)
{
	double x[TPA_TREND_MAX], read[TPA_TREND_MAX], largest = 0, half;
	size_t count = 0, skip = skip_of(places), reading, last = SIZE_MAX;

	measure_among(places, y, NULL, LINES, line);
	for (size_t i = 0; i < places->count; i++) {
		reading = tpa_makeup_reading(in->makeup, growth->time[i]);
		if (reading == last)
			continue;
		last = reading;
		x[count] = places->x[i];
		read[count++] = y[i];
		if (i >= skip && count > 1)
			largest = fmax(largest, fabs(read[count - 1] - read[count - 2]));
	}
	half = largest / (places->x[places->count - 1] - places->x[skip]);
	line->low = fmin(line->low, line->rate - half);
	line->high = fmax(line->high, line->rate + half);
	line->verdict = count < READINGS_LEAST ? TPA_VERDICT_STABLE : verdict_of(x, read, read, count, LINES);
	agree_with_interval(line);
}

static void measure_fine(const struct tpa_growth *growth, const struct tpa_growth_places *places,
			 const struct tpa_growth_inputs *in, struct tpa_growth_stats *stats)
{
	static const enum tpa_growth_part same[TPA_FINE_PARTS] = {
		[TPA_FINE_LIVE] = TPA_PART_LIVE,
		[TPA_FINE_ALLOCATOR] = TPA_PARTS,
		[TPA_FINE_MAPPED] = TPA_PART_MAPPED,
		[TPA_FINE_UNSEEN] = TPA_PARTS,
		[TPA_FINE_STATIC] = TPA_PARTS,
		[TPA_FINE_FILES] = TPA_PARTS,
		[TPA_FINE_SHARED] = TPA_PARTS,
		[TPA_FINE_STACKS] = TPA_PART_STACKS,
		[TPA_FINE_COLLECTOR] = TPA_PART_COLLECTOR,
	};
	double y[TPA_TREND_MAX] = { 0 };

	stats->fine_known = stats->parts_known && in->makeup->readings;
	for (int part = 0; stats->fine_known && part < TPA_FINE_PARTS; part++) {
		if (same[part] != TPA_PARTS) {
			stats->fine[part] = stats->parts[same[part]];
			continue;
		}
		for (size_t i = 0; i < places->count; i++)
			y[i] = fine_of(&growth->whole[i], in, growth->time[i], (enum tpa_growth_fine)part);
		if (part == TPA_FINE_ALLOCATOR)
			measure_line(places, y, NULL, &stats->fine[part]);
		else
			measure_readings(growth, places, in, y, &stats->fine[part]);
	}
}

static double allocator_line(const struct tpa_growth_whole *whole, enum tpa_allocator_line line)
{
	const struct tpa_allocator *says = &whole->allocator;

	switch (line) {
	case TPA_ALLOCATOR_LIVE:
		return (double)whole->allocator_live;
	case TPA_ALLOCATOR_ROUNDING:
		return (double)says->allocated - (double)whole->allocator_live;
	case TPA_ALLOCATOR_FRAGMENTS:
		return (double)says->active - (double)says->allocated;
	case TPA_ALLOCATOR_FREE:
		return (double)says->resident - (double)says->active - (double)says->metadata;
	case TPA_ALLOCATOR_METADATA:
		return (double)says->metadata;
	case TPA_ALLOCATOR_RESIDENT:
		return (double)says->resident;
	default:
		return (double)says->retained;
	}
}

static void measure_allocator(const struct tpa_growth *growth, const struct tpa_growth_places *places,
			      struct tpa_growth_stats *stats)
{
	double y[TPA_TREND_MAX] = { 0 };

	stats->allocator_known = tpa_allocator_told(&growth->whole[skip_of(places)].allocator);
	for (int line = 0; stats->allocator_known && line < TPA_ALLOCATOR_LINES; line++) {
		for (size_t i = 0; i < places->count; i++)
			y[i] = allocator_line(&growth->whole[i], (enum tpa_allocator_line)line);
		measure_line(places, y, NULL, &stats->allocator[line]);
	}
}

/* ---- places ---- */

static bool falls(const struct tpa_growth_whole *before, const struct tpa_growth_whole *after)
{
	return after->live < before->live || after->anonymous < before->anonymous;
}

/*
 * Drops the last looks while memory falls, at most a tenth of all: what a program frees on exit says nothing about how
 * it ran.
 */
static size_t without_end(const struct tpa_growth *growth)
{
	size_t count = growth->count, least = count - count / 10;

	while (count > least && falls(&growth->whole[count - 2], &growth->whole[count - 1]))
		count--;
	return count;
}

static void find_places(const struct tpa_growth *growth, const struct tpa_growth_inputs *in,
			struct tpa_growth_places *places)
{
	for (size_t i = 0; i < places->count; i++) {
		uint64_t at = growth->at[i];

		places->place[i] = places->seconds ? tpa_growth_ns(in, at) : at;
		places->x[i] = places->seconds ? (double)places->place[i] / 1e9 : (double)at;
	}
}

/* Whether the places rise. Those of a damaged trace may not. */
static bool rises(const struct tpa_growth_places *places)
{
	for (size_t i = 1; i < places->count; i++)
		if (!(places->x[i] > places->x[i - 1]))
			return false;
	return true;
}

/* ---- to be put together later ---- */

/* Moves the series of all sites that ever held anything to stats->kept. */
static void keep(struct tpa_growth *growth, const struct tpa_growth_inputs *in, const struct tpa_growth_places *places,
		 struct tpa_growth_stats *stats)
{
	struct tpa_growth_kept *kept = stats->kept = tpa_zalloc(1, sizeof(*kept));

	kept->places = *places;
	kept->members = tpa_zalloc(growth->sites.count, sizeof(*kept->members));
	kept->states = tpa_zalloc(growth->sites.count, sizeof(*kept->states));
	for (size_t i = TPA_SITE_FIRST; i < growth->sites.count; i++) {
		struct tpa_growth_state *state = &growth->sites.list[i];
		const struct tpa_site_state *site = &in->sites->list[i];

		if (!state->series && !state->bytes && !state->blocks)
			continue;
		kept->members[kept->count] = (struct tpa_growth_member){ site->node, site->op };
		kept->states[kept->count++] = *state;
		state->series = NULL;
	}
}

static void keep_mapped(struct tpa_growth *growth, const struct tpa_growth_inputs *in,
			const struct tpa_growth_places *places, struct tpa_growth_stats *stats)
{
	struct tpa_growth_kept *kept = stats->mapped = tpa_zalloc(1, sizeof(*kept));

	kept->places = *places;
	kept->members = tpa_zalloc(growth->maps.count, sizeof(*kept->members));
	kept->states = tpa_zalloc(growth->maps.count, sizeof(*kept->states));
	for (size_t i = 0; i < growth->maps.count; i++) {
		if (in->maps->sites[i].file)
			continue;
		kept->members[kept->count] = (struct tpa_growth_member){ .node = in->maps->sites[i].node };
		kept->states[kept->count++] = growth->maps.list[i];
		growth->maps.list[i].series = NULL;
	}
}

void tpa_growth_result(struct tpa_growth *growth, const struct tpa_growth_inputs *in, bool seconds,
		       struct tpa_growth_stats *stats)
{
	struct tpa_growth_places places = { .count = seconds ? without_end(growth) : growth->count,
					    .seconds = seconds,
					    .survivors = growth->survivors };
	struct source source = { .growth = growth, .in = in, .looks = places.count };
	size_t n = places.count;

	memset(stats, 0, sizeof(*stats));
	tpa_growth_finish(growth);
	stats->seconds = seconds;
	stats->looks = n;
	stats->begin = seconds ? in->start_ns : 0;
	if (!n)
		return;
	find_places(growth, in, &places);
	memcpy(stats->x, places.x, sizeof(stats->x));
	stats->last = places.place[n - 1];
	if (n < TPA_TREND_LEAST)
		return;
	stats->span = (places.x[n - 1] - places.x[0]) / (double)(n - 1);
	if (!rises(&places))
		return;
	measure_whole(growth, &places, stats);
	measure_parts(growth, &places, stats);
	measure_fine(growth, &places, in, stats);
	measure_allocator(growth, &places, stats);
	source.series = tpa_growth_series(growth, in, n);
	judge(&source, &places, stats);
	if (in->options->keep_growth)
		keep(growth, in, &places, stats);
	keep_mapped(growth, in, &places, stats);
	tpa_growth_series_free(&source.series);
}

static void free_kept(struct tpa_growth_kept *kept)
{
	for (size_t i = 0; kept && i < kept->count; i++)
		free(kept->states[i].series);
	if (kept) {
		free(kept->members);
		free(kept->states);
	}
	free(kept);
}

void tpa_growth_result_free(struct tpa_growth_stats *stats)
{
	free(stats->heap.list);
	free(stats->rates);
	free(stats->curves);
	free(stats->maps.list);
	free(stats->series);
	free_kept(stats->kept);
	free_kept(stats->mapped);
}
