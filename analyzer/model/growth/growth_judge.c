/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which of many series grow: tests each, applies Holm's correction over all, finds the verdicts, and measures
 * what grows.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"
#include "model/growth/growth_impl.h"
#include "model/stats/stats.h"

#define TABLES 20.0		      /* there are two tests; the one for tables gets 1/20 of the level (Bonferroni) */
#define LISTED (4.0 * sizeof(void *)) /* the most bytes that a table has for each block that it lists */
#define TABLE_MAY 0.001		      /* a table with at most this p may leak, however many series were tested */
#define TABLE_LIKELY 0.01	      /* a series with at most this p is taken for a table */
#define LEAST_S 1.0		      /* in less time than this, */
#define LEAST_BYTES 4096 /* growth by less than this is nothing that goes on: ls lists its folder in milliseconds */

void tpa_growth_read_state(const struct tpa_growth_state *state, size_t count, struct tpa_growth_values *values)
{
	for (size_t i = 0; i < count; i++) {
		bool there = i >= state->since;

		if (state->series) {
			values->bytes[i] = (double)state->series->bytes[i];
			values->blocks[i] = (double)state->series->blocks[i];
			values->survivors[i] = (double)state->series->survivors[i];
		} else {
			values->bytes[i] = there ? (double)state->bytes : 0;
			values->blocks[i] = values->survivors[i] = there ? (double)state->blocks : 0;
		}
	}
}

void tpa_growth_add_state(const struct tpa_growth_state *state, size_t count, struct tpa_growth_values *sum)
{
	struct tpa_growth_values values;

	tpa_growth_read_state(state, count, &values);
	for (size_t i = 0; i < count; i++) {
		sum->bytes[i] += values.bytes[i];
		sum->blocks[i] += values.blocks[i];
		sum->survivors[i] += values.survivors[i];
	}
}

double tpa_growth_grown(const struct tpa_growth_state *state, size_t count)
{
	struct tpa_growth_values values;

	tpa_growth_read_state(state, count, &values);
	return values.bytes[count - 1] - values.bytes[count / 10];
}

void tpa_growth_add_last(const struct tpa_growth_state *state, size_t count, uint64_t *bytes, uint64_t *blocks)
{
	if (state->series) {
		*bytes += state->series->bytes[count - 1];
		*blocks += state->series->blocks[count - 1];
	} else if (state->since < count) {
		*bytes += state->bytes;
		*blocks += state->blocks;
	}
}

void tpa_growth_test(const struct tpa_growth_family *family, struct tpa_growth_found *found)
{
	struct tpa_growth_values values;
	size_t n = family->places->count;

	family->read(family->source, found->index, &values);
	tpa_trend_test(family->places->x, values.bytes, n, &found->trend);
	found->table = tpa_doubling_find(family->places->x, values.bytes, n, &found->doubling) &&
		       found->doubling.p <= TABLE_LIKELY;
	if (found->table)
		found->trend.p = fmin(found->trend.p, TABLES * found->doubling.p);
	found->site.p = found->trend.p;
	for (size_t i = 0; i < n; i++)
		if (values.bytes[i] > (double)found->site.most)
			found->site.most = tpa_round(values.bytes[i]);
}

static int by_p(const void *a, const void *b)
{
	const struct tpa_growth_found *x = a, *y = b;

	return TPA_UP(x->trend.p, y->trend.p) ?: TPA_UP(x->index, y->index);
}

/* Sorts the list by p. Returns how many of its first elements grow significantly. */
static size_t significant(struct tpa_growth_found *list, size_t count, size_t varying)
{
	double *p = tpa_zalloc(count, sizeof(*p));
	size_t result;

	qsort(list, count, sizeof(*list), by_p);
	for (size_t i = 0; i < count; i++)
		p[i] = list[i].trend.p;
	result = tpa_trend_holm(p, count < varying ? count : varying, varying);
	free(p);
	return result;
}

int64_t tpa_growth_round(double value)
{
	uint64_t size = tpa_round(fabs(value));
	int64_t whole = size < INT64_MAX ? (int64_t)size : INT64_MAX;

	return value < 0 ? -whole : whole;
}

static void measure(const struct tpa_growth_places *places, struct tpa_growth_found *found,
		    const struct tpa_growth_values *values)
{
	struct tpa_growth_site *site = &found->site;
	size_t n = places->count, onset;
	struct tpa_trend of_blocks = { 0 };

	tpa_trend_measure(places->x, values->bytes, n, &found->trend);
	tpa_trend_measure(places->x, values->blocks, n, &of_blocks);
	onset = found->trend.onset;
	site->rate = found->trend.slope;
	site->low = found->trend.low;
	site->high = found->trend.high;
	site->block_rate = of_blocks.slope;
	site->recent = tpa_trend_recent(places->x, values->bytes, n, &found->trend);
	site->since = places->place[onset];
	site->grown = tpa_growth_round(values->bytes[n - 1] - values->bytes[onset]);
}

