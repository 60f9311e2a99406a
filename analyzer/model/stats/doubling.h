/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a series the size of a table that is enlarged by a constant factor whenever it is full: a vector, a hash table, an array that
 * realloc doubles? If something is added at an even rate, its sizes grow in proportion to the places where it is enlarged, and each
 * of its few jumps comes when the one before says. Tests of trends see too few rises in it.
 *
 * Under the null hypothesis a jump could as well have been a fall, and the distances between jumps, on a scale of logarithms, are
 * those of a Poisson process. That all jumps rise and all come so nearly when they are due has then a probability that is the
 * product of those of the jumps.
 */
#ifndef TPROF_MODEL_STATS_DOUBLING_H
#define TPROF_MODEL_STATS_DOUBLING_H

#include <stdbool.h>
#include <stddef.h>

struct tpa_doubling {
	double p;
	size_t jumps;
	bool goes_on;		/* the next jump is not overdue */
	double begin;		/* place where the table was empty */
	double factor;		/* of the last jump */
	double next;		/* place where the next jump is due */
	double rate, low, high; /* of what is put into it, per unit of x */
};

/* Tests y[0..n) at places x[0..n), which rise. False if the series does not look like such a table. */
bool tpa_doubling_find(const double *x, const double *y, size_t n, struct tpa_doubling *doubling);

#endif
