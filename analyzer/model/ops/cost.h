/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of recording in ticks, event by event. It is subtracted from the times of ops. See trace/chunk_cost.c. */
#ifndef TPROF_MODEL_OPS_COST_H
#define TPROF_MODEL_OPS_COST_H

#include "trace/trace.h"

/* The cost of recording in ticks. For hooked functions, the header has the cost of a call. */
struct tpa_cost {
	/* A hooked function's call: the cost between its begin and its end, and outside of these. */
	double op_inside, op_outside;
	double fold_inside, fold_outside; /* the same for a folded call that was timed */
	double fold_untimed;		  /* of a folded call that was not timed, in total */
	double work;			  /* what reporting its work adds to op_inside */
	/* The chunks: file offset of the first, bytes of each, and the cost of an event by the number of its chunk. */
	uint64_t first, size;
	size_t count;
	struct tpa_event_cost {
		double event, free;
	} * chunks;
};

/* The total cost of recording in ticks, without the calls of hooked functions. */
uint64_t tpa_cost_recording(const struct tpa_trace *trace);

/* Computes nothing for a trace without ops. */
void tpa_cost_init(struct tpa_cost *cost, const struct tpa_trace *trace);
void tpa_cost_free(struct tpa_cost *cost);

/* The cost in ticks of recording the event at a file offset. Not for the begin or end of a hooked function. */
static inline double tpa_cost_event(const struct tpa_cost *cost, uint64_t offset, bool is_free)
{
	uint64_t chunk = (offset - cost->first) / cost->size;

	if (chunk >= cost->count)
		return 0;
	return is_free ? cost->chunks[chunk].free : cost->chunks[chunk].event;
}

#endif
