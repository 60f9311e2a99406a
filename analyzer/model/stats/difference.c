/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stats/difference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "model/stats/student.h"

#define BOTH (2 * TPA_BATCH_MAX)
#define LEVEL 0.05
#define PAIRED_LEAST 16u    /* least number of batches after they are merged in pairs */
#define CORRELATED_LEAST 6u /* values needed to compute the correlation of neighbours */
#define CORRELATION_MOST 0.97
#define DRIFT_LEAST 12u	    /* batches needed to see a drift */
#define INDEPENDENT_LEAST 6 /* with fewer independent batches, the run drifts */

static struct tpa_difference nothing(enum tpa_doubt doubt)
{
	return (struct tpa_difference){ NAN, { NAN, NAN }, { NAN, NAN }, { NAN, NAN }, NAN, doubt };
}

/* ---- one run a side ---- */

struct ranked {
	double value, *rank;
};

/* Ranks the batches of both sides together, as shares of their number. Equal values get their mean rank. */
static void rank(const struct tpa_batches *a, const struct tpa_batches *b, double *ranks_a, double *ranks_b)
{
	struct ranked list[BOTH];
	size_t all = a->series.count + b->series.count;

	for (size_t i = 0; i < a->series.count; i++)
		list[i] = (struct ranked){ a->means[i], &ranks_a[i] };
	for (size_t i = 0; i < b->series.count; i++)
		list[a->series.count + i] = (struct ranked){ b->means[i], &ranks_b[i] };
	TPA_SORT(list, all, value);
	for (size_t i = 0, next; i < all; i = next) {
		for (next = i + 1; next < all && list[next].value <= list[i].value; next++)
			;
		for (size_t k = i; k < next; k++)
			*list[k].rank = ((double)(i + next + 1) / 2) / (double)all;
	}
}

/* The mean of a series, the variance of its values, and the effect of correlation on the variance of the mean. */
struct series {
	double mean, spread;
	double factor;	/* variance of the mean relative to that of independent values; at least 1 */
	double degrees; /* degrees of freedom */
};

/* Returns the variance of the mean relative to that of independent values, from the correlation of neighbours. */
static double inflation(const double *values, size_t count, double squares)
{
	double n = (double)count, products = 0, r;

	if (count < CORRELATED_LEAST || !(squares > 0))
		return 1;
	for (size_t i = 1; i < count; i++)
		products += values[i] * values[i - 1];
	r = products / squares;
	r += (1 + 4 * r) / n;
	r = fmin(fmax(r, 0), CORRELATION_MOST);
	return fmin((1 + r) / (1 - r), n / 2);
}

static struct series series_of(const double *values, size_t count)
{
	struct series series = { .factor = 1, .degrees = (double)count - 1 };
	double left[TPA_BATCH_MAX] = { 0 }, most = 0, squares, variance;

	for (size_t i = 0; i < count; i++)
		series.mean += values[i] / (double)count;
	for (size_t i = 0; i < count; i++)
		left[i] = values[i] - series.mean;
	for (size_t n = count; n == count || n >= PAIRED_LEAST; n /= 2) {
		double factor;

		squares = 0;
		for (size_t i = 0; i < n; i++)
			squares += left[i] * left[i];
		if (n == count)
			series.spread = squares / ((double)n - 1);
		factor = inflation(left, n, squares);
		variance = squares / ((double)n - 1) / (double)n * factor;
		if (variance > most) {
			most = variance;
			series.degrees = fmax((double)n / factor - 1, 1);
		}
		for (size_t i = 0; i < n / 2; i++)
			left[i] = (left[2 * i] + left[2 * i + 1]) / 2;
	}
	if (series.spread > 0)
		series.factor = fmax(most * (double)count / series.spread, 1);
	return series;
}

static bool drifts(const struct series *series, size_t count)
{
	return count >= DRIFT_LEAST && (double)count / series->factor < INDEPENDENT_LEAST;
}

/*
 * Sets the ratio from the median of all differences between the sides, and the interval from the differences that the
 * test would not reject.
 */
static void ratios(const struct tpa_batches *a, const struct tpa_batches *b, double half,
		   struct tpa_difference *difference)
{
	double list[TPA_BATCH_MAX * TPA_BATCH_MAX] = { 0 };
	double out = (double)(a->series.count * b->series.count) * (0.5 - half);
	size_t count = 0, skip = out > 0 ? (size_t)ceil(out) : 0;

