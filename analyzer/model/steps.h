/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: what lies between two STEP events, of whichever threads. What comes before the first STEP is step 1, with the
 * program's start in it, so it is left out of mean, interval and percentiles. At most TP_STEP_MAX are kept in detail: when
 * there are more, neighbours are put together in pairs.
 */
#ifndef TPROF_MODEL_STEPS_H
#define TPROF_MODEL_STEPS_H

#include "model/histogram.h"
#include "model/run.h"

#define TP_STEP_MAX 4096u

struct tp_steps {
	struct tp_step *list;
	size_t count;
	uint64_t span;	/* steps that an element of the list stands for */
	uint64_t ended; /* steps, in all */
	uint64_t first_ns, items;
	uint64_t flop_seen, flop; /* by the ops' count; of all steps but the first */
	struct tp_moments later;
	struct tp_histogram durations;

	/* Of the step that goes on. */
	uint64_t begin_ns, begin_bytes;
	uint64_t high; /* the most that was live in it */
	uint64_t begin_flop;
};

void tp_steps_free(struct tp_steps *steps);

/* Steps count from here on. */
void tp_steps_start(struct tp_steps *steps, uint64_t time_ns, uint64_t live_bytes);

/* The FLOP of all ops up to now: the step that goes on has what came since its begin. */
static inline void tp_steps_flop(struct tp_steps *steps, uint64_t flop)
{
	steps->flop_seen = flop;
}

/* A step ends. False: no memory. */
bool tp_steps_end(struct tp_steps *steps, uint64_t time_ns, uint64_t live_bytes, uint64_t items);

/* What a block that is allocated now is counted by: the step's number, of which high ones are put together. */
uint64_t tp_steps_key(const struct tp_steps *steps);

/* How many steps such a key stands for: key, key + 1, and so on. */
uint64_t tp_step_key_span(uint64_t key);

/* The list is handed over. */
void tp_steps_result(struct tp_steps *steps, struct tp_step_stats *stats);

#endif
