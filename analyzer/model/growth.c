/* SPDX-License-Identifier: Apache-2.0 */
#include "model/growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/replay.h"
#include "trace/impl.h"

#define RANDOM UINT64_C(0x9e3779b97f4a7c15) /* of multiplicative hashing: the same trace gives the same looks */

struct series {
	uint64_t bytes[TP_TREND_MAX];
	uint32_t blocks[TP_TREND_MAX];
};

/* Without a series: nothing before look `since`, and from then on what it is now. */
struct tp_growth_state {
	uint64_t bytes, blocks;
	uint32_t since;
	struct series *series;
};

void tp_growth_init(struct tp_growth *growth, uint64_t stride)
{
	growth->stride = stride ? stride : 1;
	growth->due = growth->stride;
}

void tp_growth_free(struct tp_growth *growth)
{
	for (size_t i = 0; i < growth->site_count; i++)
		free(growth->sites[i].series);
	free(growth->sites);
	growth->sites = NULL;
	growth->site_count = growth->site_room = 0;
}

void tp_growth_drop(struct tp_growth *growth)
{
	tp_growth_free(growth);
	growth->count = 0;
	growth->due = UINT64_MAX;
}

/* ---- looking ---- */

/* Every second look goes. */
static void halve(struct tp_growth *growth)
{
	growth->count /= 2;
	growth->stride *= 2;
	for (size_t i = 0; i < growth->count; i++) {
		growth->at[i] = growth->at[2 * i];
		growth->whole[i] = growth->whole[2 * i];
	}
	for (size_t s = 0; s < growth->site_count; s++) {
		struct tp_growth_state *site = &growth->sites[s];

		site->since = (site->since + 1) / 2;
		for (size_t i = 0; site->series && i < growth->count; i++) {
			site->series->bytes[i] = site->series->bytes[2 * i];
			site->series->blocks[i] = site->series->blocks[2 * i];
		}
	}
}

static uint32_t cut(uint64_t blocks)
{
	return blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX;
}

static bool begin_series(struct tp_growth_state *site, size_t count)
{
	site->series = calloc(1, sizeof(*site->series));
	for (size_t i = site->since; site->series && i < count; i++) {
		site->series->bytes[i] = site->bytes;
		site->series->blocks[i] = cut(site->blocks);
	}
	return site->series != NULL;
}

static bool look_at(struct tp_growth_state *site, size_t look, uint64_t bytes, uint64_t blocks)
{
	bool same = site->bytes == bytes && site->blocks == blocks;

	if (!site->series && !same) {
		if (!site->bytes && !site->blocks)
			site->since = (uint32_t)look;
		else if (!begin_series(site, look))
			return false;
	}
	site->bytes = bytes;
	site->blocks = blocks;
	if (site->series) {
		site->series->bytes[look] = bytes;
		site->series->blocks[look] = cut(blocks);
	}
	return true;
}

static bool look_at_sites(struct tp_growth *growth, const struct tp_replay *replay)
{
	size_t count = replay->sites.count, known = growth->site_count;

	if (!tp_reserve(&growth->sites, &growth->site_room, count, sizeof(*growth->sites)))
		return false;
	if (count > known)
		memset(growth->sites + known, 0, (count - known) * sizeof(*growth->sites));
	growth->site_count = count;
	for (size_t i = TP_SITE_FIRST; i < count; i++) {
		const struct tp_amount *live = &replay->sites.list[i].live;
		uint64_t bytes = live->bytes, blocks = live->blocks;

		if (replay->sampled && i < replay->estimates.count) {
			bytes = tp_round(replay->estimates.sites[i].live.bytes.value);
			blocks = tp_round(replay->estimates.sites[i].live.blocks.value);
		}
		if (!look_at(&growth->sites[i], growth->count, bytes, blocks))
			return false;
	}
	return true;
}