	for (size_t i = 0; i < a->series.count; i++)
		for (size_t k = 0; k < b->series.count; k++)
			list[count++] = b->means[k] - a->means[i];
	TPA_SORT_NUMBERS(list, count);
	difference->ratio = exp((list[(count - 1) / 2] + list[count / 2]) / 2);
	if (skip) {
		difference->interval.low = exp(list[skip - 1]);
		difference->interval.high = exp(list[count - skip]);
	}
}

/* Derives the variance from the interval, and assigns half of it to each side. */
static void set_variances(struct tpa_difference *difference)
{
	double error = log(difference->interval.high / difference->interval.low) / (2 * TPA_NORMAL_95);

	difference->variances[0] = difference->variances[1] = error * error / 2;
}

struct tpa_difference tpa_difference_batches(const struct tpa_batches *a, const struct tpa_batches *b)
{
	double ranks[BOTH], spread = 0, n = (double)a->series.count, m = (double)b->series.count, error, degrees;
	struct tpa_difference difference = nothing(TPA_DOUBT_NONE);
	struct series of_a, of_b;

	if (!a->series.count || !b->series.count)
		return nothing(TPA_DOUBT_FEW);
	rank(a, b, ranks, ranks + a->series.count);
	if (a->series.count < TPA_DIFFERENCE_LEAST || b->series.count < TPA_DIFFERENCE_LEAST) {
		difference.doubt = TPA_DOUBT_FEW;
		ratios(a, b, 0.5, &difference);
		return difference;
	}
	of_a = series_of(ranks, a->series.count);
	of_b = series_of(ranks + a->series.count, b->series.count);
	for (size_t i = 0; i < a->series.count + b->series.count; i++)
		spread += pow(ranks[i] - 0.5 - 0.5 / (n + m), 2) / (n + m - 1);
	error = sqrt(spread * (of_a.factor / n + of_b.factor / m));
	degrees = of_a.degrees + of_b.degrees;
	ratios(a, b, error * tpa_student_t(LEVEL, degrees), &difference);
	set_variances(&difference);
	if (drifts(&of_a, a->series.count) || drifts(&of_b, b->series.count))
		difference.doubt = TPA_DOUBT_DRIFT;
	else
		difference.p = error > 0 ? tpa_student_p((of_b.mean - of_a.mean) / error, degrees) : 1;
	return difference;
}

/* ---- several runs ---- */

/* The variance of a side's runs, with n - 1. */
static double variance_of(const struct tpa_moments *moments)
{
	return moments->squares / (double)(moments->count - 1);
}

static double degrees_of(double va, double vb, const struct tpa_moments *a, const struct tpa_moments *b)
{
	double sum = va + vb;

	if (!(sum > 0))
		return (double)(a->count + b->count - 2);
	return sum * sum / (va * va / (double)(a->count - 1) + vb * vb / (double)(b->count - 1));
}

/*
 * Fieller (1954): the interval contains the ratios r for which the t-test does not reject new - r * old = 0. So it
 * excludes 1 exactly if the test finds that the means differ. If the old mean may be 0, there is no upper end.
 */
static void ratio_of(double old_value, double old_variance, double new_value, double new_variance, double times,
		     struct tpa_difference *difference)
{
	double a = old_value * old_value - times * times * old_variance, b = old_value * new_value;
	double c = new_value * new_value - times * times * new_variance, root = sqrt(fmax(b * b - a * c, 0));

	if (!(old_value > 0) || new_value < 0)
		return;
	difference->ratio = new_value / old_value;
	difference->interval.low = c > 0 ? c / (b + root) : 0;
	difference->interval.high = a > 0 ? (b + root) / a : NAN;
}

static double p_of(double difference, double error, double degrees)
{
	if (error > 0)
		return tpa_student_p(difference / error, degrees);
	return fabs(difference) > 0 ? 0 : 1;
}

struct tpa_difference tpa_difference_runs(const struct tpa_moments *a, const struct tpa_moments *b, bool logarithms)
{
	struct tpa_difference difference = nothing(TPA_DOUBT_NONE);
	const struct tpa_moments *spread = a->count > 1 ? a : b;
	double va, vb, error, degrees, times;

