/* SPDX-License-Identifier: Apache-2.0 */
#include "model/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/stats.h"
#include "model/student.h"

#define RISES 3u   /* that make more than a jump or two */
#define FLOORS 16u /* blocks, of whose minima the coarse series is made */

/* The first tenth, and the first step in any case, is the program's own warm-up. */
static size_t skip_of(size_t n)
{
	return n / 10 ? n / 10 : 1;
}

/* ---- the test ---- */

/* log of exp(-l s) * product of cosh(l d) */
static double log_bound(const double *d, size_t n, double s, double l)
{
	double sum = -l * s;

	for (size_t i = 0; i < n; i++) {
		double a = fabs(l * d[i]);

		sum += a + log1p(exp(-2 * a)) - M_LN2; /* log cosh, without overflow */
	}
	return sum;
}

/*
 * The l for which it is least: a zero of its derivative, which is concave, so that Newton's steps from 0 come nearer from
 * one side. Any l gives a bound: a few steps are enough.
 */
static double best_l(const double *d, size_t n, double s)
{
	double l = 0;

	for (int step = 0; step < 12; step++) {
		double slope = -s, curve = 0;

		for (size_t i = 0; i < n; i++) {
			double t = tanh(l * d[i]);

			slope += d[i] * t;
			curve += d[i] * d[i] * (1 - t * t);
		}
		if (!(curve > 0) || slope >= -1e-6 * s)
			break;
		l -= slope / curve;
	}
	return l;
}

/* The bound for differences d. */
static double sign_flip(const double *d, size_t n)
{
	size_t rises = 0, falls = 0;
	double s = 0, best;

	for (size_t i = 0; i < n; i++) {
		s += d[i];
		rises += d[i] > 0;
		falls += d[i] < 0;
	}
	if (!(s > 0))
		return 1;
	if (!falls)
		return ldexp(1, -(int)rises);
	best = log_bound(d, n, s, best_l(d, n, s));
	return best < 0 ? exp(best) : 1;
}

static double test_values(const double *y, size_t n)
{
	double d[TP_TREND_MAX];

	for (size_t i = 1; i < n; i++)
		d[i - 1] = y[i] - y[i - 1];
	return sign_flip(d, n - 1);
}

/* The same of the minima of blocks: a leak raises the floor, whatever stands on it. */
static double test_floors(const double *y, size_t n)
{
	double floors[FLOORS];

	for (size_t block = 0; block < FLOORS; block++) {
		size_t from = block * n / FLOORS, to = (block + 1) * n / FLOORS;

		floors[block] = y[from];
		for (size_t i = from + 1; i < to; i++)
			floors[block] = fmin(floors[block], y[i]);
	}
	return test_values(floors, FLOORS);
}

/* ---- does it go on? ---- */

struct line {
	double slope, variance;
};

/* Least squares through a part, and the slope's variance as that of a random walk. */
static struct line fit(const double *x, const double *y, size_t n)
{
	double mx = 0, my = 0, xx = 0, xy = 0, walk = 0;
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
	for (size_t i = 1; i < n; i++) {
		double off = y[i] - y[i - 1] - line.slope * (x[i] - x[i - 1]);

		walk += off * off / (x[i] - x[i - 1]);
	}
	line.variance = n > 2 ? walk / (double)(n - 2) / (x[n - 1] - x[0]) : 0;
	return line;
}

enum { FIRST, LAST };

/* The first or the last of three thirds, which meet in a value. */
static struct line fit_third(const double *x, const double *y, size_t n, size_t which)
{
	size_t third = n / 3, from = which == LAST ? n - third - 1 : 0;

	return fit(x + from, y + from, third + 1);
}

/* The last third's rate is surely less than half the first third's. */
static bool is_surely_slower(const double *x, const double *y, size_t n)
{
	struct line first = fit_third(x, y, n, FIRST), last = fit_third(x, y, n, LAST);
	double slower = first.slope / 2 - last.slope;

	return slower > 0 && slower * slower >= 4 * (first.variance / 4 + last.variance);
}

/* Growth goes on if the last third grew, and not as that of caches, which fill ever more slowly. */
static bool goes_on(const double *x, const double *y, size_t n)
{
	if (fit_third(x, y, n, LAST).slope <= 0 || y[n - 1] <= y[n - n / 3 - 1])
		return false;
	return !is_surely_slower(x, y, n);
}

/* ---- does it fill? ---- */

