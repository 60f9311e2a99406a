/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stats/student.h"

#include <math.h>

#define TERMS 300
#define STEPS 1000
#define ENOUGH 1e-14
#define TINY 1e-300

/* State of Lentz's method, which evaluates a continued fraction from its front. */
struct fraction {
	double c, d, value;
};

static double step(struct fraction *f, double term)
{
	f->d = 1 + term * f->d;
	f->d = 1 / (fabs(f->d) < TINY ? TINY : f->d);
	f->c = 1 + term / f->c;
	f->c = fabs(f->c) < TINY ? TINY : f->c;
	f->value *= f->c * f->d;
	return f->c * f->d;
}

/* The incomplete beta function's continued fraction (Abramowitz and Stegun 26.5.8), for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	struct fraction f = { 1, 1 - (a + b) * x / (a + 1), 0 };

	f.d = 1 / (fabs(f.d) < TINY ? TINY : f.d);
	f.value = f.d;
	for (int m = 1; m < TERMS; m++) {
		double k = m;

		step(&f, k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k)));
		if (fabs(step(&f, -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))) - 1) < ENOUGH)
			break;
	}
	return f.value;
}

/*
 * log(gamma(a + 1/2) / gamma(a)). Uses the series for large a, where the difference of two logarithms would be rounding
 * error.
 */
static double log_half_step(double a)
{
	int sign;

	if (a > 1e4)
		return log(a) / 2 - 1 / (8 * a) + 1 / (192 * a * a * a);
	return lgamma_r(a + 0.5, &sign) - lgamma_r(a, &sign);
}

/* The regularised incomplete beta function of (a, 1/2). `y`: 1 - x, which the caller may know more precisely. */
static double beta_half(double a, double x, double y)
{
	double front;

	if (x <= 0 || y <= 0)
		return x <= 0 ? 0 : 1;
	front = exp(log_half_step(a) + a * (y < 0.5 ? log1p(-y) : log(x))) * sqrt(y / M_PI);
	if (x < (a + 1) / (a + 2.5))
		return front * beta_fraction(a, 0.5, x) / a;
	return 1 - front * beta_fraction(0.5, a, y) / 0.5;
}

double tpa_student_p(double t, double degrees)
{
	double square = t * t;

	if (isnan(t) || !(degrees > 0))
		return NAN;
	if (isinf(square))
		return 0;
	return beta_half(degrees / 2, degrees / (degrees + square), square / (degrees + square));
}

static double density(double t, double degrees)
{
	return exp(log_half_step(degrees / 2) - (degrees + 1) / 2 * log1p(t * t / degrees)) / sqrt(degrees * M_PI);
}

/* Newton's method from 0. p falls ever more slowly, so no step is too long. */
double tpa_student_t(double p, double degrees)
{
	double t = 0, more = 1;

	if (!(p > 0) || !(degrees > 0))
		return NAN;
	for (int i = 0; i < STEPS && more > 1e-12 * t; i++) {
		more = (tpa_student_p(t, degrees) - p) / (2 * density(t, degrees));
		t += more;
	}
	return t;
}
