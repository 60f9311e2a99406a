/* SPDX-License-Identifier: Apache-2.0 */
/* Times of two sides' ops, steps and whole runs: one run a side by its calls, several by their runs. */
#ifndef TPROF_REPORT_ROWS_DIFF_TIMES_H
#define TPROF_REPORT_ROWS_DIFF_TIMES_H

#include "model/stats/difference.h"
#include "model/result/result.h"

/* Of one side. */
struct tpa_times {
	struct tpa_moments runs;  /* a value a run: of the calls' middle half the mean of the logarithms */
	struct tpa_moments calls; /* a run */
	uint64_t total_ns;	  /* of all runs */
	struct tpa_histogram durations;
	struct tpa_batches batches; /* of the latest run */
};

struct tpa_diff_time {
	const char *name, *category; /* owned; category NULL: no op's */
	struct tpa_times side[2];
	struct tpa_difference difference, calls; /* after tpa_diff_times_test() */
	double later; /* that a new call takes longer than an old one, see model/stats/rank.h */
	double among; /* of one run a side: p of being one of the ops, see model/stats/peer_ratios.h; NAN: not tested, as of several */
	double corrected; /* difference.p, or `among` if that is larger, for the number of tests; NAN: not tested */
	size_t more_runs; /* by tpa_more_runs() */
};

struct tpa_diff_times {
	struct tpa_diff_time **list;
	size_t count, room;
	size_t runs[2];
};

void tpa_diff_times_free(struct tpa_diff_times *times);

/* The ops of one run, replayed with `batches`; its steps and its time. */
void tpa_diff_times_add(struct tpa_diff_times *times, int side, const struct tpa_run *run);

/* After the last run. */
void tpa_diff_times_test(struct tpa_diff_times *times);

/* An op of that name, of whichever category; of several, the one with the most time. NULL: there is none. */
const struct tpa_diff_time *tpa_diff_op(const struct tpa_diff_times *times, const char *name);

/* What is no op: the steps, the whole run. NULL: no run has any. */
#define TPA_DIFF_STEP "step"
#define TPA_DIFF_RUN "run"
const struct tpa_diff_time *tpa_diff_time(const struct tpa_diff_times *times, const char *what);

/*
 * What says how likely the difference is by chance alone, not corrected for many: of one run a side what its calls say, or what the
 * ops say, if that is less; of several what the runs say. NAN: nothing can be tested.
 */
double tpa_diff_time_p(const struct tpa_diff_time *time);

/* Of one run a side, without enough ops beside it: its calls may differ, and nothing tells the program from the machine. */
bool tpa_diff_time_is_one_run(const struct tpa_diff_time *time);

/*
 * "faster", "slower", "different" (by itself, but among so many ops it may be by chance), "as others" (different, but by as much
 * as the other ops), "noise", "too few runs", "one run", "too few" (calls), "drifts", "new", "gone".
 */
const char *tpa_diff_time_verdict(const struct tpa_diff_time *time);

#endif
