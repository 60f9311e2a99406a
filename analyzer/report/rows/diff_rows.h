/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Amounts of two sides of one or more runs, by stack, function, module or op: one amount per row and run, 0 in runs
 * that lack the row. Memory grows with the number of rows, not of runs.
 */
#ifndef TPROF_REPORT_ROWS_DIFF_ROWS_H
#define TPROF_REPORT_ROWS_DIFF_ROWS_H

#include "model/stats/difference.h"
#include "base/pairs.h"
#include "report/rows/named_stacks.h"

struct tpa_diff_amount {
	double value, variance; /* variance: of an estimate; 0: exact */
	double count;		/* blocks, calls */
	double unseen;		/* in a sampled run, what one hit stands for; else 0 */
};

/* An amount from a rate and its 95% interval, [low, high]. */
struct tpa_diff_amount tpa_diff_rate(double rate, double low, double high, double count);

/* One side of a row. */
struct tpa_diff_side {
	struct tpa_moments runs; /* one value per run */
	double variance, count;	 /* sums over the runs */
	double unseen;		 /* the largest of any run */
	bool sampled;		 /* a run of the side was sampled */
};

struct tpa_diff_row {
	uint32_t key;			/* number of a stack or a name in the named stacks, by table */
	uint32_t own;			/* number of the name that the row is put down to */
	struct tpa_diff_amount current; /* the amount in the run that is being added */
	struct tpa_diff_side side[2];
	/* Valid after tpa_diff_rows_test(). */
	struct tpa_difference difference;
	double corrected; /* difference.p corrected for the number of rows; NAN: not tested */
	size_t more_runs; /* see tpa_more_runs() */
	bool wanted;	  /* see tpa_diff_rows_want() */
};

struct tpa_diff_rows {
	struct tpa_diff_row *list;
	size_t count, room;
	struct tpa_pairs index;
	size_t runs[2];
	double trials[2]; /* by side: number of independent samples behind the shares; 0: amounts are no shares */
	bool small_too;	  /* test small rows too */
	bool rates; /* amounts are rates: normal and maybe negative; `unseen` is one more standard error of each */
	bool estimated;
	double unseen; /* in the run being added: what a hit stands for in rows that the run lacks; 0: not sampled */
	double unseen_of[2]; /* by side: the largest of its runs */
};

void tpa_diff_rows_free(struct tpa_diff_rows *rows);

/* Adds an amount to a row of the run that is being added. The row is created if it is new. */
void tpa_diff_rows_add(struct tpa_diff_rows *rows, uint32_t key, uint32_t own, const struct tpa_diff_amount *amount);

/*
 * Marks a row that tpa_diff_rows_keep_wanted() keeps; that function removes all others. No row can be added after it.
 */
void tpa_diff_rows_want(struct tpa_diff_rows *rows, uint32_t key);
void tpa_diff_rows_keep_wanted(struct tpa_diff_rows *rows);

/*
 * Ends the run that is being added, on side 0 (old) or 1 (new): adds its amounts times `scale` as one more value of
 * each row.
 */
void tpa_diff_rows_end_run(struct tpa_diff_rows *rows, int side, double scale);

/*
 * Tests the difference of each row, and corrects p for the number of rows (Holm). Call it after the last run. Without
 * `small_too`, rows below a thousandth of the larger side's sum are not tested: there may be a hundred thousand of
 * them.
 */
void tpa_diff_rows_test(struct tpa_diff_rows *rows);

/* The mean of the side's runs as an estimate. */
struct tpa_estimated tpa_diff_estimated(const struct tpa_diff_side *side);

/*
 * Compares two sides. `several`: a side has several runs. Then the spread of the runs decides, and for sampled runs
 * also the variances of the estimates, whichever is wider. Otherwise the variances alone decide.
 */
struct tpa_difference tpa_diff_sides(const struct tpa_diff_side *a, const struct tpa_diff_side *b, bool several);

/* The larger of the absolute means of the two sides. */
double tpa_diff_larger(const struct tpa_diff_row *row);

/* Does the row differ at all, in value or count? */
bool tpa_diff_differs(const struct tpa_diff_row *row);

/*
 * Lists the rows that differ, largest absolute change first. The caller frees the array, of *count pointers into
 * `rows`.
 */
const struct tpa_diff_row **tpa_diff_rows_sort(const struct tpa_diff_rows *rows, size_t *count);

#endif
