/* SPDX-License-Identifier: Apache-2.0 */
/* Results of the search for pointers to live blocks, and why a search was not made. */
#ifndef TPROF_REPORT_ROWS_REACH_ROWS_H
#define TPROF_REPORT_ROWS_REACH_ROWS_H

#include "report/rows/view.h"

#define TPA_REACH_KINDS 4

struct tpa_reach_kind {
	const char *words, *key;
	enum tprof_reach reach;
	bool listed; /* in text reports. Reachable blocks are no leak; indirectly lost ones belong to a lost block */
};
extern const struct tpa_reach_kind tpa_reach_kinds[TPA_REACH_KINDS];

struct tpa_reach_found {
	const struct tpa_reach_sum **list;
	size_t count;
	uint64_t bytes, blocks;
};

/* The blocks of one kind that the latest search found and the view shows, most bytes first. The caller frees `list`. */
struct tpa_reach_found tpa_reach_find(const struct tpa_growth_view *view, enum tprof_reach reach);

/* Time of the latest search, in ticks; 0: there was none. */
uint64_t tpa_reach_latest(const struct tpa_trace *trace);

/* Number of threads that waited in a call that was not hooked: the search does not know their registers. */
uint32_t tpa_reach_unknown_waiting(const struct tpa_trace *trace);

/*
 * Number of words in call-preserved registers that the search could not read, because their threads ran or waited in a call that
 * was not hooked. A pointer that is only there was missed.
 */
uint64_t tpa_reach_unseen_registers(const struct tpa_trace *trace);

/* Sets `text` to why the search at the end has no result; "": it has one, or none was requested. */
void tpa_reach_say_unsearched(const struct tpa_trace *trace, char *text, size_t size);

/* State of the search at the end, as in JSON: "due", "done", ... */
const char *tpa_reach_state(const struct tpa_trace *trace);

#endif
