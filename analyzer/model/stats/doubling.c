/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stats/doubling.h"

#include <math.h>

#define JUMPS_MOST 24u /* more are growth that any test sees */
#define JUMPS_LEAST 3u
#define FACTOR_LEAST 1.2 /* tables that are enlarged by less jump often */
#define BEGINS 3.0	 /* that are tried */
#define FITTED 4.0	 /* times as probable, since a jump may lie anywhere */
#define TOLERANCE 0.15	 /* on the scale of logarithms, beside what the looks leave open */

struct jump {
	double early, late;   /* the looks before and behind it */
	double before, after; /* sizes */
};

struct jumps {
	struct jump list[JUMPS_MOST];
	size_t count;
};

/* False if there are too few, too many, or one falls. The first value is no jump. */
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

/* A place that is known to lie between two looks. */
struct begin {
	double early, late;
};

/* By how much the place of a jump is uncertain, on the scale of logarithms. */
static double width_of(const struct jump *jump, const struct begin *begin)
{
	return log((jump->late - begin->early) / (jump->early - begin->late)) / 2;
}

static double since(const struct jump *jump, const struct begin *begin)
{
	return place_of(jump) - (begin->early + begin->late) / 2;
}

/* Does the second of two jumps come when the first says? *p: the probability of that; 1: the looks tell nothing. */
static bool is_in_time(const struct jump *first, const struct jump *second, const struct begin *begin, double *p)
{
	double due = log(second->before / first->before), gap, wide;

	if (!(first->early > begin->late)) {
		*p = 1; /* the first look lies behind it: it may have been anywhere before */
		return true;
	}
	gap = log(since(second, begin) / since(first, begin));
	wide = TOLERANCE + width_of(first, begin) + width_of(second, begin);
	*p = exp(-fmax(0, due - wide) / due) - exp(-(due + wide) / due);
	return fabs(gap - due) <= wide;
}

/* All are in time for a table that was empty at `begin`. */
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

/* Where it was empty, if the first jump and the last came when they were due. */
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

/* What was in the table when it was full, by the place where it was full: of each jump that the looks place well. */
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
	if (!(doubling->low < doubling->high)) { /* it is not quite even */
		doubling->low = size / (1 + TOLERANCE);
		doubling->high = size * (1 + TOLERANCE);
	}
	doubling->rate = middle(doubling->low, size, doubling->high);
	doubling->factor = last->after / last->before;
	doubling->next = begin + (place_of(last) - begin) * doubling->factor;
	doubling->goes_on = end - begin <= (last->late - begin) * doubling->factor * (1 + TOLERANCE);
}

/* Where it was seen first. */
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
	if (jumps.count > JUMPS_LEAST) /* a jump is used up to find the begin */
		try_begin(&jumps, fit_begin(&jumps), FITTED * BEGINS, doubling);
	if (doubling->p >= 1)
		return false;
	measure(&jumps, x[n - 1], doubling);
	return true;
}