static void look_at_whole(struct tp_growth_whole *whole, const struct tp_replay *replay)
{
	*whole = (struct tp_growth_whole){ .live = replay->now.live_bytes, .rss = replay->now.rss };
	for (size_t i = 0; i < replay->maps.site_count; i++) {
		const struct tp_map_state *site = &replay->maps.sites[i];

		*(site->file ? &whole->file : &whole->anonymous) += site->live;
	}
}

bool tp_growth_look(struct tp_growth *growth, const struct tp_replay *replay, uint64_t now)
{
	uint64_t interval;

	growth->at[growth->count] = now;
	look_at_whole(&growth->whole[growth->count], replay);
	if (!look_at_sites(growth, replay))
		return false;
	if (++growth->count == TP_TREND_MAX)
		halve(growth);
	interval = now / growth->stride + 1;
	growth->due = interval * growth->stride;
	growth->due += (uint64_t)((unsigned __int128)(interval * RANDOM) * growth->stride >> 64);
	return true;
}

/* ---- results ---- */

struct found {
	struct tp_growth_site site;
	struct tp_trend trend;
};

static void read_series(const struct tp_growth *growth, const struct tp_growth_state *site, double *bytes,
			double *blocks)
{
	for (size_t i = 0; i < growth->count; i++) {
		bool there = i >= site->since;

		if (site->series) {
			bytes[i] = (double)site->series->bytes[i];
			blocks[i] = (double)site->series->blocks[i];
		} else {
			bytes[i] = there ? (double)site->bytes : 0;
			blocks[i] = there ? (double)site->blocks : 0;
		}
	}
}

/* Places: steps, or seconds. */
static void read_places(const struct tp_growth *growth, const struct tp_replay *replay, bool seconds, double *x)
{
	for (size_t i = 0; i < growth->count; i++)
		x[i] = seconds ? (double)tp_replay_ns(replay, growth->at[i]) / 1e9 : (double)growth->at[i];
}

static uint64_t place(const struct tp_growth *growth, const struct tp_replay *replay, bool seconds, size_t look)
{
	return seconds ? tp_replay_ns(replay, growth->at[look]) : growth->at[look];
}

/* Blocks that come one by one from a place that is no leak's are worth no look: they are constant or gone. */
static bool is_plain(const struct tp_growth_state *site)
{
	return !site->series && site->since == 0;
}

static int by_p(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->trend.p != y->trend.p)
		return x->trend.p < y->trend.p ? -1 : 1;
	return x->site.number < y->site.number ? -1 : x->site.number > y->site.number;
}