/* Rates of decay that are tried: to a quarter over the whole, and on to e^-31. What slows down by less is not said to fill. */
#define DECAYS 10
#define FIRST_DECAY (2 * M_LN2)
#define DECAY_RATIO M_SQRT2
/* By how many variances of a difference the sum of squares falls for a better fit: as the squares of 2.6, 2, 1 and 3 errors. */
#define SURELY_SLOWER 7.0
#define MAYBE_SLOWER 2.0 /* of fewer than ENOUGH values, that is a doubt; of fewer than FEW, any better fit is */
#define ENOUGH 56u
#define FEW 48u
#define SURELY_BOTH 4.0
#define MAYBE_BOTH 1.0
#define SURELY_BOTH_BYTES 9.0

/* Weighted squares of the differences that each fit leaves. */
struct fits {
	double constant, decaying, both;
	double decay; /* the best one's */
};

static double decay_of(const double *x, size_t n, int number)
{
	return FIRST_DECAY * pow(DECAY_RATIO, number) / (x[n - 1] - x[0]);
}

/* What a rate of exp(-decay * x) adds from i to i + 1. */
static double decayed(const double *x, size_t i, double decay)
{
	return exp(-decay * (x[i] - x[0])) * -expm1(-decay * (x[i + 1] - x[i])) / decay;
}

/* Longer intervals vary by more: a difference's weight is one by its interval's length. No part of a rate is below 0. */
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

/* Is the better fit so much better? What a fit to the last bit leaves is rounding. */
static bool gains(double worse, double better, const struct fits *fits, size_t n, double variances)
{
	double left = fmax(fits->both / (double)(n - 4), 1e-12 * fits->constant);

	return worse - better > variances * left;
}

/* Few values don't tell a rate that decays from a constant one: does it fit better, by whatever? */
static bool may_be_slower(const struct fits *fits, size_t n)
{
	return n < ENOUGH && gains(fits->constant, fits->decaying, fits, n, n < FEW ? 0 : MAYBE_SLOWER);
}

enum tp_course tp_trend_course(const double *x, const double *bytes, const double *blocks, size_t n)
{
	size_t skip = skip_of(n);
	struct fits fits, of_bytes;
	bool surely;

	x += skip, bytes += skip, blocks += skip, n -= skip;
	fits = fit_rates(x, blocks, n);
	surely = gains(fits.constant, fits.decaying, &fits, n, SURELY_SLOWER) || is_surely_slower(x, blocks, n);
	if (!surely && !may_be_slower(&fits, n))
		return TP_COURSE_STEADY;
	of_bytes = fit_one(x, bytes, n, fits.decay);
	if (gains(fits.decaying, fits.both, &fits, n, SURELY_BOTH) ||
	    gains(of_bytes.decaying, of_bytes.both, &of_bytes, n, SURELY_BOTH_BYTES))
		return TP_COURSE_STEADY;
	return !surely || gains(fits.decaying, fits.both, &fits, n, MAYBE_BOTH) ? TP_COURSE_SLOWS : TP_COURSE_FILLS;
}

void tp_trend_test(const double *x, const double *y, size_t n, struct tp_trend *trend)
{
	size_t skip = skip_of(n);

	memset(trend, 0, sizeof(*trend));
	trend->p = 1;
	x += skip;
	y += skip;
	n -= skip;
	for (size_t i = 1; i < n; i++)
		trend->varies = trend->varies || y[i] != y[0];
	if (!trend->varies)
		return;
	trend->p = test_values(y, n);
	if (n >= 3 * FLOORS) { /* two tests: Bonferroni */
		double floors = test_floors(y, n);

		trend->p = fmin(1, 2 * fmin(trend->p, floors));
	}
	trend->ongoing = goes_on(x, y, n);
}

bool tp_trend_can_tell(size_t n, size_t looked)
{
	size_t rises = n - skip_of(n) - 1;
	double least = ldexp(n - skip_of(n) >= 3 * FLOORS ? 2 : 1, -(int)rises);

	return looked == 0 || least <= TP_TREND_LEVEL / (double)looked;
}

size_t tp_trend_holm(const double *sorted, size_t count, size_t looked)
{
	size_t i = 0;

	while (i < count && sorted[i] <= TP_TREND_LEVEL / (double)(looked - i))
		i++;
	return i;
}

/* ---- measures ---- */

