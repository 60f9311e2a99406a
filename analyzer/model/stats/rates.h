/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests whether the growth of a series comes to an end. The series is known to have grown: y[0..n) at positions
 * x[0..n), which must rise. All values count, so the program's warm-up must not be among them (model/stats/trend.h).
 */
#ifndef TPROF_MODEL_STATS_RATES_H
#define TPROF_MODEL_STATS_RATES_H

#include <stdbool.h>
#include <stddef.h>

/* The course of a series that still grows at its end: does it stop by itself, like a cache that fills? */
enum tpa_course {
	TPA_COURSE_STEADY, /* nothing shows that it stops */
	TPA_COURSE_SLOWS,  /* it grows ever more slowly, but may also have a constant rate */
	TPA_COURSE_FILLS,  /* it grows ever more slowly, and nothing shows a constant rate */
};

/*
 * Does the growth go on? It does if the last third grew and is not surely slower than half the rate of the first third.
 * Caches slow down like that: they fill ever more slowly.
 */
bool tpa_rates_go_on(const double *x, const double *y, size_t n);

/*
 * Finds a cache that still fills, by its blocks. (The bytes of a cache that replaces entries of many sizes vary too
 * much to show that they rise ever more slowly.) The rate of filling decays exponentially. Three rates are fitted to
 * the differences of the blocks by least squares: a decaying one, a constant one, and the sum of both. If the decaying
 * rate fits surely better than the constant one, the series slows down (with few values: if it may fit better). If the
 * sum fits surely better than the decaying rate, the series also has a constant rate; the bytes are tested for that
 * too, because blocks may be enlarged. Needs more than four values; costs some thousand exponentials.
 */
enum tpa_course tpa_rates_course(const double *x, const double *bytes, const double *blocks, size_t n);

/*
 * Are the blocks that grew replaced all the time? survivors[i]: the blocks that were live at x[i] and are still live at
 * the end. In a leak, the blocks that are gone by the end are always the same few; in a cache that fills, their number
 * grows with the cache. Only the first half is used, because young blocks are live in any case. Returns false if the
 * number of blocks does not grow.
 */
bool tpa_rates_are_replaced(const double *x, const double *blocks, const double *survivors, size_t n);

/*
 * The sum over all intervals of (difference - slope * length)^2 / length. For a random walk with that drift, it is
 * about n - 1 times the variance per unit of x.
 */
double tpa_rates_walk(const double *x, const double *y, size_t n, double slope);

#endif
