/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stats/effective.h"

#include <math.h>

#include "model/stats/student.h"

struct series {
	const double *values;
	size_t count;
	double mean;
};

/* Sum of the products of values that are `lag` apart. */
static double products(const struct series *series, size_t lag)
{
	double sum = 0;

	for (size_t i = lag; i < series->count; i++)
		sum += (series->values[i] - series->mean) * (series->values[i - lag] - series->mean);
	return sum;
}

#define FEW 64u /* with more values, the larger of the two estimates needs no correction for the variance of r */

/*
 * Estimates (1 + R) / (1 - R) of a process with correlation R. The sample correlation r is R - (1 + 4 R) / n on
 * average. This is solved for R, because the bias computed with r in place of R is too small if n is small. The true R
 * varies around that solution with a variance of about (1 - r^2) / n (Bartlett 1946), so this returns the mean over R,
 * to the second order.
 */
static double first_order(const struct series *series, double squares)
{
	double n = (double)series->count, r = products(series, 1) / squares, tau;

	r = n > 4 ? (n * r + 1) / (n - 4) : r + (1 + 4 * r) / n;
	r = r < 1 - 2 / n ? r : 1 - 2 / n;
	if (!(r > 0))
		return 1;
	tau = (1 + r) / (1 - r);
	return series->count <= FEW ? tau * (1 + 2 / (n * (1 - r))) : tau;
}

/*
 * Sums of neighbouring autocovariances fall and stay above zero; from where they don't, they are noise. Each is too
 * small by about tau / n, because the mean is that of the same values (Wolff 2004, "Monte Carlo errors with less
 * errors", equation 49).
 */
static double monotone_sequence(const struct series *series, double squares)
{
	double sum = 0, before = INFINITY;
	size_t lag;

	for (lag = 0; lag + 1 < series->count; lag += 2) {
		double pair = (products(series, lag) + products(series, lag + 1)) / squares;

		if (!(pair > 0))
			break;
		before = pair < before ? pair : before;
		sum += before;
	}
	return (2 * sum - 1) * (1 + (2 * (double)lag + 1) / (double)series->count);
}

struct tpa_effective tpa_effective_mean(const double *values, size_t count)
{
	struct series series = { values, count, 0 };
	struct tpa_effective effective = { (double)count, { NAN, NAN } };
	double squares, tau, half, variance;

	if (count < 2)
		return effective;
	for (size_t i = 0; i < count; i++)
		series.mean += values[i] / (double)count;
	squares = products(&series, 0);
	effective.interval = (struct tpa_interval){ series.mean, series.mean };
	if (!(squares > 0))
		return effective;
	tau = fmax(fmax(first_order(&series, squares), monotone_sequence(&series, squares)), 1);
	effective.count = fmax((double)count / tau, 2);
	/* Correct for the mean, which comes from the same values. */
	variance = squares / (double)count / (1 - 1 / effective.count);
	half = tpa_student_t(0.05, effective.count - 1) * sqrt(variance / effective.count);
	effective.interval.low -= half;
	effective.interval.high += half;
	return effective;
}
