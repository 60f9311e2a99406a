/* SPDX-License-Identifier: Apache-2.0 */
/* What the search for pointers to blocks found, and why there was none. */
#ifndef TPROF_REPORT_ROWS_REACH_ROWS_H
#define TPROF_REPORT_ROWS_REACH_ROWS_H

#include "report/rows/view.h"

#define TPA_REACH_KINDS 4

struct tpa_reach_kind {
	const char *words, *key;
	enum tprof_reach reach;
	bool listed; /* in text: what can be reached is no leak, and what a lost block leads to goes with it */
};
extern const struct tpa_reach_kind tpa_reach_kinds[TPA_REACH_KINDS];

struct tpa_reach_found {
	const struct tpa_reach_sum **list;
	size_t count;
	uint64_t bytes, blocks;
};

/* What the latest search found of a kind, the largest first. The caller frees the list. */
struct tpa_reach_found tpa_reach_find(const struct tpa_growth_view *view, enum tprof_reach reach);

/* When the latest search was; 0: never. */
uint64_t tpa_reach_latest(const struct tpa_trace *trace);

/* Threads that waited in a call that was not hooked: their registers are not known. */
uint32_t tpa_reach_unknown_waiting(const struct tpa_trace *trace);

/* Words in registers that calls keep, of threads that were not stopped: what could be held there and nowhere else. */
uint64_t tpa_reach_unseen_registers(const struct tpa_trace *trace);

/* Why there is no result of the search at the end. "": there is one, or none was asked for. */
void tpa_reach_say_unsearched(const struct tpa_trace *trace, char *text, size_t size);

/* In the words of JSON: "due", "done", ... */
const char *tpa_reach_state(const struct tpa_trace *trace);

#endif
