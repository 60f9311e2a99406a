/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects a table that is enlarged by a constant factor whenever it is full: a vector, a hash table, an array that
 * realloc doubles. If items are added at an even rate, the table's size grows in proportion to the positions of its
 * jumps, and each of its few jumps predicts the next. Trend tests see too few rises in such a series.
 *
 * Null hypothesis: each jump could as well have been a fall, and the distances between jumps, on a logarithmic scale,
 * are those of a Poisson process. The probability that all jumps rise, and come as close as they do to when they are
 * due, is then the product of the probabilities of the jumps.
 */
#ifndef TPROF_MODEL_STATS_DOUBLING_H
#define TPROF_MODEL_STATS_DOUBLING_H

#include <stdbool.h>
#include <stddef.h>

struct tpa_doubling {
	double p; /* corrected for the number of tests */
	size_t jumps;
	bool goes_on;		/* the next jump is not overdue */
	double begin;		/* where the table was empty */
	double factor;		/* by which the last jump enlarged the table */
	double next;		/* where the next jump is due */
	double rate, low, high; /* growth of the contents per unit of x, and its bounds */
};

/*
 * Tests the values y[0..n) at the positions x[0..n), which must rise. False if the series does not look like such a
 * table.
 */
bool tpa_doubling_find(const double *x, const double *y, size_t n, struct tpa_doubling *doubling);

#endif
