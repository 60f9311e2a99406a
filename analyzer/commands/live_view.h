/* SPDX-License-Identifier: Apache-2.0 */
/* What tprof live shows of a program that runs: pages of text, made by the functions that make the reports. */
#ifndef TPROF_COMMANDS_LIVE_VIEW_H
#define TPROF_COMMANDS_LIVE_VIEW_H

#include <jansson.h>

#include "commands/input/session.h"

enum tpa_view {
	TPA_VIEW_OVERVIEW,
	TPA_VIEW_LEAKS,
	TPA_VIEW_OPS,
	TPA_VIEW_THREADS,
	TPA_VIEW_MEMORY,
	TPA_VIEWS,		     /* those that have a key */
	TPA_VIEW_STACKS = TPA_VIEWS, /* of TPA_VIEW_MEMORY */
};

/* The name of a view, as the footer has it. */
const char *tpa_view_name(enum tpa_view view);

/* What the program did between the last two looks. */
struct tpa_live_rates {
	uint64_t span_ns;	   /* 0: there was only one look */
	double allocations, bytes; /* a second */
};

/* What a look needs of the one before. */
struct tpa_live_counts {
	uint64_t end_ns, allocations, bytes;
};

/* Returns the rates since `before`, and updates it. */
struct tpa_live_rates tpa_rates_since(struct tpa_live_counts *before, const struct tpa_process *process);

/* Prints a view of process 0 of the session's run, whose symbols must be open. `sort`: the key by which ops are sorted. */
void tpa_view_print(struct tpa_session *session, enum tpa_view view, const struct tpa_live_rates *rates,
		    const char *sort);

/* Prints the same in one line: time, memory, rates, step, the fastest leak. */
void tpa_view_line_print(struct tpa_session *session, const struct tpa_live_rates *rates);

/* The value of "live", a new reference. */
json_t *tpa_view_json(const struct tpa_process *process, const struct tpa_live_rates *rates);

#endif
