/* SPDX-License-Identifier: Apache-2.0 */
#include "model/student.h"

#include <math.h>

#define TERMS 300
#define ENOUGH 1e-14
#define TINY 1e-300

/* One step of Lentz's method: a continued fraction from its front. */
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

/* The regularised incomplete beta function; `y` is 1 - x, which may be known better. */
static double beta(double a, double b, double x, double y)
{
	double front;
	int sign;

	if (x <= 0 || y <= 0)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) + b * log(y));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, y) / b;
}

double tp_student_p(double t, double degrees)
{
	double square = t * t;

	if (isnan(t) || !(degrees > 0))
		return NAN;
	if (isinf(square))
		return 0;
	return beta(degrees / 2, 0.5, degrees / (degrees + square), square / (degrees + square));
}

double tp_student_t(double p, double degrees)
{
	double low = 0, high = 1;

	if (!(p > 0) || !(degrees > 0))
		return NAN;
	while (tp_student_p(high, degrees) > p && high < 1e12)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		double middle = (low + high) / 2;

		if (tp_student_p(middle, degrees) > p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}