	if (!a->count || !b->count)
		return nothing(TPA_DOUBT_FEW);
	if (spread->count < 2) {
		difference.doubt = TPA_DOUBT_FEW;
		difference.ratio = logarithms ? exp(b->mean - a->mean) : a->mean > 0 ? b->mean / a->mean : NAN;
		return difference;
	}
	va = variance_of(a->count > 1 ? a : spread);
	vb = variance_of(b->count > 1 ? b : spread);
	difference.variances[0] = va, difference.variances[1] = vb;
	va /= (double)a->count, vb /= (double)b->count;
	degrees = a->count > 1 && b->count > 1 ? degrees_of(va, vb, a, b) : (double)(spread->count - 1);
	error = sqrt(va + vb);
	times = tpa_student_t(LEVEL, degrees);
	difference.p = p_of(b->mean - a->mean, error, degrees);
	if (logarithms) {
		difference.ratio = exp(b->mean - a->mean);
		difference.interval.low = exp(b->mean - a->mean - times * error);
		difference.interval.high = exp(b->mean - a->mean + times * error);
	} else {
		ratio_of(a->mean, va, b->mean, vb, times, &difference);
		difference.change.low = b->mean - a->mean - times * error;
		difference.change.high = b->mean - a->mean + times * error;
	}
	return difference;
}

/* ---- estimates ---- */

struct tpa_interval tpa_estimated_interval(const struct tpa_estimated *estimated)
{
	double half = TPA_NORMAL_95 * sqrt(estimated->variance);

	if (!(estimated->unseen > 0))
		return (struct tpa_interval){ estimated->value - half, estimated->value + half };
	if (!(estimated->value > 0))
		return (struct tpa_interval){ 0, log(2 / LEVEL) * estimated->unseen };
	return tpa_interval_estimate(estimated->value, estimated->variance, estimated->unseen);
}

/*
 * The ends of the ratio's interval are the roots r of (b - r a)^2 = (b - b_end)^2 + r^2 (a_end - a)^2: there an end of
 * the interval of b - r a is 0.
 */
static void ratio_of_estimates(double a, struct tpa_interval of_a, double b, struct tpa_interval of_b,
			       struct tpa_difference *difference)
{
	double both = a * b, squares, times;

	if (a < 0 || b < 0 || !(of_a.high > 0))
		return;
	difference->ratio = a > 0 ? b / a : NAN;
	squares = of_a.high * (2 * a - of_a.high);
	times = of_b.low * (2 * b - of_b.low);
	difference->interval.low = times > 0 ? times / (both + sqrt(fmax(both * both - squares * times, 0))) : 0;
	squares = of_a.low * (2 * a - of_a.low);
	times = of_b.high * (2 * b - of_b.high);
	if (squares > 0)
		difference->interval.high = (both + sqrt(fmax(both * both - squares * times, 0))) / squares;
}

/*
 * The probability that the side with less merely missed what the other side's sample hit. The variances don't show
 * that, because they only cover what was hit.
 */
static double p_passed_by(double difference, double unseen)
{
	return unseen > 0 ? fmin(2 * exp(-fabs(difference) / unseen), 1) : 0;
}

struct tpa_difference tpa_difference_estimates(const struct tpa_estimated *a, const struct tpa_estimated *b)
{
	struct tpa_interval of_a = tpa_estimated_interval(a), of_b = tpa_estimated_interval(b);
	struct tpa_difference difference = nothing(TPA_DOUBT_NONE);
	double variance = a->variance + b->variance, change = b->value - a->value;

	ratio_of_estimates(a->value, of_a, b->value, of_b, &difference);
	difference.change.low = change - hypot(b->value - of_b.low, of_a.high - a->value);
	difference.change.high = change + hypot(of_b.high - b->value, a->value - of_a.low);
	difference.variances[0] = a->variance, difference.variances[1] = b->variance;
	if (variance + a->unseen + b->unseen > 0)
		difference.p = fmax(variance > 0 ? erfc(fabs(change) / sqrt(2 * variance)) : 0,
				    p_passed_by(change, change > 0 ? a->unseen : b->unseen));
	return difference;
}

struct tpa_difference tpa_difference_wider(const struct tpa_difference *runs, const struct tpa_difference *means)
{
	struct tpa_difference wider = *runs;

	bool endless = isnan(means->interval.high) || (!isnan(runs->interval.low) && isnan(runs->interval.high));

	/* fmin() and fmax() ignore NAN, which stands for unknown values. A ratio without an upper end keeps none. */
	wider.p = fmax(runs->p, means->p);
	wider.interval.low = fmin(runs->interval.low, means->interval.low);
	wider.interval.high = endless ? NAN : fmax(runs->interval.high, means->interval.high);
	wider.change.low = fmin(runs->change.low, means->change.low);
	wider.change.high = fmax(runs->change.high, means->change.high);
	return wider;
}
