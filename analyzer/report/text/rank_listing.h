/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what the ranks of a parallel job did to one another. */
#ifndef TPROF_REPORT_TEXT_RANK_LISTING_H
#define TPROF_REPORT_TEXT_RANK_LISTING_H

#include "report/rows/rank_view.h"
#include "report/text/text.h"

/* The whole report. `top`: rows of the tables; 0: all. */
void tpa_ranks_print(const struct tpa_page *page, const struct tpa_rank_view *view, uint64_t top);

/* The rank that made the others wait longest; TPA_RANK_NONE: none did so for more than a hundredth of the run. */
uint32_t tpa_ranks_late(const struct tpa_ranks *ranks);

/* A line for the first page: who made the others wait, how long, and why. */
void tpa_ranks_answer_print(const struct tpa_page *page, const struct tpa_rank_view *view);

#endif
