/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: what lies between two STEP events, of whichever threads. What comes before the first STEP is step 1, with the
 * program's start in it, so it is left out of mean, interval and percentiles. At most TPA_STEP_MAX are kept in detail: when
 * there are more, neighbours are put together in pairs.
 *
 * Times are in ticks until tpa_steps_result(), as those of ops are.
 */
#ifndef TPROF_MODEL_STEPS_STEPS_H
#define TPROF_MODEL_STEPS_STEPS_H

#include "model/stats/histogram.h"
#include "model/steps/step_stats.h"
#include "model/steps/step_ops.h"

struct tpa_archive;

#define TPA_STEP_MAX 4096u

struct tpa_steps {
	struct tpa_step *list;
	size_t count;
	uint64_t span;	/* steps that an element of the list stands for */
	uint64_t ended; /* steps, in all */
	uint64_t first_ns, items;
	uint64_t flop, matrix_flop;						/* of all steps */
	uint64_t few_items[TPA_HISTOGRAM_EXACT], few_flop[TPA_HISTOGRAM_EXACT]; /* of the first steps */
	uint64_t few_matrix_flop[TPA_HISTOGRAM_EXACT];
	struct tpa_moments later;	/* durations of the steps behind the first TPA_HISTOGRAM_EXACT + 1 */
	struct tpa_histogram durations; /* of all but the first */
	struct tpa_step_ops ops;
	uint64_t ends_ns[2]; /* of the steps that the replay was asked for; 0: not yet */

	/* Of the step that goes on. */
	uint64_t begin_ns, begin_bytes;
	uint64_t high; /* the most that was live in it */
	uint64_t begin_flop, begin_matrix_flop;
};

void tpa_steps_free(struct tpa_steps *steps);

/* Where a step begins or ends. */
struct tpa_step_moment {
	uint64_t ns;
	uint64_t flop, matrix_flop; /* of all ops that ended up to now */
	struct tpa_step_totals totals;
};

/* Steps count from here on. */
void tpa_steps_start(struct tpa_steps *steps, const struct tpa_step_moment *moment);

/* A step ends. */
void tpa_steps_end(struct tpa_steps *steps, const struct tpa_step_moment *moment, uint64_t items);

/* What a block that is allocated now is counted by: the step's number, of which high ones are put together. */
uint64_t tpa_steps_key(const struct tpa_steps *steps);

/* How many steps such a key stands for: key, key + 1, and so on. */
uint64_t tpa_step_key_span(uint64_t key);

/* The steps that a moment can belong to: more than one where neighbours were put together; none: {0, 0}. */
struct tpa_born tpa_steps_at(const struct tpa_step_stats *stats, uint64_t ns);

/* Saves, or loads into steps that are all zero. */
void tpa_steps_archive(struct tpa_archive *archive, struct tpa_steps *steps);

/*
 * Moves the lists to *stats: tpa_steps_result_free(). Durations become nanoseconds; when each step begins and ends, in
 * stats->list and stats->ends_ns, remains in ticks.
 */
void tpa_steps_result(struct tpa_steps *steps, double tick_ns, struct tpa_step_stats *stats);
void tpa_steps_result_free(struct tpa_step_stats *stats);

#endif
