/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up sites that leak together, and finds those that grow in step. */
#include <math.h>

#include "model/growth/growth_impl.h"

/* A curve may differ by this fraction of its growth from the one that it is compared with. */
#define EVEN 0.02

void tpa_growth_keep_curve(struct tpa_growth_stats *stats, const struct tpa_growth_values *values, size_t looks,
			   struct tpa_growth_site *site)
{
	struct tpa_growth_curve *curve = &stats->curves[stats->curve_count++];

	for (size_t i = 0; i < looks; i++) {
		curve->bytes[i] = values->bytes[i];
		curve->blocks[i] = values->blocks[i];
	}
	site->curve = (uint32_t)stats->curve_count;
}

static const struct tpa_growth_curve *curve_of(const struct tpa_growth_stats *stats, const struct tpa_growth_site *site)
{
	return site->curve ? &stats->curves[site->curve - 1] : NULL;
}

/* ---- the sum ---- */

static void add_site(struct tpa_growth_site *sum, const struct tpa_growth_site *site)
{
	sum->bytes += site->bytes;
	sum->blocks += site->blocks;
	sum->left += site->left;
	sum->members += site->members;
	sum->renewed = sum->renewed || site->renewed;
	if (site->verdict == TPA_VERDICT_LEAK)
		sum->verdict = TPA_VERDICT_LEAK;
	if (site->p < sum->p)
		sum->p = site->p;
	if (!site->typical)
		return;
	if (!sum->typical || site->born[0] < sum->born[0])
		sum->born[0] = site->born[0];
	if (!sum->typical || site->born[2] > sum->born[2])
		sum->born[2] = site->born[2];
	if (!sum->typical)
		sum->typical = site->typical;
}

static void measure(const struct tpa_growth_stats *stats, const struct tpa_growth_curve *curve,
		    struct tpa_growth_site *sum)
{
	struct tpa_trend of_bytes = { 0 }, of_blocks = { 0 };
	size_t n = stats->looks;

	tpa_trend_measure(stats->x, curve->bytes, n, &of_bytes);
	tpa_trend_measure(stats->x, curve->blocks, n, &of_blocks);
	sum->rate = of_bytes.slope;
	sum->low = of_bytes.low;
	sum->high = of_bytes.high;
	sum->block_rate = of_blocks.slope;
	sum->grown = tpa_growth_round(curve->bytes[n - 1] - curve->bytes[of_bytes.onset]);
	sum->recent = tpa_trend_recent(stats->x, curve->bytes, n, &of_bytes);
	sum->most = 0;
	for (size_t i = 0; i < n; i++)
		if (curve->bytes[i] > (double)sum->most)
			sum->most = tpa_round(curve->bytes[i]);
}

struct tpa_growth_site tpa_growth_sum(const struct tpa_growth_stats *stats, const struct tpa_growth_site *const *sites,
				      size_t count)
{
	struct tpa_growth_curve curve = { { 0 }, { 0 } };
	struct tpa_growth_site sum = *sites[0];

	if (count == 1)
		return sum;
	for (size_t k = 1; k < count; k++) {
		if (sites[k]->grown > sum.grown || (sites[k]->grown == sum.grown && sites[k]->number < sum.number)) {
			sum.node = sites[k]->node;
			sum.op = sites[k]->op;
			sum.number = sites[k]->number;
			sum.grown = sites[k]->grown;
		}
		add_site(&sum, sites[k]);
		sum.since = sites[k]->since < sum.since ? sites[k]->since : sum.since;
	}
	for (size_t k = 0; k < count; k++)
		for (size_t i = 0; curve_of(stats, sites[k]) && i < stats->looks; i++) {
			curve.bytes[i] += curve_of(stats, sites[k])->bytes[i];
			curve.blocks[i] += curve_of(stats, sites[k])->blocks[i];
		}
	measure(stats, &curve, &sum);
	return sum;
}

/* ---- in step ---- */

/* The fraction of its growth that a site had at a look. */
static double part_at(const struct tpa_growth_stats *stats, const struct tpa_growth_curve *curve, size_t look)
{
	size_t skip = stats->looks / 10;

	return (curve->blocks[look] - curve->blocks[skip]) / (curve->blocks[stats->looks - 1] - curve->blocks[skip]);
}

static bool gains_blocks(const struct tpa_growth_stats *stats, const struct tpa_growth_curve *curve)
{
	return curve && curve->blocks[stats->looks - 1] > curve->blocks[stats->looks / 10];
}

bool tpa_growth_in_step(const struct tpa_growth_stats *stats, const struct tpa_growth_site *a,
			const struct tpa_growth_site *b)
{
	const struct tpa_growth_curve *first = curve_of(stats, a), *second = curve_of(stats, b);

	if (!gains_blocks(stats, first) || !gains_blocks(stats, second))
		return false;
	for (size_t i = stats->looks / 10; i < stats->looks; i++)
		if (fabs(part_at(stats, first, i) - part_at(stats, second, i)) > EVEN)
			return false;
	return true;
}

bool tpa_growth_is_even(const struct tpa_growth_stats *stats, const struct tpa_growth_site *site)
{
	const struct tpa_growth_curve *curve = curve_of(stats, site);
	size_t skip = stats->looks / 10;
	double span = stats->x[stats->looks - 1] - stats->x[skip];

	if (!gains_blocks(stats, curve))
		return false;
	for (size_t i = skip; i < stats->looks; i++)
		if (fabs(part_at(stats, curve, i) - (stats->x[i] - stats->x[skip]) / span) > 2 * EVEN)
			return false;
	return true;
}
