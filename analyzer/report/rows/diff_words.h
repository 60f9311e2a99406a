/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies a difference, so that the word agrees with the interval shown beside it. */
#ifndef TPROF_REPORT_ROWS_DIFF_WORDS_H
#define TPROF_REPORT_ROWS_DIFF_WORDS_H

#include "model/stats/difference.h"

#define TPA_DIFF_LEVEL 0.05
#define TPA_DIFF_MATTERS 0.05 /* a smaller relative change is not worth more runs */

enum tpa_diff_word {
	TPA_DIFF_SURE, /* significant, also after correction for all rows of the table */
	/* Significant alone: the interval excludes "no difference". Some of many rows do so by chance. */
	TPA_DIFF_LIKELY,
	TPA_DIFF_NONE,	   /* the interval has "no difference" in it, and no change that matters */
	TPA_DIFF_FEW_RUNS, /* the interval has both in it: more runs are needed */
};

/*
 * `corrected`: difference->p corrected for the number of rows. `larger`: the larger of the two values; NAN if they
 * are logarithms.
 */
enum tpa_diff_word tpa_diff_word(const struct tpa_difference *difference, double corrected, double larger);

/*
 * The size of difference that more runs should be able to detect: the one seen, or the smallest that matters if that
 * is larger.
 */
double tpa_diff_size(double seen, double larger);

#endif