/* Measures a table. Its rate is that of what is put into it; its size stays what it was after its last jump. */
static void measure_table(const struct tpa_growth_places *places, struct tpa_growth_found *found)
{
	const struct tpa_doubling *doubling = &found->doubling;
	struct tpa_growth_site *site = &found->site;
	size_t onset = 0;

	while (onset + 1 < places->count && places->x[onset] < doubling->begin)
		onset++;
	site->rate = doubling->rate;
	site->low = doubling->low;
	site->high = doubling->high;
	site->recent = 0;
	site->since = places->place[onset];
	site->factor = doubling->factor;
	site->next = tpa_round(places->seconds ? doubling->next * 1e9 : doubling->next);
}

/*
 * Tables need their own test of whether they grow, and whether they have stopped: their size stays constant for as long
 * as they take to fill.
 */
static enum tpa_verdict table_verdict(const struct tpa_growth_found *found, bool significant)
{
	if (!found->doubling.goes_on)
		return TPA_VERDICT_WARM_UP;
	if (significant)
		return TPA_VERDICT_LEAK;
	return found->doubling.p <= TABLE_MAY ? TPA_VERDICT_RISING : TPA_VERDICT_BURST;
}

static bool is_listed(enum tpa_verdict verdict)
{
	return verdict == TPA_VERDICT_LEAK || verdict == TPA_VERDICT_RISING;
}

/* The course of growth is examined only if the site would be listed as growing. */
static enum tpa_verdict verdict_of(const struct tpa_growth_family *family, struct tpa_growth_found *found,
				   const struct tpa_growth_values *values, bool significant, size_t varying)
{
	const struct tpa_growth_places *places = family->places;
	enum tpa_verdict verdict = tpa_trend_verdict(values->bytes, places->count, &found->trend, significant);

	if (found->table)
		return table_verdict(found, significant);
	if (!is_listed(verdict))
		return verdict;
	tpa_trend_follow(places->x, values->bytes, values->blocks, places->count, &found->trend);
	found->trend.replaced = places->survivors && tpa_trend_is_replaced(places->x, values->bytes, values->blocks,
									   values->survivors, places->count);
	found->trend.doubtful = tpa_trend_is_doubtful(places->x, values->bytes, values->blocks,
						      places->survivors ? values->survivors : NULL, places->count,
						      found->trend.p, varying);
	return tpa_trend_verdict(values->bytes, places->count, &found->trend, significant);
}

/* A table grows with the work if it grows by no more than it takes to list the blocks that grow with the work. */
static void tables_of_work(struct tpa_growth_found *list, size_t count)
{
	double blocks = 0;

	for (size_t i = 0; i < count; i++)
		blocks += list[i].site.verdict == TPA_VERDICT_WORK ? fmax(0, list[i].site.block_rate) : 0;
	for (size_t i = 0; i < count; i++)
		if (list[i].table && is_listed(list[i].site.verdict) && list[i].site.rate <= LISTED * blocks)
			list[i].site.verdict = TPA_VERDICT_WORK;
}

/* Is it a little of what a program without steps does in moments? */
static bool is_trifle(const struct tpa_growth_places *places, const struct tpa_growth_site *site)
{
	return places->seconds && places->x[places->count - 1] - places->x[0] < LEAST_S && site->most < LEAST_BYTES;
}

void tpa_growth_judge(const struct tpa_growth_family *family, struct tpa_growth_found *list, size_t count,
		      size_t varying)
{
	size_t sure = significant(list, count, varying);
	struct tpa_growth_values values;

	for (size_t i = 0; i < count; i++) {
		family->read(family->source, list[i].index, &values);
		list[i].site.verdict = verdict_of(family, &list[i], &values, i < sure, varying);
		if (is_listed(list[i].site.verdict) && is_trifle(family->places, &list[i].site))
			list[i].site.verdict = TPA_VERDICT_BURST;
		if (i < sure || list[i].site.verdict == TPA_VERDICT_RISING)
			measure(family->places, &list[i], &values);
		if (list[i].table && is_listed(list[i].site.verdict))
			measure_table(family->places, &list[i]);
	}
	tables_of_work(list, count);
}

void tpa_growth_take(struct tpa_growth_list *to, const struct tpa_growth_site *site)
{
	if (site->verdict == TPA_VERDICT_STABLE)
		return;
	if (site->verdict == TPA_VERDICT_LEAK) {
		to->leaks++;
		to->leak_rate += site->rate;
	}
	to->rising += site->verdict == TPA_VERDICT_RISING;
	to->replaced += site->verdict == TPA_VERDICT_WORK;
	to->list[to->count++] = *site;
}

/* Order of the verdicts in a list: leaks, then what may leak, then all others. */
static int group_of(const struct tpa_growth_site *site)
{
	return site->verdict == TPA_VERDICT_LEAK ? 0 : site->verdict == TPA_VERDICT_RISING ? 1 : 2;
}

static int by_weight(const void *a, const void *b)
{
	const struct tpa_growth_site *x = a, *y = b;
	int group = group_of(x);

	if (group != group_of(y))
		return group - group_of(y);
	if (group < 2 && x->rate != y->rate)
		return x->rate > y->rate ? -1 : 1;
	return TPA_DOWN(x->most, y->most) ?: TPA_UP(x->number, y->number);
}

void tpa_growth_sort(struct tpa_growth_list *list)
{
	if (list->count)
		qsort(list->list, list->count, sizeof(*list->list), by_weight);
}
