/* SPDX-License-Identifier: Apache-2.0 */
/* Which of many series grow: the test of each, Holm's correction over all, verdicts, and what those that grow measure. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "model/growth/growth_impl.h"
#include "model/stats/stats.h"

void tp_growth_read_state(const struct tp_growth_state *state, size_t count, struct tp_growth_values *values)
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

void tp_growth_add_state(const struct tp_growth_state *state, size_t count, struct tp_growth_values *sum)
{
	struct tp_growth_values values;

	tp_growth_read_state(state, count, &values);
	for (size_t i = 0; i < count; i++) {
		sum->bytes[i] += values.bytes[i];
		sum->blocks[i] += values.blocks[i];
		sum->survivors[i] += values.survivors[i];
	}
}

double tp_growth_grown(const struct tp_growth_state *state, size_t count)
{
	struct tp_growth_values values;

	tp_growth_read_state(state, count, &values);
	return values.bytes[count - 1] - values.bytes[count / 10];
}

void tp_growth_test(const struct tp_growth_family *family, struct tp_growth_found *found)
{
	struct tp_growth_values values;
	size_t n = family->places->count;

	family->read(family->source, found->index, &values);
	tp_trend_test(family->places->x, values.bytes, n, &found->trend);
	found->site.p = found->trend.p;
	for (size_t i = 0; i < n; i++)
		if (values.bytes[i] > (double)found->site.most)
			found->site.most = tp_round(values.bytes[i]);
}

static int by_p(const void *a, const void *b)
{
	const struct tp_growth_found *x = a, *y = b;

	if (x->trend.p != y->trend.p)
		return x->trend.p < y->trend.p ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* How many of the list, the first ones once it is sorted, grow significantly. */
static size_t significant(struct tp_growth_found *list, size_t count, size_t varying)
{
	double *p = tp_zalloc(count, sizeof(*p));
	size_t result;

	qsort(list, count, sizeof(*list), by_p);
	for (size_t i = 0; i < count; i++)
		p[i] = list[i].trend.p;
	result = tp_trend_holm(p, count < varying ? count : varying, varying);
	free(p);
	return result;
}

int64_t tp_growth_round(double value)
{
	uint64_t size = tp_round(fabs(value));
	int64_t whole = size < INT64_MAX ? (int64_t)size : INT64_MAX;

	return value < 0 ? -whole : whole;
}

static void measure(const struct tp_growth_places *places, struct tp_growth_found *found,
		    const struct tp_growth_values *values)
{
	struct tp_growth_site *site = &found->site;
	size_t n = places->count, onset;
	struct tp_trend of_blocks = { 0 };

	tp_trend_measure(places->x, values->bytes, n, &found->trend);
	tp_trend_measure(places->x, values->blocks, n, &of_blocks);
	onset = found->trend.onset;
	site->rate = found->trend.slope;
	site->low = found->trend.low;
	site->high = found->trend.high;
	site->block_rate = of_blocks.slope;
	site->since = places->place[onset];
	site->grown = tp_growth_round(values->bytes[n - 1] - values->bytes[onset]);
}

/* Whether it slows down is asked of what would be listed as growth. */
static enum tp_verdict verdict_of(const struct tp_growth_family *family, struct tp_growth_found *found,
				  const struct tp_growth_values *values, bool significant, size_t varying)
{
	const struct tp_growth_places *places = family->places;
	enum tp_verdict verdict = tp_trend_verdict(values->bytes, places->count, &found->trend, significant);

	if (verdict != TP_VERDICT_LEAK && verdict != TP_VERDICT_RISING)
		return verdict;
	found->trend.course = tp_trend_course(places->x, values->bytes, values->blocks, places->count);
	found->trend.doubtful = tp_trend_is_doubtful(places->x, values->bytes, values->blocks,
						     places->survivors ? values->survivors : NULL, places->count,
						     found->trend.p, varying);
	return tp_trend_verdict(values->bytes, places->count, &found->trend, significant);
}

void tp_growth_judge(const struct tp_growth_family *family, struct tp_growth_found *list, size_t count, size_t varying)
{
	size_t sure = significant(list, count, varying);
	struct tp_growth_values values;

	for (size_t i = 0; i < count; i++) {
		family->read(family->source, list[i].index, &values);
		list[i].site.verdict = verdict_of(family, &list[i], &values, i < sure, varying);
		if (i < sure || list[i].site.verdict == TP_VERDICT_RISING)
			measure(family->places, &list[i], &values);
	}
}

void tp_growth_take(struct tp_growth_list *to, const struct tp_growth_site *site)
{
	if (site->verdict == TP_VERDICT_STABLE)
		return;
	if (site->verdict == TP_VERDICT_LEAK) {
		to->leaks++;
		to->leak_rate += site->rate;
	}
	to->rising += site->verdict == TP_VERDICT_RISING;
	to->list[to->count++] = *site;
}

/* Those that leak, those that may, all others. */
static int group_of(const struct tp_growth_site *site)
{
	return site->verdict == TP_VERDICT_LEAK ? 0 : site->verdict == TP_VERDICT_RISING ? 1 : 2;
}

static int by_weight(const void *a, const void *b)
{
	const struct tp_growth_site *x = a, *y = b;
	int group = group_of(x);

	if (group != group_of(y))
		return group - group_of(y);
	if (group < 2 && x->rate != y->rate)
		return x->rate > y->rate ? -1 : 1;
	if (x->most != y->most)
		return x->most > y->most ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

void tp_growth_sort(struct tp_growth_list *list)
{
	if (list->count)
		qsort(list->list, list->count, sizeof(*list->list), by_weight);
}
