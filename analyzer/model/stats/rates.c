/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stats/rates.h"

#include <math.h>

/* ---- does it go on? ---- */

double tpa_rates_walk(const double *x, const double *y, size_t n, double slope)
{
	double walk = 0;

	for (size_t i = 1; i < n; i++) {
		double off = y[i] - y[i - 1] - slope * (x[i] - x[i - 1]);

		walk += off * off / (x[i] - x[i - 1]);
	}
	return walk;
}

struct line {
	double slope, variance;
};

/* Fits a line by least squares. The variance of the slope is that of a random walk. */
static struct line fit(const double *x, const double *y, size_t n)
{
	double mx = 0, my = 0, xx = 0, xy = 0;
	struct line line;

	for (size_t i = 0; i < n; i++) {
		mx += x[i] / (double)n;
		my += y[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		xx += (x[i] - mx) * (x[i] - mx);
		xy += (x[i] - mx) * (y[i] - my);
	}
	line.slope = xx > 0 ? xy / xx : 0;
	line.variance = n > 2 ? tpa_rates_walk(x, y, n, line.slope) / (double)(n - 2) / (x[n - 1] - x[0]) : 0;
	return line;
}

enum { FIRST, LAST };

/* Fits a line to the first or the last of three thirds. Neighbouring thirds share a value. */
static struct line fit_third(const double *x, const double *y, size_t n, size_t which)
{
	size_t third = n / 3, from = which == LAST ? n - third - 1 : 0;

	return fit(x + from, y + from, third + 1);
}

/* Is the last third's rate surely less than half the first third's? */
static bool is_surely_slower(const double *x, const double *y, size_t n)
{
	struct line first = fit_third(x, y, n, FIRST), last = fit_third(x, y, n, LAST);
	double slower = first.slope / 2 - last.slope;

	/* The slope of a fit to a constant is only rounding error. */
	return slower * (x[n - 1] - x[0]) > 1e-9 * (fabs(y[0]) + fabs(y[n - 1])) &&
	       slower * slower >= 4 * (first.variance / 4 + last.variance);
}

bool tpa_rates_go_on(const double *x, const double *y, size_t n)
{
	if (fit_third(x, y, n, LAST).slope <= 0 || y[n - 1] <= y[n - n / 3 - 1])
		return false;
	return !is_surely_slower(x, y, n);
}

/* ---- does it fill? ---- */

/*
 * Decay rates that are tried: from a fall to a quarter over the whole series up to a fall to e^-31. A series that slows
 * down by less is not said to fill.
 */
#define DECAYS 10
#define FIRST_DECAY (2 * M_LN2)
#define DECAY_RATIO M_SQRT2
/*
 * A fit is better if its sum of squares is smaller by this many variances of a difference: the squares of 2.6, 1.4, 2,
 * 1 and 3 standard errors.
 */
#define SURELY_SLOWER 7.0
#define MAYBE_SLOWER 2.0 /* with fewer than ENOUGH values, a doubt; with fewer than FEW, any better fit is */
#define ENOUGH 56u
#define FEW 48u
#define SURELY_BOTH 4.0
#define MAYBE_BOTH 1.0
#define SURELY_BOTH_BYTES 9.0

/* Weighted sum of squared residuals of each fit. */
struct fits {
	double constant, decaying, both;
	double decay; /* of the best decaying fit */
};

static double decay_of(const double *x, size_t n, int number)
{
	return FIRST_DECAY * pow(DECAY_RATIO, number) / (x[n - 1] - x[0]);
}

/* The growth from i to i + 1 at a rate of exp(-decay * x). */
static double decayed(const double *x, size_t i, double decay)
{
	return exp(-decay * (x[i] - x[0])) * -expm1(-decay * (x[i + 1] - x[i])) / decay;
}

/*
 * Fits all three rates, for one decay. Longer intervals vary more, so each difference is weighted by 1 / length. No
 * part of a rate may be negative.
 */
static struct fits fit_one(const double *x, const double *y, size_t n, double decay)
{
	double all = 0, rise = y[n - 1] - y[0], span = x[n - 1] - x[0], dd = 0, d = 0, sum = 0, det, own, part;
	struct fits fits = { .decay = decay };

	for (size_t i = 0; i + 1 < n; i++) {
		double step = x[i + 1] - x[i], g = decayed(x, i, decay), by = y[i + 1] - y[i];

		all += by * by / step;
		dd += g * g / step;
		d += g * by / step;
		sum += g;
	}
	fits.constant = all - rise * rise / span;
	fits.decaying = d > 0 ? all - d * d / dd : all;
	det = dd * span - sum * sum;
	own = det > 0 ? (rise * dd - d * sum) / det : 0;
	part = det > 0 ? (d * span - rise * sum) / det : 0;
	fits.both = own > 0 && part > 0 ? all - part * d - own * rise : fmin(fits.constant, fits.decaying);
	return fits;
}

static struct fits fit_rates(const double *x, const double *y, size_t n)
{
	struct fits best = fit_one(x, y, n, decay_of(x, n, 0));

	for (int number = 1; number < DECAYS; number++) {
		struct fits fits = fit_one(x, y, n, decay_of(x, n, number));

		if (fits.decaying < best.decaying) {
			best.decaying = fits.decaying;
			best.decay = fits.decay;
		}
		best.both = fmin(best.both, fits.both);
	}
	return best;
}

/* Is the better fit better by that many variances? A perfect fit leaves only rounding errors, hence the lower bound. */
static bool gains(double worse, double better, const struct fits *fits, size_t n, double variances)
{
	double left = fmax(fits->both / (double)(n - 4), 1e-12 * fits->constant);

	return worse - better > variances * left;
}

/* Few values can't tell a decaying rate from a constant one, so a slightly better fit is enough. */
static bool may_be_slower(const struct fits *fits, size_t n)
{
	return n < ENOUGH && gains(fits->constant, fits->decaying, fits, n, n < FEW ? 0 : MAYBE_SLOWER);
}

enum tpa_course tpa_rates_course(const double *x, const double *bytes, const double *blocks, size_t n)
{
	struct fits fits = fit_rates(x, blocks, n), of_bytes;
	bool surely = gains(fits.constant, fits.decaying, &fits, n, SURELY_SLOWER) || is_surely_slower(x, blocks, n);

	if (!surely && !may_be_slower(&fits, n))
		return TPA_COURSE_STEADY;
	of_bytes = fit_one(x, bytes, n, fits.decay);
	if (gains(fits.decaying, fits.both, &fits, n, SURELY_BOTH) ||
	    gains(of_bytes.decaying, of_bytes.both, &of_bytes, n, SURELY_BOTH_BYTES))
		return TPA_COURSE_STEADY;
	return !surely || gains(fits.decaying, fits.both, &fits, n, MAYBE_BOTH) ? TPA_COURSE_SLOWS : TPA_COURSE_FILLS;
}

/* ---- does it stay? ---- */

#define REPLACED 0.0625 /* share of the growth that is gone by the end */

bool tpa_rates_are_replaced(const double *x, const double *blocks, const double *survivors, size_t n)
{
	size_t half = n / 2 + 1;
	double grown = fit(x, blocks, half).slope, stays = fit(x, survivors, half).slope;

	return grown > 0 && grown - stays > REPLACED * grown;
}
