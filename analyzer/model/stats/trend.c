/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stats/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/stats/stats.h"
#include "model/stats/student.h"

#define RISES 3u	/* more than a jump or two */
#define FLOORS 16u	/* blocks of values whose minima make the coarse series */
#define SHORT 64u	/* a run with fewer observations is short */
#define ACCELERATED 1.2 /* times the slope: a smaller increase is not called acceleration */
#define STILL 0.01	/* share of the growth: below it, a series has not begun to grow */
#define REMNANT 0.0625	/* share of the new blocks that may stay if they are replaced */
#define SURE_LEVEL (TPA_TREND_LEVEL / 5)

/* How many values belong to the program's own warm-up: the first tenth, and at least the first one. */
static size_t skip_of(size_t n)
{
	return n / 10 ? n / 10 : 1;
}

/* ---- the test ---- */

/* The logarithm of exp(-l s) * product of cosh(l d). */
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
 * The l that minimizes log_bound(). It is a zero of the derivative, which is concave, so Newton's steps from 0 approach
 * it from one side. Any l gives a bound, so a few steps are enough.
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

/* Bounds the p-value of the sum of the differences d. */
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
	double d[TPA_TREND_MAX];

	for (size_t i = 1; i < n; i++)
		d[i - 1] = y[i] - y[i - 1];
	return sign_flip(d, n - 1);
}

/* Are there enough values to test the floors too? */
static bool has_floors(size_t n)
{
	return n >= 3 * FLOORS;
}

/* The same test of the minima of blocks of values: a leak raises the floor, whatever comes and goes above it. */
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

void tpa_trend_test(const double *x, const double *y, size_t n, struct tpa_trend *trend)
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
	if (has_floors(n)) { /* two tests: Bonferroni */
		double floors = test_floors(y, n);

		trend->p = fmin(1, 2 * fmin(trend->p, floors));
	}
	trend->ongoing = tpa_rates_go_on(x, y, n);
}

/* The index of the last observation at which nothing had grown yet. */
static size_t start_of(const double *y, size_t n)
{
	size_t skip = skip_of(n), start = skip;
	double top = y[skip];

	for (size_t i = skip; i < n; i++)
		top = fmax(top, y[i]);
	for (size_t i = skip; i < n; i++)
		if (y[i] <= y[skip] + (top - y[skip]) * STILL)
			start = i;
	return start;
}

void tpa_trend_follow(const double *x, const double *bytes, const double *blocks, size_t n, struct tpa_trend *trend)
{
	size_t skip = skip_of(n), start = start_of(blocks[n - 1] > blocks[skip] ? blocks : bytes, n);

	if (n - start < TPA_TREND_LEAST)
		start = skip;
	trend->course = tpa_rates_course(x + start, bytes + start, blocks + start, n - start);
	if (start > skip)
		trend->ongoing = trend->ongoing && tpa_rates_go_on(x + start, bytes + start, n - start);
}

static bool fell(const double *y, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (y[i] < y[i - 1])
			return true;
	return false;
}

bool tpa_trend_is_doubtful(const double *x, const double *bytes, const double *blocks, const double *survivors,
			   size_t n, double p, size_t looked)
{
	size_t skip = skip_of(n);

	if (n >= SHORT)
		return false;
	if (p > SURE_LEVEL / (double)looked && fell(bytes + skip, n - skip))
		return true;
	return survivors && tpa_rates_are_replaced(x + skip, blocks + skip, survivors + skip, n - skip);
}

/*
 * Did a series of a single block or so begin at nothing? Extrapolates to one observation before the block was first
 * seen.
 */
static bool begins_at_nothing(const double *x, const double *y, size_t n)
{
	size_t first = 0;
	double rate, before;

	while (first < n - 1 && y[first] == 0)
		first++;
	rate = (y[n - 1] - y[first]) / (x[n - 1] - x[first]);
	before = y[first] - rate * (first ? x[first] - x[first - 1] : x[0]);
	return before <= 0.002 * y[n - 1] + fmin(256, 0.1 * y[n - 1]);
}

bool tpa_trend_is_replaced(const double *x, const double *bytes, const double *blocks, const double *survivors,
			   size_t n)
{
	size_t skip = skip_of(n), late = n - 2 - n / 32;
	double came = blocks[late] - blocks[skip], stayed = survivors[late] - survivors[skip];

	if (came >= 2)
		return stayed <= REMNANT * came;
	return stayed <= 0 && survivors[late] < blocks[late] && !begins_at_nothing(x, bytes, n);
}

bool tpa_trend_can_tell(size_t n, size_t looked)
{
	size_t values = n - skip_of(n);
	double least = ldexp(has_floors(values) ? 2 : 1, 1 - (int)values);

	return looked == 0 || least <= TPA_TREND_LEVEL / (double)looked;
}

