/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rates at which a series grew that is known to have grown: do they come to an end? Of y[0..n) at places x[0..n), which
 * rise; all of them count: what is a program's warm-up is not among them (model/stats/trend.h).
 */
#ifndef TPROF_MODEL_STATS_RATES_H
#define TPROF_MODEL_STATS_RATES_H

#include <stdbool.h>
#include <stddef.h>

/* Of what grew and did in the end: does it stop by itself, as a cache does that fills? */
enum tp_course {
	TP_COURSE_STEADY, /* nothing says so */
	TP_COURSE_SLOWS,  /* it grows ever more slowly; it may have a rate of its own beside that */
	TP_COURSE_FILLS,  /* and nothing speaks for such a rate */
};

/* Growth goes on if the last third grew, and not as that of caches, which fill ever more slowly. */
bool tp_rates_go_on(const double *x, const double *y, size_t n);

/*
 * A cache that still fills, by its blocks: the bytes of one that replaces entries of many sizes jump too much to show that they
 * rise ever more slowly. What fills does so at a rate that decays exponentially. Such a rate is fitted to the differences of
 * the blocks, a constant one, and the sum of both, by least squares. If the decaying one is surely better than the constant
 * one, it slows down (of few values, if that may be); if the sum is surely better than the decaying one, for the bytes if not
 * for the blocks (blocks that are made larger), it has a rate of its own all the same. Wants more than four values; costs
 * some thousand exponentials.
 */
enum tp_course tp_rates_course(const double *x, const double *bytes, const double *blocks, size_t n);

/*
 * Is what grew replaced all the time? Blocks that lived at a look and live yet at the end are survivors: of what leaks those
 * that are gone are the same few at any time, of a cache that fills they grow with it. Over the first half, as what is young lives
 * yet in any case. False also where the blocks' number does not grow.
 */
bool tp_rates_are_replaced(const double *x, const double *blocks, const double *survivors, size_t n);

/* Of a random walk with that drift: the sum of its differences' squares, each by its interval's length. */
double tp_rates_walk(const double *x, const double *y, size_t n, double slope);

#endif
