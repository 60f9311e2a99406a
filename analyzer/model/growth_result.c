/* SPDX-License-Identifier: Apache-2.0 */
/* What comes out for a process: its sites and mappings, judged together, and what its memory is made of. */
#include <stdlib.h>
#include <string.h>

#include "model/growth_impl.h"
#include "model/replay.h"

/* ---- sites and mappings ---- */

/* Mappings stand behind the sites, and are corrected for together with them. */
struct source {
	const struct tp_growth *growth;
	const struct tp_replay *replay;
	size_t looks;
};

static const struct tp_growth_state *state_of(const struct tp_growth *growth, size_t index)
{
	size_t sites = growth->sites.count;

	return index < sites ? &growth->sites.list[index] : &growth->maps.list[index - sites];
}

static void read_site(const void *from, size_t index, struct tp_growth_values *values)
{
	const struct source *source = from;

	tp_growth_read_state(state_of(source->growth, index), source->looks, values);
}

/* Whose it is. */
static struct tp_growth_site site_at(const struct source *source, size_t index)
{
	const struct tp_growth_state *state = state_of(source->growth, index);
	size_t sites = source->growth->sites.count;
	struct tp_growth_site site = { .bytes = state->bytes, .blocks = state->blocks };

	if (index < sites) {
		site.node = source->replay->sites.list[index].node;
		site.op = source->replay->sites.list[index].op;
		site.number = (uint32_t)index;
	} else {
		site.node = source->replay->maps.sites[index - sites].node;
		site.file = source->replay->maps.sites[index - sites].file;
		site.number = (uint32_t)(index - sites);
	}
	return site;
}

/* The tests of all that have something to be tested. NULL: no memory. */
static struct tp_growth_found *test_all(const struct tp_growth_family *family, size_t *count,
					struct tp_growth_stats *stats, size_t *varying)
{
	const struct source *source = family->source;
	const struct tp_growth *growth = source->growth;
	size_t all = growth->sites.count + growth->maps.count;
	struct tp_growth_found *list = calloc(all + 1, sizeof(*list));

	*count = *varying = 0;
	for (size_t i = 0; list && i < all; i++) {
		struct tp_growth_found *found = &list[*count];
		bool heap = i < growth->sites.count;

		if (heap && i < TP_SITE_FIRST)
			continue;
		stats->sites += heap;
		if (tp_growth_is_plain(state_of(growth, i)))
			continue;
		found->index = i;
		found->site = site_at(source, i);
		tp_growth_test(family, found);
		stats->varying += heap && found->trend.varies;
		*varying += found->trend.varies;
		++*count;
	}
	return list;
}

static bool judge(const struct source *source, const struct tp_growth_places *places, struct tp_growth_stats *stats)
{
	const struct tp_growth_family family = { places, source, read_site };
	size_t count, varying;
	struct tp_growth_found *list = test_all(&family, &count, stats, &varying);
	bool good = list && tp_growth_judge(&family, list, count, varying);

	stats->heap.list = calloc(count + 1, sizeof(*stats->heap.list));
	stats->maps.list = calloc(count + 1, sizeof(*stats->maps.list));
	good = good && stats->heap.list && stats->maps.list;
	for (size_t i = 0; good && i < count; i++)
		tp_growth_take(list[i].index < source->growth->sites.count ? &stats->heap : &stats->maps,
			       &list[i].site);
	free(list);
	tp_growth_sort(&stats->heap);
	tp_growth_sort(&stats->maps);
	return good;
}

/* ---- the whole process ---- */

/* The look at the end of the warm-up. */
static size_t skip_of(const struct tp_growth_places *places)
{
	return places->count / 10 ? places->count / 10 : 1;
}

/* `blocks`: of memory that consists of such; else NULL. */
static void measure_line(const struct tp_growth_places *places, const double *y, const double *blocks,
			 struct tp_growth_line *line)
{
	size_t n = places->count, skip = skip_of(places);
	struct tp_trend trend;

	tp_trend_test(places->x, y, n, &trend);
	if (blocks)
		trend.course = tp_trend_course(places->x, y, blocks, n);
	line->verdict = tp_trend_verdict(y, n, &trend, tp_trend_holm(&trend.p, 1, 1) == 1);
	line->first = tp_growth_round(y[skip]);
	line->last = tp_growth_round(y[n - 1]);
	/* From the warm-up on, so that the lines can be added up. */
	tp_trend_slope(places->x + skip, y + skip, n - skip, &trend);
	line->rate = trend.slope;
	line->low = trend.low;
	line->high = trend.high;
}

static void measure_whole(const struct tp_growth *growth, const struct tp_growth_places *places,
			  struct tp_growth_stats *stats)
{
	double y[5][TP_TREND_MAX] = { { 0 } }, blocks[TP_TREND_MAX];

