/* SPDX-License-Identifier: Apache-2.0 */
/* Appends results to a trace that its program may still write to: whole table chunks, by the program's own protocol. */
#ifndef TPROF_TRACE_APPEND_H
#define TPROF_TRACE_APPEND_H

#include "trace/control.h"
#include "trace/trace.h"

/* Appends REACH records. False: they could not be written; errno says why. */
bool tpa_append_reach(struct tpa_control *control, const struct tpa_reach_sum *sums, size_t count);

/* The results of a search for what holds blocks. */
struct tpa_holders_result {
	struct tpa_holder_link *links;
	size_t link_count, link_room;
	struct tpa_held *held;
	size_t held_count, held_room;
	struct tpa_holders_search search;
};

/* Like tpa_append_reach(), for HOLDER, HELD and HOLDERS records. */
bool tpa_append_holders(struct tpa_control *control, const struct tpa_holders_result *result);

#endif
