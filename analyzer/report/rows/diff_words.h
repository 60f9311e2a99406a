/* SPDX-License-Identifier: Apache-2.0 */
/* What may be said of a difference, so that the word agrees with the interval that stands beside it. */
#ifndef TPROF_REPORT_ROWS_DIFF_WORDS_H
#define TPROF_REPORT_ROWS_DIFF_WORDS_H

#include "model/stats/difference.h"

#define TPA_DIFF_LEVEL 0.05
#define TPA_DIFF_MATTERS 0.05 /* a change of that share: fewer is not worth more runs */

enum tpa_diff_word {
	TPA_DIFF_SURE,	 /* also among all rows of its table */
	TPA_DIFF_LIKELY, /* by itself: the interval leaves out "no difference". Among many rows some do so by chance */
	TPA_DIFF_NONE,	 /* the interval holds "no difference", and nothing that matters */
	TPA_DIFF_FEW_RUNS, /* it holds both */
};

/* `corrected`: its p for the number of rows. `larger`: of the two values, where they are no logarithms. */
enum tpa_diff_word tpa_diff_word(const struct tpa_difference *difference, double corrected, double larger);

/* So large a difference more runs shall tell: that which was seen, or what matters. */
double tpa_diff_size(double seen, double larger);

#endif