/* Sum of squares that a fit of a + b * max(0, x - x[knee]) leaves. */
static double hinge(const double *x, const double *y, size_t n, size_t knee)
{
	double mh = 0, my = 0, hh = 0, hy = 0, yy = 0;

	for (size_t i = 0; i < n; i++) {
		mh += fmax(0, x[i] - x[knee]) / (double)n;
		my += y[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		double h = fmax(0, x[i] - x[knee]) - mh;

		hh += h * h;
		hy += h * (y[i] - my);
		yy += (y[i] - my) * (y[i] - my);
	}
	return hh > 0 ? yy - hy * hy / hh : yy;
}

/* A later onset must be clearly better: by a thousandth of what there is to explain. */
static size_t find_onset(const double *x, const double *y, size_t n)
{
	double best = hinge(x, y, n, 0), all = hinge(x, y, n, n - 1);
	size_t onset = 0;

	for (size_t knee = 1; knee + TP_TREND_LEAST / 2 < n; knee++) {
		double rest = hinge(x, y, n, knee);

		if (rest < best - all / 1000) {
			best = rest;
			onset = knee;
		}
	}
	return onset;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median_slope(const double *x, const double *y, size_t n)
{
	static double slopes[TP_TREND_MAX * (TP_TREND_MAX - 1) / 2];
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			slopes[count++] = (y[j] - y[i]) / (x[j] - x[i]);
	qsort(slopes, count, sizeof(*slopes), by_value);
	return (slopes[(count - 1) / 2] + slopes[count / 2]) / 2;
}

void tp_trend_slope(const double *x, const double *y, size_t count, struct tp_trend *trend)
{
	double walk = 0, half;

	trend->slope = median_slope(x, y, count);
	for (size_t i = 1; i < count; i++) {
		double off = y[i] - y[i - 1] - trend->slope * (x[i] - x[i - 1]);

		walk += off * off / (x[i] - x[i - 1]);
	}
	/* 1.2: of a random walk's drift, a line through all values is that much worse than one through the ends. */
	half = tp_student_t(0.05, (double)count - 2) * sqrt(1.2 * walk / (double)(count - 2) / (x[count - 1] - x[0]));
	half = fmax(half, fabs(trend->slope) * 1e-9);
	trend->low = trend->slope - half;
	trend->high = trend->slope + half;
}

void tp_trend_measure(const double *x, const double *y, size_t n, struct tp_trend *trend)
{
	trend->onset = find_onset(x, y, n);
	tp_trend_slope(x + trend->onset, y + trend->onset, n - trend->onset, trend);
}

/* ---- the verdict ---- */

struct shape {
	double low, high, rise, fall; /* rise, fall: mean of the differences that are positive, negative */
	size_t rises, falls;
	size_t resets; /* from the upper third down to the lower */
	size_t above;  /* values above the middle */
	double largest_rise, risen;
};

static struct shape shape_of(const double *y, size_t n)
{
	struct shape shape = { .low = y[0], .high = y[0] };
	bool up = false;

	for (size_t i = 1; i < n; i++) {
		double d = y[i] - y[i - 1];

		shape.low = fmin(shape.low, y[i]);
		shape.high = fmax(shape.high, y[i]);
		shape.rises += d > 0;
		shape.falls += d < 0;
		shape.risen += fmax(d, 0);
		shape.fall += fmax(-d, 0);
		shape.largest_rise = fmax(shape.largest_rise, d);
	}
	for (size_t i = 0; i < n; i++) {
		double height = (y[i] - shape.low) / (shape.high - shape.low);

		shape.above += height > 0.5;
		if (height > 2.0 / 3)
			up = true;
		if (height < 1.0 / 3) {
			shape.resets += up;
			up = false;
		}
	}
	shape.rise = shape.rises ? shape.risen / (double)shape.rises : 0;
	shape.fall = shape.falls ? shape.fall / (double)shape.falls : 0;
	return shape;
}

static bool stopped(const double *y, size_t n)
{
	for (size_t i = n - n / 3; i < n; i++)
		if (y[i] > y[n - n / 3 - 1])
			return false;
	return y[n - 1] > y[0];
}

enum tp_verdict tp_trend_verdict(const double *y, size_t n, const struct tp_trend *trend, bool significant)
{
	size_t skip = skip_of(n);
	struct shape shape;

	if (significant)
		return !trend->ongoing || trend->course == TP_COURSE_FILLS ? TP_VERDICT_WARM_UP
		       : trend->course == TP_COURSE_SLOWS		   ? TP_VERDICT_RISING
									   : TP_VERDICT_LEAK;
	if (!trend->varies)
		return y[n - 1] > y[0] ? TP_VERDICT_WARM_UP : TP_VERDICT_STABLE;
	shape = shape_of(y + skip, n - skip);
	if (shape.resets >= 2 && shape.fall > 2 * shape.rise)
		return TP_VERDICT_SAWTOOTH;
	if (!shape.falls && stopped(y, n))
		return TP_VERDICT_WARM_UP;
	if (shape.resets <= 1 && (shape.above * 4 < n - skip || shape.largest_rise > 0.5 * shape.risen))
		return TP_VERDICT_BURST;
	if (shape.falls || shape.rises < RISES || !trend->ongoing || trend->course == TP_COURSE_FILLS)
		return TP_VERDICT_STABLE;
	return TP_VERDICT_RISING;
}
