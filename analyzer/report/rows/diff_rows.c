/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/diff_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/stats/more_runs.h"
#include "model/stats/rank.h"
#include "report/rows/diff_words.h"
#include "base/memory.h"
#include "base/order.h"

#define TESTED_SHARE 0.001 /* rows below this share of the sum are not tested */

struct tpa_diff_amount tpa_diff_rate(double rate, double low, double high, double count)
{
	double error = (high - low) / (2 * TPA_NORMAL_95);

	return (struct tpa_diff_amount){ rate, error * error, count, 0 };
}

void tpa_diff_rows_free(struct tpa_diff_rows *rows)
{
	free(rows->list);
	tpa_pairs_free(&rows->index);
	memset(rows, 0, sizeof(*rows));
}

void tpa_diff_rows_add(struct tpa_diff_rows *rows, uint32_t key, uint32_t own, const struct tpa_diff_amount *amount)
{
	bool found;
	uint32_t *index = tpa_pairs_at(&rows->index, key, 0, &found);
	struct tpa_diff_row *row;

	if (!found) {
		tpa_grow(&rows->list, &rows->room, rows->count + 1, sizeof(*rows->list));
		*index = (uint32_t)rows->count;
		rows->list[rows->count++] = (struct tpa_diff_row){ .key = key, .own = own };
	}
	row = &rows->list[*index];
	row->current.value += amount->value;
	row->current.variance += amount->variance;
	row->current.count += amount->count;
	row->current.unseen = fmax(row->current.unseen, amount->unseen);
	rows->estimated = rows->estimated || amount->variance > 0 || amount->unseen > 0;
}

void tpa_diff_rows_want(struct tpa_diff_rows *rows, uint32_t key)
{
	bool found = false;
	const uint32_t *index = tpa_pairs_at(&rows->index, key, 0, &found);

	if (found)
		rows->list[*index].wanted = true;
}

void tpa_diff_rows_keep_wanted(struct tpa_diff_rows *rows)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->list[i].wanted)
			rows->list[kept++] = rows->list[i];
	rows->count = kept;
}

void tpa_diff_rows_end_run(struct tpa_diff_rows *rows, int side, double scale)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct tpa_diff_row *row = &rows->list[i];
		struct tpa_diff_side *of = &row->side[side];

		tpa_moments_fill(&of->runs, rows->runs[side]); /* earlier runs, which lack the row */
		tpa_moments_add(&of->runs, row->current.value * scale);
		of->variance += row->current.variance * scale * scale;
		of->count += row->current.count;
		of->unseen = fmax(of->unseen, row->current.unseen * scale);
		row->current = (struct tpa_diff_amount){ 0, 0, 0, 0 };
	}
	rows->runs[side]++;
	rows->unseen_of[side] = fmax(rows->unseen_of[side], rows->unseen * scale);
	rows->estimated = rows->estimated || rows->unseen > 0;
	rows->unseen = 0;
}

bool tpa_diff_differs(const struct tpa_diff_row *row)
{
	const struct tpa_diff_side *a = &row->side[0], *b = &row->side[1];
	double n = (double)a->runs.count, m = (double)b->runs.count;

	/* Means of the same integers may differ in their last digits. */
	return fabs(a->runs.mean - b->runs.mean) > 1e-9 * fmax(fabs(a->runs.mean), fabs(b->runs.mean)) ||
	       fabs(a->count * m - b->count * n) > 0.5;
}

/* A hit in one of n runs adds only 1/n of what it stands for to the mean of the runs. */
struct tpa_estimated tpa_diff_estimated(const struct tpa_diff_side *side)
{
	double runs = fmax((double)side->runs.count, 1);

	return (struct tpa_estimated){ side->runs.mean, side->variance / (runs * runs), side->unseen / runs };
}

struct tpa_difference tpa_diff_sides(const struct tpa_diff_side *a, const struct tpa_diff_side *b, bool several)
{
	struct tpa_estimated old_mean = tpa_diff_estimated(a), new_mean = tpa_diff_estimated(b);
	struct tpa_difference means = tpa_difference_estimates(&old_mean, &new_mean), runs;

	if (!several)
		return means;
	runs = tpa_difference_runs(&a->runs, &b->runs, false);
	return a->sampled || b->sampled ? tpa_difference_wider(&runs, &means) : runs;
}

/* Tests shares of independent samples. As in tpa_share_test(), the variance is that of the pooled share. */
static void test_shares(const struct tpa_diff_rows *rows, double old_share, double new_share,
			struct tpa_difference *difference)
{
	const double *trials = rows->trials;
	double share = (old_share * trials[0] + new_share * trials[1]) / (trials[0] + trials[1]);
	double variance = share * (1 - share), change = new_share - old_share;
	double half = TPA_NORMAL_95 * sqrt(variance / trials[0] + variance / trials[1]);

