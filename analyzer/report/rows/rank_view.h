/* SPDX-License-Identifier: Apache-2.0 */
/* What reports on ranks are made from. */
#ifndef TPROF_REPORT_ROWS_RANK_VIEW_H
#define TPROF_REPORT_ROWS_RANK_VIEW_H

#include "report/rows/rank_reasons.h"
#include "report/rows/rank_steps.h"

struct tpa_rank_view {
	const struct tpa_run *run;
	const struct tpa_ranks *ranks; /* with at least one rank */
	const struct tpa_rank_reasons *reasons;
	struct tpa_rank_steps steps;
};

static inline const struct tpa_trace *tpa_rank_trace(const struct tpa_rank_view *view, uint32_t rank)
{
	return view->run->processes[view->ranks->list[rank].process].trace;
}

/* The rank that made the others wait longest; TPA_RANK_NONE: nobody waited. */
uint32_t tpa_rank_latest(const struct tpa_ranks *ranks);

/* The part of `caused_ns` that each of the other ranks waited, on average. */
uint64_t tpa_rank_each(const struct tpa_ranks *ranks, int64_t caused_ns);

/*
 * Says why in a few words, the largest cause first: "load_batch (loader.py:88)", "sleep at loader.py:88 (load_batch) for 1.33 s",
 * "not running between train.c:40 and train.c:47 (step)", "in aten::mm". Returns `text`, "" if it is not known.
 */
const char *tpa_rank_reason_text(const struct tpa_rank_view *view, uint32_t rank, const struct tpa_rank_reason *reason,
				 char *text, size_t size);

#endif
