/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why ranks were late: what a late one did, since its last collective, for longer than the others' median.
 */
#ifndef TPROF_REPORT_ROWS_RANK_REASONS_H
#define TPROF_REPORT_ROWS_RANK_REASONS_H

#include "model/ranks/doings.h"
#include "model/result/result.h"
#include "report/rows/stack.h"

enum tpa_rank_why {
	TPA_WHY_UNKNOWN, /* it took no longer than the others: it began later, or events are missing */
	TPA_WHY_LINE,	 /* a line took CPU time */
	TPA_WHY_OP,
	TPA_WHY_NOT_RUNNING, /* its thread slept, waited or had no processor; `wait` is set if it is known to have waited */
};

/* "line", "op", "not-running", "unknown": as in JSON. */
const char *tpa_rank_why_name(enum tpa_rank_why why);

/* All `more` are differences from the others' median, of the time in the windows of struct tpa_doings. */
struct tpa_rank_reason {
	enum tpa_rank_why why;
	int64_t more_ns; /* in all */
	int64_t more_not_running_ns;
	double more_faults;
	const char *op; /* the one with the most more; NULL: none has */
	int64_t more_op_ns;
	struct tpa_line line; /* the user's line with the most more CPU time; location NULL: none has */
	int64_t more_line_ns;
	const char
		*wait; /* the function that may wait, from the user's line, with the most more time; NULL: none has */
	struct tpa_line wait_line;
	int64_t more_wait_ns;
	/* Of the longest wait: the user's lines that called the last collective, and the one to which it came late. */
	struct tpa_line from, to;
	struct tpa_line frame; /* the one to show: `line` or `wait_line`, else `to` */
};

/* A cause counts from that part of the delay on. */
#define TPA_RANK_REASON_LEAST 8

static inline bool tpa_rank_reason_waits(const struct tpa_rank_reason *reason)
{
	return reason->wait && reason->more_wait_ns > reason->more_ns / TPA_RANK_REASON_LEAST;
}

static inline bool tpa_rank_reason_has_line(const struct tpa_rank_reason *reason)
{
	return reason->line.location && reason->more_line_ns > reason->more_ns / TPA_RANK_REASON_LEAST;
}

struct tpa_rank_reasons {
	struct tpa_rank_reason *cases; /* by index in ranks->late */
	size_t case_count;
	struct tpa_rank_reason *ranks; /* by rank, all its cases together */
	struct tpa_arena *names;
};

/* `symbols`: of the run's processes, all open; lines live as long as they. tpa_rank.process must be the index in the run. */
struct tpa_rank_reasons *tpa_rank_reasons_find(const struct tpa_run *run, struct tpa_symbols *const *symbols,
					       const struct tpa_doings *doings);
void tpa_rank_reasons_free(struct tpa_rank_reasons *reasons);

#endif