static int by_weight(const void *a, const void *b)
{
	const struct tp_growth_site *x = a, *y = b;
	bool leak = x->verdict == TP_VERDICT_LEAK;

	if (leak != (y->verdict == TP_VERDICT_LEAK))
		return leak ? -1 : 1;
	if (leak && x->rate != y->rate)
		return x->rate > y->rate ? -1 : 1;
	if (x->most != y->most)
		return x->most > y->most ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Numbers that a damaged trace made large end at the ends of the type. */
static int64_t signed_round(double value)
{
	uint64_t size = tp_round(fabs(value));
	int64_t whole = size < INT64_MAX ? (int64_t)size : INT64_MAX;

	return value < 0 ? -whole : whole;
}

struct context {
	const struct tp_growth *growth;
	const struct tp_replay *replay;
	bool seconds;
	double x[TP_TREND_MAX];
};

static void measure(const struct context *context, struct found *found, const double *bytes, const double *blocks)
{
	const struct tp_growth *growth = context->growth;
	struct tp_growth_site *site = &found->site;
	size_t n = growth->count, onset;
	struct tp_trend of_blocks = { 0 };

	tp_trend_measure(context->x, bytes, n, &found->trend);
	tp_trend_measure(context->x, blocks, n, &of_blocks);
	onset = found->trend.onset;
	site->rate = found->trend.slope;
	site->low = found->trend.low;
	site->high = found->trend.high;
	site->block_rate = of_blocks.slope;
	site->since = place(growth, context->replay, context->seconds, onset);
	site->grown = signed_round(bytes[n - 1] - bytes[onset]);
}

/* The tests of all sites that have something to be tested. NULL: no memory. */
static struct found *test_all(const struct context *context, size_t *count, struct tp_growth_stats *stats)
{
	const struct tp_growth *growth = context->growth;
	struct found *list = calloc(growth->site_count + 1, sizeof(*list));
	double bytes[TP_TREND_MAX], blocks[TP_TREND_MAX];

	*count = 0;
	for (size_t i = TP_SITE_FIRST; list && i < growth->site_count; i++) {
		const struct tp_growth_state *state = &growth->sites[i];
		struct found *found = &list[*count];

		stats->sites++;
		if (is_plain(state))
			continue;
		read_series(growth, state, bytes, blocks);
		tp_trend_test(context->x, bytes, growth->count, &found->trend);
		stats->varying += found->trend.varies;
		found->site = (struct tp_growth_site){
			.node = context->replay->sites.list[i].node,
			.op = context->replay->sites.list[i].op,
			.number = (uint32_t)i,
			.p = found->trend.p,
			.bytes = state->bytes,
			.blocks = state->blocks,
		};
		for (size_t k = 0; k < growth->count; k++)
			if (bytes[k] > (double)found->site.most)
				found->site.most = tp_round(bytes[k]);
		++*count;
	}
	return list;
}

static size_t significant(struct found *list, size_t count, size_t varying)
{
	double *p = calloc(count + 1, sizeof(*p));
	size_t result;

	if (!p)
		return SIZE_MAX;
	qsort(list, count, sizeof(*list), by_p);
	for (size_t i = 0; i < count; i++)
		p[i] = list[i].trend.p;
	result = tp_trend_holm(p, count < varying ? count : varying, varying);
	free(p);
	return result;
}

static bool judge(const struct context *context, struct tp_growth_stats *stats)
{
	const struct tp_growth *growth = context->growth;
	double bytes[TP_TREND_MAX], blocks[TP_TREND_MAX];
	size_t count, sure;
	struct found *list = test_all(context, &count, stats);

	sure = list ? significant(list, count, stats->varying) : SIZE_MAX;
	stats->list = list ? calloc(count + 1, sizeof(*stats->list)) : NULL;
	for (size_t i = 0; stats->list && sure != SIZE_MAX && i < count; i++) {
		struct found *found = &list[i];

		read_series(growth, &growth->sites[found->site.number], bytes, blocks);
		found->site.verdict = tp_trend_verdict(bytes, growth->count, &found->trend, i < sure);
		if (i < sure)
			measure(context, found, bytes, blocks);
		if (found->site.verdict == TP_VERDICT_STABLE)
			continue;
		if (found->site.verdict == TP_VERDICT_LEAK) {
			stats->leaks++;
			stats->leak_rate += found->site.rate;
		}
		stats->list[stats->count++] = found->site;
	}
	free(list);
	if (!stats->list || sure == SIZE_MAX)
		return false;
	qsort(stats->list, stats->count, sizeof(*stats->list), by_weight);
	return true;
}

/* ---- the whole process ---- */

static void measure_line(const struct context *context, const double *y, struct tp_growth_line *line)
{
	size_t n = context->growth->count, skip = n / 10 ? n / 10 : 1;
	struct tp_trend trend;

	tp_trend_test(context->x, y, n, &trend);
	line->verdict = tp_trend_verdict(y, n, &trend, tp_trend_holm(&trend.p, 1, 1) == 1);
	line->first = tp_round(y[skip]);
	line->last = tp_round(y[n - 1]);
	/* From the warm-up on, so that the lines can be added up. */
	tp_trend_slope(context->x + skip, y + skip, n - skip, &trend);
	line->rate = trend.slope;
	line->low = trend.low;
	line->high = trend.high;
}

static void measure_whole(const struct context *context, struct tp_growth_stats *stats)
{
	const struct tp_growth *growth = context->growth;
	double y[5][TP_TREND_MAX];

	for (size_t i = 0; i < growth->count; i++) {
		const struct tp_growth_whole *whole = &growth->whole[i];

		y[0][i] = (double)whole->live;
		y[1][i] = (double)whole->anonymous;
		y[2][i] = (double)whole->file;
		y[3][i] = (double)whole->rss;
		y[4][i] = y[3][i] - y[0][i] - y[1][i];
	}
	measure_line(context, y[0], &stats->live);
	measure_line(context, y[1], &stats->anonymous);
	measure_line(context, y[2], &stats->file);
	measure_line(context, y[3], &stats->rss);
	measure_line(context, y[4], &stats->rest);
}

/* What a program frees on its way out says nothing about how it ran. */
static void leave_out_end(struct tp_growth *growth)
{
	size_t least = growth->count - growth->count / 10;

	while (growth->count > least && growth->whole[growth->count - 1].live < growth->whole[growth->count - 2].live)
		growth->count--;
}

bool tp_growth_result(const struct tp_growth *growth, const struct tp_replay *replay, bool seconds,
		      struct tp_growth_stats *stats)
{
	struct tp_growth part = *growth;
	struct context context = { .growth = &part, .replay = replay, .seconds = seconds };
	size_t n;

	memset(stats, 0, sizeof(*stats));
	if (seconds)
		leave_out_end(&part);
	n = part.count;
	stats->seconds = seconds;
	stats->looks = n;
	if (!n)
		return true;
	stats->last = place(&part, replay, seconds, n - 1);
	if (n < TP_TREND_LEAST)
		return true;
	read_places(&part, replay, seconds, context.x);
	stats->span = (context.x[n - 1] - context.x[0]) / (double)(n - 1);
	for (size_t i = 1; i < n; i++)
		if (!(context.x[i] > context.x[i - 1])) /* a damaged clock */
			return true;
	measure_whole(&context, stats);
	return judge(&context, stats);
}

/* ---- births ---- */

struct birth {
	size_t site; /* in the list */
	uint64_t place, size;
};

static int by_place(const void *a, const void *b)
{
	const struct birth *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int by_size(const void *a, const void *b)
{
	const struct birth *x = a, *y = b;

	return x->size < y->size ? -1 : x->size > y->size;
}

/* The step that goes on at a time; of several that were put together, the first. */
static uint64_t step_at(const struct tp_step_stats *steps, uint64_t ns)
{
	size_t low = 0, high = steps->list_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (steps->list[middle].end_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < steps->list_count ? steps->list[low].first : steps->count + 1;
}

static void summarize(struct tp_growth_site *site, struct birth *births, size_t count)
{
	site->born[0] = births[0].place;
	site->born[1] = births[count / 2].place;
	site->born[2] = births[count - 1].place;
	qsort(births, count, sizeof(*births), by_size);
	site->typical = births[count / 2].size;
}

bool tp_growth_births(const struct tp_replay *replay, const struct tp_step_stats *steps, struct tp_growth_stats *stats)
{
	size_t slots = (size_t)1 << (64 - replay->live.shift), count = 0, room = 0;
	uint32_t *index = stats->leaks ? calloc(replay->sites.count, sizeof(*index)) : NULL;
	struct birth *births = NULL;
	bool good = index != NULL;

	if (!stats->leaks)
		return true;
	for (size_t i = 0; good && i < stats->leaks; i++)
		index[stats->list[i].number] = (uint32_t)i + 1;
	for (size_t i = 0; good && i < slots; i++) {
		const struct tp_block *block = &replay->live.blocks[i];
		uint64_t ns;

		if (block->site == TP_SITE_NONE || !index[block->site])
			continue;
		good = tp_reserve(&births, &room, count + 1, sizeof(*births));
		if (!good)
			break;
		ns = tp_replay_ns(replay, block->time);
		births[count++] =
			(struct birth){ index[block->site] - 1, stats->seconds ? ns : step_at(steps, ns), block->size };
	}
	if (count)
		qsort(births, count, sizeof(*births), by_place);
	for (size_t from = 0, to; good && from < count; from = to) {
		for (to = from; to < count && births[to].site == births[from].site; to++)
			;
		summarize(&stats->list[births[from].site], births + from, to - from);
	}
	free(index);
	free(births);
	return good;
}