size_t tpa_trend_holm(const double *sorted, size_t count, size_t looked)
{
	size_t i = 0;

	while (i < count && sorted[i] <= TPA_TREND_LEVEL / (double)(looked - i))
		i++;
	return i;
}

/* ---- measures ---- */

/* Residual sum of squares of the fit of a + b * max(0, x - x[knee]). */
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

/*
 * Finds the onset. A later one must fit clearly better: by a thousandth of the sum of squares that there is to explain.
 */
static size_t find_onset(const double *x, const double *y, size_t n)
{
	double best = hinge(x, y, n, 0), all = hinge(x, y, n, n - 1);
	size_t onset = 0;

	for (size_t knee = 1; knee + TPA_TREND_LEAST / 2 < n; knee++) {
		double rest = hinge(x, y, n, knee);

		if (rest < best - all / 1000) {
			best = rest;
			onset = knee;
		}
	}
	return onset;
}

static double median_slope(const double *x, const double *y, size_t n)
{
	static _Thread_local double slopes[TPA_TREND_MAX * (TPA_TREND_MAX - 1) / 2];
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			slopes[count++] = (y[j] - y[i]) / (x[j] - x[i]);
	return tpa_median(slopes, count);
}

/* Sets the interval of the slope. `times`: the variance of the slope relative to that of the line through the ends. */
static void walk_interval(const double *x, const double *y, size_t count, double times, struct tpa_trend *trend)
{
	double walk = tpa_rates_walk(x, y, count, trend->slope);
	double half = tpa_student_t(0.05, (double)count - 2) *
		      sqrt(times * walk / (double)(count - 2) / (x[count - 1] - x[0]));

	half = fmax(half, fabs(trend->slope) * 1e-9);
	trend->low = trend->slope - half;
	trend->high = trend->slope + half;
}

void tpa_trend_drift(const double *x, const double *y, size_t count, struct tpa_trend *trend)
{
	trend->slope = (y[count - 1] - y[0]) / (x[count - 1] - x[0]);
	walk_interval(x, y, count, 1, trend);
}

void tpa_trend_slope(const double *x, const double *y, size_t count, struct tpa_trend *trend)
{
	trend->slope = median_slope(x, y, count);
	/* As an estimate of a random walk's drift, a line through all values has 1.2 times the variance. */
	walk_interval(x, y, count, 1.2, trend);
}

void tpa_trend_measure(const double *x, const double *y, size_t n, struct tpa_trend *trend)
{
	trend->onset = find_onset(x, y, n);
	tpa_trend_slope(x + trend->onset, y + trend->onset, n - trend->onset, trend);
}

double tpa_trend_recent(const double *x, const double *y, size_t n, const struct tpa_trend *trend)
{
	size_t last = n / 4 + 1;
	struct tpa_trend recent = { 0 };

	if (n - trend->onset < 2 * last)
		return 0;
	tpa_trend_drift(x + n - last, y + n - last, last, &recent);
	return recent.low > ACCELERATED * fmax(trend->slope, 0) && recent.slope > 0 ? recent.slope : 0;
}

/* ---- the verdict ---- */

struct shape {
	double low, high, rise, fall; /* rise, fall: mean of the positive and of the negative differences */
	size_t rises, falls;
	size_t resets; /* falls from the upper third to the lower third */
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

enum tpa_verdict tpa_trend_verdict(const double *y, size_t n, const struct tpa_trend *trend, bool significant)
{
	size_t skip = skip_of(n);
	struct shape shape;

	if (significant)
		return trend->ongoing && trend->replaced		      ? TPA_VERDICT_WORK
		       : !trend->ongoing || trend->course == TPA_COURSE_FILLS ? TPA_VERDICT_WARM_UP
		       : trend->course == TPA_COURSE_SLOWS || trend->doubtful ? TPA_VERDICT_RISING
									      : TPA_VERDICT_LEAK;
	if (!trend->varies)
		return y[n - 1] > y[0] ? TPA_VERDICT_WARM_UP : TPA_VERDICT_STABLE;
	shape = shape_of(y + skip, n - skip);
	if (shape.resets >= 2 && shape.fall > 2 * shape.rise)
		return TPA_VERDICT_SAWTOOTH;
	if (!shape.falls && stopped(y, n))
		return TPA_VERDICT_WARM_UP;
	if (shape.resets <= 1 && (shape.above * 4 < n - skip || shape.largest_rise > 0.5 * shape.risen))
		return TPA_VERDICT_BURST;
	if (shape.falls || shape.rises < RISES || !trend->ongoing || trend->course == TPA_COURSE_FILLS ||
	    trend->doubtful || trend->replaced)
		return TPA_VERDICT_STABLE;
	return TPA_VERDICT_RISING;
}
