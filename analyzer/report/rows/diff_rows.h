/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What several runs of two sides have of each stack, function, module or op: an amount a run, which is 0 in those that
 * have none. Memory grows with the rows, not with the runs.
 */
#ifndef TPROF_REPORT_ROWS_DIFF_ROWS_H
#define TPROF_REPORT_ROWS_DIFF_ROWS_H

#include "model/stats/difference.h"
#include "base/pairs.h"
#include "report/rows/named_stacks.h"

struct tpa_diff_amount {
	double value, variance; /* variance: of an estimate, else 0 */
	double count;		/* blocks, calls */
	double unseen;		/* of a sampled run: so much a hit stands for; else 0 */
};

/* Of a rate with its 95% interval. */
struct tpa_diff_amount tpa_diff_rate(double rate, double low, double high, double count);

/* Of one side. */
struct tpa_diff_side {
	struct tpa_moments runs; /* of the values */
	double variance, count;	 /* sums over the runs */
	double unseen;		 /* the largest of the runs */
	bool sampled;		 /* one of the runs was */
};

struct tpa_diff_row {
	uint32_t key;			/* a stack or a name of the named stacks, as the table has them */
	uint32_t own;			/* the name that the row is put down to */
	struct tpa_diff_amount current; /* of the run that is being added */
	struct tpa_diff_side side[2];
	/* After tpa_diff_rows_test(). */
	struct tpa_difference difference;
	double corrected; /* its p, for the number of rows; NAN: not tested */
	size_t more_runs; /* by tpa_more_runs() */
	bool wanted;	  /* by tpa_diff_rows_want() */
};

struct tpa_diff_rows {
	struct tpa_diff_row *list;
	size_t count, room;
	struct tpa_pairs index;
	size_t runs[2];
	double trials[2]; /* shares of so many independent samples; 0: amounts are no shares */
	bool small_too;	  /* all rows are tested */
	bool rates;	  /* normal, below 0 too: what a hit stands for is one error more of each */
	bool estimated;
	double unseen; /* of the run that is being added: what a hit stands for in rows that it does not have; 0: not sampled */
	double unseen_of[2]; /* the largest of a side's runs */
};

void tpa_diff_rows_free(struct tpa_diff_rows *rows);

/* To the run that is being added. */
void tpa_diff_rows_add(struct tpa_diff_rows *rows, uint32_t key, uint32_t own, const struct tpa_diff_amount *amount);

/* The row shall stay when tpa_diff_rows_keep_wanted() leaves out all others, after which none can be added. */
void tpa_diff_rows_want(struct tpa_diff_rows *rows, uint32_t key);
void tpa_diff_rows_keep_wanted(struct tpa_diff_rows *rows);

/* The run of that side (0: old, 1: new) is complete: its values times `scale` are one more of each row's. */
void tpa_diff_rows_end_run(struct tpa_diff_rows *rows, int side, double scale);

/*
 * After the last run: each row's difference, its p corrected for the number of rows (Holm). But for `small_too` those below a
 * thousandth of the larger side's sum are not tested: there may be a hundred thousand of them.
 */
void tpa_diff_rows_test(struct tpa_diff_rows *rows);

/* The mean of the side's runs. */
struct tpa_estimated tpa_diff_estimated(const struct tpa_diff_side *side);

/* By the runs, if there are `several` of a side, and by what the two estimates vary by, if there are not or they were sampled. */
struct tpa_difference tpa_diff_sides(const struct tpa_diff_side *a, const struct tpa_diff_side *b, bool several);

/* Of its sides' means. */
double tpa_diff_larger(const struct tpa_diff_row *row);

/* Does the row differ at all? */
bool tpa_diff_differs(const struct tpa_diff_row *row);

/* Rows that differ, by what changed most. An array of pointers, *count long, to be freed. */
const struct tpa_diff_row **tpa_diff_rows_sort(const struct tpa_diff_rows *rows, size_t *count);

#endif
