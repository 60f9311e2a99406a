/* SPDX-License-Identifier: Apache-2.0 */
/* What recording cost the program, event by event, so that it can be taken out of the times of ops. See trace/chunk_cost.c. */
#ifndef TPROF_MODEL_OPS_COST_H
#define TPROF_MODEL_OPS_COST_H

#include "trace/trace.h"

/* Ticks that recording took. Of hooked functions the collector says once what a call costs. */
struct tpa_cost {
	double op_inside, op_outside;	  /* of a hooked function's call: between its begin and its end, and around */
	double fold_inside, fold_outside; /* the same of a call that was folded */
	double fold_untimed;		  /* of one that was folded and not timed: in all */
	double work;			  /* what telling its work adds to op_inside */
	/* Of the chunks in the file: where the first begins, bytes of each, and what an event costs by the chunk's place. */
	uint64_t first, size;
	size_t count;
	struct tpa_event_cost {
		double event, free;
	} * chunks;
};

/* What recording cost in all, in ticks, but for hooked functions' calls. */
uint64_t tpa_cost_recording(const struct tpa_trace *trace);

/* Computes nothing for a trace without ops. */
void tpa_cost_init(struct tpa_cost *cost, const struct tpa_trace *trace);
void tpa_cost_free(struct tpa_cost *cost);

/* What recording the event at that place of the file cost, in ticks; not of a hooked function's begin or end. */
static inline double tpa_cost_event(const struct tpa_cost *cost, uint64_t offset, bool is_free)
{
	uint64_t chunk = (offset - cost->first) / cost->size;

	if (chunk >= cost->count)
		return 0;
	return is_free ? cost->chunks[chunk].free : cost->chunks[chunk].event;
}

#endif
