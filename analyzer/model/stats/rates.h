/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the growth of a series come to an end? The series is known to have grown: y[0..n) at places x[0..n), which rise.
 * All values count; the program's warm-up must not be among them (model/stats/trend.h).
 */
#ifndef TPROF_MODEL_STATS_RATES_H
#define TPROF_MODEL_STATS_RATES_H

#include <stdbool.h>
#include <stddef.h>

/* The course of a series that still grows at its end: does it stop by itself, like a cache that fills? */
enum tpa_course {
	TPA_COURSE_STEADY, /* nothing shows that it stops */
	TPA_COURSE_SLOWS,  /* it grows ever more slowly; it may also have a constant rate */
	TPA_COURSE_FILLS,  /* it grows ever more slowly, and nothing shows a constant rate */
};

/* Growth goes on if the last third grew, and did not slow down as caches do, which fill ever more slowly. */
bool tpa_rates_go_on(const double *x, const double *y, size_t n);

/*
 * Finds a cache that still fills, by its blocks. (The bytes of a cache that replaces entries of many sizes vary too
 * much to show that they rise ever more slowly.) The rate of filling decays exponentially. Three rates are fitted to
 * the differences of the blocks by least squares: a decaying one, a constant one, and the sum of both. If the decaying
 * one is surely better than the constant one, the series slows down (with few values: if it may be better). If the sum
 * is surely better than the decaying one, for the bytes if not for the blocks (blocks that are enlarged), it also has a
 * constant rate. Needs more than four values; costs some thousand exponentials.
 */
enum tpa_course tpa_rates_course(const double *x, const double *bytes, const double *blocks, size_t n);

/*
 * Are the blocks that grew replaced all the time? Survivors are blocks that were live at a look and are still live at
 * the end. In a leak the blocks that are gone are always the same few; in a cache that fills they grow with it. Only
 * the first half is used, because young blocks are live in any case. False also if the number of blocks does not grow.
 */
bool tpa_rates_are_replaced(const double *x, const double *blocks, const double *survivors, size_t n);

/*
 * For a random walk with this drift: the sum of the squared differences, each divided by the length of its interval.
 */
double tpa_rates_walk(const double *x, const double *y, size_t n, double slope);

#endif
