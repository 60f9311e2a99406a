/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stats/doubling.h"

#include <math.h>

#define JUMPS_MOST 24u /* with more jumps, any trend test detects the growth */
#define JUMPS_LEAST 3u
#define FACTOR_LEAST 1.2 /* tables with a smaller factor have many jumps */
#define BEGINS 3.0	 /* number of begins that are tried */
#define FITTED 4.0	 /* a fitted begin is so many times as likely by chance, as a jump may lie anywhere */
#define TOLERANCE 0.15	 /* on the logarithmic scale, besides the uncertainty of the positions */

struct jump {
	double early, late;   /* positions of the observations before and after the jump */
	double before, after; /* table sizes */
};

struct jumps {
	struct jump list[JUMPS_MOST];
	size_t count;
};

/*
 * Returns false if there are too few or too many jumps, or if one is not a rise by FACTOR_LEAST. A rise from 0 is not a
 * jump.
 */
static bool find_jumps(const double *x, const double *y, size_t n, struct jumps *jumps)
{
	jumps->count = 0;
	for (size_t i = 1; i < n; i++) {
		if (y[i] == y[i - 1] || y[i - 1] == 0)
			continue;
		if (y[i] < FACTOR_LEAST * y[i - 1] || jumps->count == JUMPS_MOST)
			return false;
		jumps->list[jumps->count++] = (struct jump){ x[i - 1], x[i], y[i - 1], y[i] };
	}
	return jumps->count >= JUMPS_LEAST;
}

static double place_of(const struct jump *jump)
{
	return (jump->early + jump->late) / 2;
}

/* Where the table was empty: somewhere between two observations. */
struct begin {
	double early, late;
};

/* Half the uncertainty of the position of a jump, on the logarithmic scale. */
static double width_of(const struct jump *jump, const struct begin *begin)
{
	return log((jump->late - begin->early) / (jump->early - begin->late)) / 2;
}

static double since(const struct jump *jump, const struct begin *begin)
{
	return place_of(jump) - (begin->early + begin->late) / 2;
}

/*
 * Does the second jump come when the first one predicts it? Sets *p to the probability by chance; 1: there is no
 * prediction.
 */
static bool is_in_time(const struct jump *first, const struct jump *second, const struct begin *begin, double *p)
{
	double due = log(second->before / first->before), gap, wide;

	if (!(first->early > begin->late)) {
		*p = 1; /* it is unknown how far the first jump is from the begin */
		return true;
	}
	gap = log(since(second, begin) / since(first, begin));
	wide = TOLERANCE + width_of(first, begin) + width_of(second, begin);
	*p = exp(-fmax(0, due - wide) / due) - exp(-(due + wide) / due);
	return fabs(gap - due) <= wide;
}

/*
 * Returns the probability by chance that all jumps are in time for a table that was empty at `begin`; 1 if one is not
 * in time.
 */
static double test_jumps(const struct jumps *jumps, const struct begin *begin)
{
	double all = ldexp(1, -(int)jumps->count), p;

	for (size_t i = 1; i < jumps->count; i++) {
		if (!is_in_time(&jumps->list[i - 1], &jumps->list[i], begin, &p))
			return 1;
		all *= p;
	}
	return all;
}

/* Where the table was empty if the first and the last jump came exactly when they were due. */
static struct begin fit_begin(const struct jumps *jumps)
{
	const struct jump *first = &jumps->list[0], *last = &jumps->list[jumps->count - 1];
	double factor = last->before / first->before;
	double begin = (factor * place_of(first) - place_of(last)) / (factor - 1);

	return (struct begin){ begin, begin };
}

static double middle(double a, double b, double c)
{
	return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/*
 * Measures the rate: the contents of the full table divided by its distance from the begin, over all jumps whose
 * positions are known well enough.
 */
static void measure(const struct jumps *jumps, double end, struct tpa_doubling *doubling)
{
	const struct jump *last = &jumps->list[jumps->count - 1];
	double begin = doubling->begin, size = 0;

	doubling->low = 0;
	doubling->high = INFINITY;
	for (size_t i = 0; i < jumps->count; i++) {
		const struct jump *jump = &jumps->list[i];

		if (!(jump->early > begin) || jump->late - begin > 1.25 * (jump->early - begin))
			continue;
		doubling->low = fmax(doubling->low, jump->before / (jump->late - begin));
		doubling->high = fmin(doubling->high, jump->before / (jump->early - begin));
	}
	size = last->before / (place_of(last) - begin);
	if (!(doubling->low < doubling->high)) { /* the rate is not quite even */
		doubling->low = size / (1 + TOLERANCE);
		doubling->high = size * (1 + TOLERANCE);
	}
	doubling->rate = middle(doubling->low, size, doubling->high);
	doubling->factor = last->after / last->before;
	doubling->next = begin + (place_of(last) - begin) * doubling->factor;
	doubling->goes_on = end - begin <= (last->late - begin) * doubling->factor * (1 + TOLERANCE);
}

/* The interval in which the table was first seen. */
static struct begin first_seen(const double *x, const double *y, size_t n)
{
	size_t i = 0;

	while (i < n - 1 && y[i] == 0)
		i++;
	return (struct begin){ i ? x[i - 1] : 0, i ? x[i] : 0 };
}

static void try_begin(const struct jumps *jumps, struct begin begin, double tests, struct tpa_doubling *doubling)
{
	double p = begin.late < jumps->list[0].late ? tests * test_jumps(jumps, &begin) : 1;

	if (p >= doubling->p)
		return;
	doubling->p = p;
	doubling->begin = (begin.early + begin.late) / 2;
}

bool tpa_doubling_find(const double *x, const double *y, size_t n, struct tpa_doubling *doubling)
{
	struct jumps jumps;

	if (!find_jumps(x, y, n, &jumps))
		return false;
	*doubling = (struct tpa_doubling){ .jumps = jumps.count, .p = 1 };
	try_begin(&jumps, first_seen(x, y, n), BEGINS, doubling);
	try_begin(&jumps, (struct begin){ 0, 0 }, BEGINS, doubling);
	if (jumps.count > JUMPS_LEAST) /* fitting the begin uses up one jump */
		try_begin(&jumps, fit_begin(&jumps), FITTED * BEGINS, doubling);
	if (doubling->p >= 1)
		return false;
	measure(&jumps, x[n - 1], doubling);
	return true;
}
