/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the times of ops, steps and whole runs of two sides: one run a side by its calls, several by one value per
 * run.
 */
#ifndef TPROF_REPORT_ROWS_DIFF_TIMES_H
#define TPROF_REPORT_ROWS_DIFF_TIMES_H

#include "model/stats/difference.h"
#include "model/result/result.h"

/* Times of one side. */
struct tpa_times {
	struct tpa_moments runs;  /* one value per run: the mean log of ns over the middle half of its calls */
	struct tpa_moments calls; /* number of calls, per run */
	uint64_t total_ns;	  /* sum of all runs */
	struct tpa_histogram durations;
	struct tpa_batches batches; /* of the last run added */
};

struct tpa_diff_time {
	const char *name, *category; /* owned; category NULL: not an op */
	struct tpa_times side[2];
	struct tpa_difference difference, calls; /* valid after tpa_diff_times_test() */
	double later; /* probability that a new call takes longer than an old one, see model/stats/rank.h */
	/*
	 * p of the ratio among those of the other ops, see model/stats/peer_ratios.h; NAN: not tested, or several
	 * runs a side.
	 */
	double among;
	/* The larger of difference.p and `among`, corrected for the number of tests; NAN: not tested. */
	double corrected;
	size_t more_runs; /* see tpa_more_runs() */
};

struct tpa_diff_times {
	struct tpa_diff_time **list;
	size_t count, room;
	size_t runs[2];
};

void tpa_diff_times_free(struct tpa_diff_times *times);

/* Adds the ops, steps and duration of a run, which was replayed with `batches`, to side 0 (old) or 1 (new). */
void tpa_diff_times_add(struct tpa_diff_times *times, int side, const struct tpa_run *run);

/* Tests the differences. Call it after the last run. */
void tpa_diff_times_test(struct tpa_diff_times *times);

/* The op of that name, in any category; of several, the one with the most time. NULL: there is none. */
const struct tpa_diff_time *tpa_diff_op(const struct tpa_diff_times *times, const char *name);

/* Times that are not of an op: the steps and the whole run. NULL: no run has any. */
#define TPA_DIFF_STEP "step"
#define TPA_DIFF_RUN "run"
const struct tpa_diff_time *tpa_diff_time(const struct tpa_diff_times *times, const char *what);

/*
 * The p of no difference, not corrected for many tests. One run a side: by its calls or by comparison with the other
 * ops, whichever p is larger. Several runs: by the runs. NAN: not tested.
 */
double tpa_diff_time_p(const struct tpa_diff_time *time);

/*
 * Is there one run a side, and were there too few other ops to compare with? Then calls may differ, but nothing tells
 * a change of the program from one of the machine.
 */
bool tpa_diff_time_is_one_run(const struct tpa_diff_time *time);

/*
 * The verdict in words: "faster", "slower", "different" (significant alone, but not among so many ops), "as others"
 * (significant, but by as much as the other ops), "noise", "too few runs", "one run", "too few" (calls), "drifts",
 * "new", "gone".
 */
const char *tpa_diff_time_verdict(const struct tpa_diff_time *time);

#endif