	difference->p = tpa_share_test(old_share * trials[0], trials[0], new_share * trials[1], trials[1]);
	difference->interval = (struct tpa_interval){ NAN, NAN };
	difference->change = (struct tpa_interval){ change - half, change + half };
	difference->variances[0] = variance / trials[0], difference->variances[1] = variance / trials[1];
	difference->doubt = isnan(difference->p) ? TPA_DOUBT_FEW : TPA_DOUBT_NONE;
}

static struct tpa_difference difference_of(const struct tpa_diff_rows *rows, const struct tpa_diff_row *row)
{
	const struct tpa_diff_side *a = &row->side[0], *b = &row->side[1];
	bool several = rows->runs[0] > 1 || rows->runs[1] > 1;
	struct tpa_difference difference = tpa_diff_sides(a, b, several);

	if (!several && (rows->trials[0] > 0 || rows->trials[1] > 0))
		test_shares(rows, a->runs.mean, b->runs.mean, &difference);
	return difference;
}

static void fill_unseen(const struct tpa_diff_rows *rows, int side, struct tpa_diff_side *of)
{
	double unseen = fmax(of->unseen, rows->unseen_of[side]);

	of->sampled = unseen > 0;
	of->unseen = rows->rates ? 0 : unseen;
	if (rows->rates)
		of->variance += unseen * unseen * (double)rows->runs[side];
}

double tpa_diff_larger(const struct tpa_diff_row *row)
{
	return fmax(fabs(row->side[0].runs.mean), fabs(row->side[1].runs.mean));
}

/* Corrects for the number of rows that were tested. */
static void count_more_runs(struct tpa_diff_rows *rows)
{
	size_t tests = 0;

	for (size_t i = 0; i < rows->count; i++)
		tests += isnan(rows->list[i].corrected) ? 0 : 1;
	for (size_t i = 0; i < rows->count; i++) {
		struct tpa_diff_row *row = &rows->list[i];
		double seen = row->side[1].runs.mean - row->side[0].runs.mean;

		row->more_runs =
			tpa_more_runs(&row->difference, rows->runs, tpa_diff_size(seen, tpa_diff_larger(row)), tests);
	}
}

void tpa_diff_rows_test(struct tpa_diff_rows *rows)
{
	double *p = tpa_zalloc(rows->count, sizeof(*p)), sums[2] = { 0, 0 }, least;

	for (size_t i = 0; i < rows->count; i++) {
		for (int side = 0; side < 2; side++) {
			struct tpa_diff_side *of = &rows->list[i].side[side];

			tpa_moments_fill(&of->runs, rows->runs[side]);
			fill_unseen(rows, side, of);
			sums[side] += fabs(of->runs.mean);
		}
	}
	least = rows->small_too ? 0 : TESTED_SHARE * fmax(sums[0], sums[1]);
	for (size_t i = 0; i < rows->count; i++) {
		struct tpa_diff_row *row = &rows->list[i];

		row->difference = difference_of(rows, row);
		p[i] = row->difference.p;
		if (fabs(row->side[0].runs.mean) < least && fabs(row->side[1].runs.mean) < least)
			p[i] = NAN;
	}
	tpa_holm(p, rows->count);
	for (size_t i = 0; i < rows->count; i++)
		rows->list[i].corrected = p[i];
	free(p);
	count_more_runs(rows);
}

static int by_change(const void *left, const void *right)
{
	const struct tpa_diff_row *a = *(const struct tpa_diff_row *const *)left;
	const struct tpa_diff_row *b = *(const struct tpa_diff_row *const *)right;
	double x = fabs(a->side[1].runs.mean - a->side[0].runs.mean);
	double y = fabs(b->side[1].runs.mean - b->side[0].runs.mean);

	return TPA_DOWN(x, y) ?: TPA_UP(a->key, b->key);
}

const struct tpa_diff_row **tpa_diff_rows_sort(const struct tpa_diff_rows *rows, size_t *count)
{
	const struct tpa_diff_row **list = tpa_zalloc(rows->count, sizeof(struct tpa_diff_row *));

	*count = 0;
	for (size_t i = 0; i < rows->count; i++)
		if (tpa_diff_differs(&rows->list[i]))
			list[(*count)++] = &rows->list[i];
	qsort((void *)list, *count, sizeof(struct tpa_diff_row *), by_change);
	return list;
}
