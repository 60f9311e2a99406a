/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stats/rank.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"

#define SHARE_LEAST 5.0 /* hits and misses expected on each side, for the normal approximation */

struct rank_value {
	uint64_t value, a, b;
};

/* Lists the values of both sides, sorted so that equal values are neighbours. */
static size_t gather_few(struct rank_value *list, const struct tpa_histogram *a, const struct tpa_histogram *b)
{
	size_t count = 0;

	for (uint64_t i = 0; i < a->count; i++)
		list[count++] = (struct rank_value){ a->few[i], 1, 0 };
	for (uint64_t i = 0; i < b->count; i++)
		list[count++] = (struct rank_value){ b->few[i], 0, 1 };
	TPA_SORT(list, count, value);
	return count;
}

static size_t gather(struct rank_value *list, const struct tpa_histogram *a, const struct tpa_histogram *b)
{
	if (a->count <= TPA_HISTOGRAM_EXACT && b->count <= TPA_HISTOGRAM_EXACT)
		return gather_few(list, a, b);
	for (size_t i = 0; i < TPA_HISTOGRAM_BUCKETS; i++)
		list[i] = (struct rank_value){ i, tpa_histogram_bucket(a, i), tpa_histogram_bucket(b, i) };
	return TPA_HISTOGRAM_BUCKETS;
}

struct tpa_rank_test tpa_rank_test(const struct tpa_histogram *a, const struct tpa_histogram *b)
{
	struct tpa_rank_test test = { NAN, NAN };
	double n = (double)a->count, m = (double)b->count, all = n + m, below = 0, wins = 0, ties = 0, variance, off;
	struct rank_value *list;
	size_t count;

	if (!a->count || !b->count)
		return test;
	list = tpa_zalloc(TPA_HISTOGRAM_BUCKETS, sizeof(*list));
	count = gather(list, a, b);
	for (size_t i = 0, next; i < count; i = next) {
		double mine = 0, others = 0, tied;

		for (next = i; next < count && list[next].value == list[i].value; next++)
			mine += (double)list[next].a, others += (double)list[next].b;
		wins += others * (below + mine / 2);
		below += mine;
		tied = mine + others;
		ties += tied * tied * tied - tied;
	}
	free(list);
	test.later = wins / (n * m);
	variance = n * m / 12 * (all + 1 - ties / (all * (all - 1)));
	off = fmax(fabs(wins - n * m / 2) - 0.5, 0); /* continuity correction */
	if (a->count >= TPA_RANK_LEAST && b->count >= TPA_RANK_LEAST)
		test.p = variance > 0 ? erfc(off / sqrt(2 * variance)) : 1;
	return test;
}

double tpa_share_test(double a_hits, double a_trials, double b_hits, double b_trials)
{
	double least = fmin(a_trials, b_trials), share, variance;

	if (!(least > 0))
		return NAN;
	share = (a_hits + b_hits) / (a_trials + b_trials);
	if (least * share < SHARE_LEAST || least * (1 - share) < SHARE_LEAST)
		return NAN;
	variance = share * (1 - share) * (1 / a_trials + 1 / b_trials);
	return erfc(fabs(a_hits / a_trials - b_hits / b_trials) / sqrt(2 * variance));
}

static int by_p(const void *left, const void *right)
{
	double x = **(double *const *)left, y = **(double *const *)right;

	return TPA_UP(x, y);
}

void tpa_holm(double *list, size_t count)
{
	double **order = tpa_zalloc(count, sizeof(*order)), largest = 0;
	size_t tests = 0;

	for (size_t i = 0; i < count; i++)
		if (!isnan(list[i]))
			order[tests++] = &list[i];
	qsort(order, tests, sizeof(*order), by_p);
	for (size_t i = 0; i < tests; i++) {
		largest = fmax(largest, fmin(*order[i] * (double)(tests - i), 1));
		*order[i] = largest;
	}
	free(order);
}
