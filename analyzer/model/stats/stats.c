/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stats/stats.h"

#include <math.h>

#include "model/stats/student.h"

struct tpa_interval tpa_interval_share(double hits, double trials)
{
	const double z2 = TPA_NORMAL_95 * TPA_NORMAL_95;
	double share, centre, half;

	if (!(trials > 0))
		return (struct tpa_interval){ 0, 1 };
	share = hits / trials;
	centre = (share + z2 / (2 * trials)) / (1 + z2 / trials);
	half = TPA_NORMAL_95 * sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials)) / (1 + z2 / trials);
	/* At shares of 0 and 1, one end is the share itself; the formula gives it only up to rounding. */
	return (struct tpa_interval){ hits > 0 ? fmax(centre - half, 0) : 0,
				      hits < trials ? fmin(centre + half, 1) : 1 };
}

/*
 * A quantile of the gamma distribution with this mean and variance, by Wilson and Hilferty (1931). `z`: the same
 * quantile of the standard normal distribution.
 */
static double gamma_quantile(double mean, double variance, double z)
{
	double ninth = mean > 0 ? variance / (mean * mean) / 9 : 0;

	return mean * pow(fmax(1 - ninth + z * sqrt(ninth), 0), 3);
}

struct tpa_interval tpa_interval_estimate(double estimate, double variance, double unseen)
{
	/* The estimate is chance, of items with that weight, + sure, of items that were certain to be sampled. */
	double weight, chance, sure;

	variance = fmax(variance, 0);
	if (!(variance + unseen > 0) || !(estimate > 0))
		return (struct tpa_interval){ fmax(estimate, 0), fmax(estimate, 0) };
	weight = fmax(variance / estimate, unseen);
	chance = variance / weight;
	sure = estimate - chance;
	return (struct tpa_interval){
		sure + gamma_quantile(chance, variance, -TPA_NORMAL_95),
		sure + gamma_quantile(chance + weight, variance + weight * weight, TPA_NORMAL_95),
	};
}

/* Moves the k-th smallest number to list[k], smaller ones before it and larger ones behind it: Hoare's selection (1961). */
static double select_kth(double *list, size_t count, size_t k)
{
	ptrdiff_t low = 0, high = (ptrdiff_t)count - 1, at = (ptrdiff_t)k;

	while (low < high) {
		double pivot = list[low + (high - low) / 2];
		ptrdiff_t i = low, j = high;

		while (i <= j) {
			while (list[i] < pivot)
				i++;
			while (pivot < list[j])
				j--;
			if (i <= j) {
				double other = list[i];

				list[i++] = list[j];
				list[j--] = other;
			}
		}
		if (at <= j)
			high = j;
		else if (at >= i)
			low = i;
		else
			break;
	}
	return list[k];
}

double tpa_median(double *list, size_t count)
{
	size_t half = count / 2;
	double upper = select_kth(list, count, half), lower;

	if (count % 2)
		return upper;
	lower = list[0];
	for (size_t i = 1; i < half; i++)
		lower = fmax(lower, list[i]);
	return (lower + upper) / 2;
}

uint64_t tpa_round(double value)
{
	if (!(value > 0))
		return 0;
	return value < 0x1p63 ? (uint64_t)llround(value) : UINT64_MAX;
}

void tpa_moments_add(struct tpa_moments *moments, double value)
{
	double distance = value - moments->mean;

	moments->count++;
	moments->mean += distance / (double)moments->count;
	moments->squares += distance * (value - moments->mean);
}

void tpa_moments_merge(struct tpa_moments *to, const struct tpa_moments *from)
{
	double distance = from->mean - to->mean, count = (double)(to->count + from->count);

	if (!from->count)
		return;
	to->mean += distance * ((double)from->count / count);
	to->squares += from->squares + distance * distance * ((double)to->count * (double)from->count / count);
	to->count += from->count;
}

void tpa_moments_add_many(struct tpa_moments *moments, double value, uint64_t times)
{
	double distance = value - moments->mean, before = (double)moments->count, more = (double)times;

	if (!times)
		return;
	moments->count += times;
	moments->mean += distance * more / (before + more);
	moments->squares += distance * distance * before * more / (before + more);
}

void tpa_moments_scale(struct tpa_moments *moments, double factor)
{
	moments->mean *= factor;
	moments->squares *= factor * factor;
}

void tpa_moments_fill(struct tpa_moments *moments, uint64_t count)
{
	if (moments->count < count)
		tpa_moments_add_many(moments, 0, count - moments->count);
}

double tpa_moments_deviation(const struct tpa_moments *moments)
{
	return moments->count > 1 ? sqrt(moments->squares / (double)(moments->count - 1)) : 0;
}

struct tpa_interval tpa_moments_interval(const struct tpa_moments *moments)
{
	double half;

	if (moments->count < 2)
		return (struct tpa_interval){ NAN, NAN };
	half = tpa_student_t(0.05, (double)(moments->count - 1)) * tpa_moments_deviation(moments) /
	       sqrt((double)moments->count);
	return (struct tpa_interval){ moments->mean - half, moments->mean + half };
}
