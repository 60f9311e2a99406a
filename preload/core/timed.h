/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the events that are timed, to estimate what recording costs: one in 64 on average, at distances of 32 to 96.
 * A fixed distance would always hit the same half of events that strictly alternate, such as malloc and free.
 */
#ifndef TPROF_CORE_TIMED_H
#define TPROF_CORE_TIMED_H

#include "core/base.h"

#define TPC_TIMED_SHARE 64u /* mean distance */

/* Of a thread. */
struct tpc_timed {
	uint64_t next; /* number of the event that is to be timed; an event that is none of ours may have it */
	uint32_t seed;
};

/* Must tpc_timed_is() be called? */
static inline bool tpc_timed_due(const struct tpc_timed *timed, uint64_t event)
{
	return event >= timed->next;
}

/* Is that event to be timed? Events have ascending numbers; asked again about the same one, the answer is no. */
static inline bool tpc_timed_is(struct tpc_timed *timed, uint64_t event)
{
	bool is = event == timed->next;

	while (timed->next <= event) {
		timed->seed = timed->seed * 1664525 + 1013904223; /* Knuth, TAOCP 3.3.4, line 16 of table 1 */
		timed->next += TPC_TIMED_SHARE / 2 + (timed->seed >> 16) % (TPC_TIMED_SHARE + 1);
	}
	return is;
}

/*
 * Returns the new begin of an event's recording if the time from `from` to `to`, which is now, is not part of it; a
 * reader sees that by itself. Some of it may have been left out before, so an event never begins later than now.
 */
static inline uint64_t tpc_timed_leave_out(uint64_t began, uint64_t from, uint64_t to)
{
	if (to <= from)
		return began;
	began += to - from;
	return began < to ? began : to;
}

#endif