	for (size_t i = 0; i < places->count; i++) {
		const struct tp_growth_whole *whole = &growth->whole[i];

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

static double part_of(const struct tp_growth_whole *whole, enum tp_growth_part part)
{
	const struct tp_memory_parts *parts = &whole->parts;

	switch (part) {
	case TP_PART_LIVE:
		return (double)whole->live;
	case TP_PART_MAPPED:
		return (double)parts->mapped;
	case TP_PART_FILES:
		return (double)parts->shared;
	case TP_PART_STACKS:
		return (double)parts->stacks;
	case TP_PART_COLLECTOR:
		return (double)parts->own;
	default:
		return (double)whole->rss - (double)whole->live - (double)parts->mapped - (double)parts->shared -
		       (double)parts->stacks - (double)parts->own;
	}
}

static void measure_parts(const struct tp_growth *growth, const struct tp_growth_places *places,
			  struct tp_growth_stats *stats)
{
	double y[TP_TREND_MAX] = { 0 };

	stats->parts_known = growth->whole[skip_of(places)].parts.counted;
	stats->parts[TP_PART_LIVE] = stats->live;
	for (int part = TP_PART_LIVE + 1; stats->parts_known && part < TP_PARTS; part++) {
		for (size_t i = 0; i < places->count; i++)
			y[i] = part_of(&growth->whole[i], (enum tp_growth_part)part);
		measure_line(places, y, NULL, &stats->parts[part]);
	}
}

static double allocator_line(const struct tp_growth_whole *whole, enum tp_allocator_line line)
{
	const struct tp_allocator *says = &whole->allocator;

	switch (line) {
	case TP_ALLOCATOR_LIVE:
		return (double)whole->allocator_live;
	case TP_ALLOCATOR_ROUNDING:
		return (double)says->allocated - (double)whole->allocator_live;
	case TP_ALLOCATOR_FRAGMENTS:
		return (double)says->active - (double)says->allocated;
	case TP_ALLOCATOR_FREE:
		return (double)says->resident - (double)says->active - (double)says->metadata;
	case TP_ALLOCATOR_METADATA:
		return (double)says->metadata;
	case TP_ALLOCATOR_RESIDENT:
		return (double)says->resident;
	default:
		return (double)says->retained;
	}
}

static void measure_allocator(const struct tp_growth *growth, const struct tp_growth_places *places,
			      struct tp_growth_stats *stats)
{
	double y[TP_TREND_MAX] = { 0 };

	stats->allocator_known = tp_allocator_told(&growth->whole[skip_of(places)].allocator);
	for (int line = 0; stats->allocator_known && line < TP_ALLOCATOR_LINES; line++) {
		for (size_t i = 0; i < places->count; i++)
			y[i] = allocator_line(&growth->whole[i], (enum tp_allocator_line)line);
		measure_line(places, y, NULL, &stats->allocator[line]);
	}
}

/* ---- places ---- */

/* What a program frees on its way out says nothing about how it ran. */
static size_t without_end(const struct tp_growth *growth)
{
	size_t count = growth->count, least = count - count / 10;

	while (count > least && growth->whole[count - 1].live < growth->whole[count - 2].live)
		count--;
	return count;
}

static void find_places(const struct tp_growth *growth, const struct tp_replay *replay, struct tp_growth_places *places)
{
	for (size_t i = 0; i < places->count; i++) {
		uint64_t at = growth->at[i];

		places->place[i] = places->seconds ? tp_replay_ns(replay, at) : at;
		places->x[i] = places->seconds ? (double)places->place[i] / 1e9 : (double)at;
	}
}

/* A damaged clock goes backwards. */
static bool rises(const struct tp_growth_places *places)
{
	for (size_t i = 1; i < places->count; i++)
		if (!(places->x[i] > places->x[i - 1]))
			return false;
	return true;
}

/* ---- to be put together later ---- */

/* Moves the series of all sites that ever had anything. */
static bool keep(struct tp_growth *growth, const struct tp_replay *replay, const struct tp_growth_places *places,
		 struct tp_growth_stats *stats)
{
	struct tp_growth_kept *kept = stats->kept = calloc(1, sizeof(*kept));

	if (!kept)
		return false;
	kept->places = *places;
	kept->members = calloc(growth->sites.count + 1, sizeof(*kept->members));
	kept->states = calloc(growth->sites.count + 1, sizeof(*kept->states));
	if (!kept->members || !kept->states)
		return false;
	for (size_t i = TP_SITE_FIRST; i < growth->sites.count; i++) {
		struct tp_growth_state *state = &growth->sites.list[i];
		const struct tp_site_state *site = &replay->sites.list[i];

		if (!state->series && !state->bytes && !state->blocks)
			continue;
		kept->members[kept->count] = (struct tp_growth_member){ site->node, site->op };
		kept->states[kept->count++] = *state;
		state->series = NULL;
	}
	return true;
}

bool tp_growth_result(struct tp_growth *growth, const struct tp_replay *replay, bool seconds,
		      struct tp_growth_stats *stats)
{
	struct tp_growth_places places = { .count = seconds ? without_end(growth) : growth->count,
					   .seconds = seconds,
					   .survivors = growth->survivors };
	const struct source source = { growth, replay, places.count };
	size_t n = places.count;

	memset(stats, 0, sizeof(*stats));
	tp_growth_finish(growth);
	stats->seconds = seconds;
	stats->looks = n;
	if (!n)
		return true;
	find_places(growth, replay, &places);
	stats->last = places.place[n - 1];
	if (n < TP_TREND_LEAST)
		return true;
	stats->span = (places.x[n - 1] - places.x[0]) / (double)(n - 1);
	if (!rises(&places))
		return true;
	measure_whole(growth, &places, stats);
	measure_parts(growth, &places, stats);
	measure_allocator(growth, &places, stats);
	return judge(&source, &places, stats) &&
	       (!replay->options->keep_growth || keep(growth, replay, &places, stats));
}

void tp_growth_result_free(struct tp_growth_stats *stats)
{
	struct tp_growth_kept *kept = stats->kept;

	free(stats->heap.list);
	free(stats->maps.list);
	if (!kept)
		return;
	for (size_t i = 0; i < kept->count; i++)
		free(kept->states[i].series);
	free(kept->members);
	free(kept->states);
	free(kept);
}
