/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What recording cost the program, event by event, so that it can be taken out of the times of ops. The collector times
 * one event in 64, and says for each chunk what these took: so an event's cost is known where and when it happened (new
 * stacks cost ten times what known ones do). One timed event that was interrupted would spoil its chunk's mean: so the
 * median of neighbouring chunks is taken, and of a chunk whose mean is more than twice that of some of its events, without
 * those beyond TPA_COST_INTERRUPTED times their median, the latter. A free takes less than the others, which have a stack: how
 * much less is one number for the trace. Of hooked functions the collector says once what a call costs.
 */
#ifndef TPROF_MODEL_OPS_COST_H
#define TPROF_MODEL_OPS_COST_H

#include "trace/trace.h"

#define TPA_COST_NEIGHBOURS 5u /* chunks of which the median is taken */
#define TPA_COST_SAMPLES 8u    /* timed events that a chunk must have to be one of them */
#define TPA_COST_INTERRUPTED 32
#define TPA_COST_SHARE 64.0 /* one event in so many is timed (tprof-trace(5)) */

struct tpa_cost {
	double op_inside, op_outside; /* ticks of a hooked function's call: between its begin and its end, and around */
	double fold_inside, fold_outside; /* the same of a call that was folded */
	double fold_untimed;		  /* of one that was folded and not timed: in all */
	double work;			  /* what telling its work adds to op_inside */
	double usual;			  /* ticks of any other event but a free, over the whole trace */
	double frees;			  /* a free's part of that; also in a chunk */
	double *chunks;			  /* the same, by chunk; NULL: nothing was timed */
	uint64_t first, size;		  /* of chunks: where the first begins in the file, bytes of each */
	size_t count;
};

/* What recording cost in all, in ticks, but for hooked functions' calls. */
uint64_t tpa_cost_recording(const struct tpa_trace *trace);

/* Computes nothing for a trace without ops. */
void tpa_cost_init(struct tpa_cost *cost, const struct tpa_trace *trace);
void tpa_cost_free(struct tpa_cost *cost);

/* What recording the event at that place of the file cost, in ticks, if it is no free; not of a hooked function's begin or end. */
static inline double tpa_cost_event(const struct tpa_cost *cost, uint64_t offset)
{
	uint64_t chunk = cost->chunks ? (offset - cost->first) / cost->size : 0;

	return chunk < cost->count ? cost->chunks[chunk] : cost->usual;
}

#endif
