/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates for the whole run of ops whose calls were recorded in a part of the time (TPROF_EVENT_LEVEL). The spans in which they
 * were recorded are a sample of the run's time: an op has amounts x (calls, time) in spans that took d. The rate r = sum of x /
 * sum of d times the whole time T estimates its amount in T. The variance is that of the ratio estimator for a sample without
 * replacement: T^2 (1 - D / T) n / (n - 1) * sum of (x - r d)^2 / D^2, with D = sum of d over n spans (Cochran, "Sampling
 * Techniques", 1977, 6.3). It says how much the program's rate differs from span to span, so it takes two spans.
 *
 * An op keeps sums alone, so memory does not grow with the spans. A call counts in the span in which it ended, or in the last one
 * before that.
 */
#ifndef TPROF_MODEL_OPS_OP_SHARE_H
#define TPROF_MODEL_OPS_OP_SHARE_H

#include <stdbool.h>
#include <stdint.h>

enum { TPA_SHARE_CALLS, TPA_SHARE_TOTAL, TPA_SHARE_SELF, TPA_SHARES };

/* Sums of an op over the spans that have ended. */
struct tpa_op_share {
	double squares[TPA_SHARES], crossed[TPA_SHARES]; /* of x^2 and x d */
	uint64_t before[TPA_SHARES];			 /* the op's amounts when the last span ended */
	uint64_t outside; /* calls that began while calls were not recorded: it is recorded at all times */
};

/* The spans, and the sums of all ops that are not recorded at all times. */
struct tpa_op_spans {
	bool off;	     /* calls of hooked functions are not recorded now */
	uint64_t ticks;	     /* how long they were recorded since the last span began */
	uint64_t whole;	     /* ticks of all the time, recorded or not; 0: recording was not limited */
	uint64_t count;	     /* of spans that ended */
	double time, square; /* sums of d and d^2 */
	struct tpa_op_share all;
};

/* `half`: half of the 95% interval's width. NAN: unknown, there are less than two spans. */
struct tpa_whole {
	double value, half;
};

/* What an op did in the whole run, as an estimate; if it was recorded at all times, what was recorded. Times in ns. */
struct tpa_op_whole {
	bool limited; /* recording was limited; else the rest is 0 */
	struct tpa_whole amounts[TPA_SHARES];
};

/* Adds an amount of a span of so many ticks. */
void tpa_op_share_add(struct tpa_op_share *share, unsigned which, uint64_t amount, double ticks);

/* The estimate of an amount, of which `recorded` was recorded. */
struct tpa_whole tpa_op_share_whole(const struct tpa_op_spans *spans, const struct tpa_op_share *share, unsigned which,
				    double recorded);

/* Adds what another process did. */
void tpa_op_whole_add(struct tpa_op_whole *to, const struct tpa_op_whole *from);

#endif
