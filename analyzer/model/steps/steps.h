/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: the time between two STEP events, of whichever threads. The time before the first STEP is step 1, which
 * contains the program's start, so mean, interval and percentiles leave it out. At most TPA_STEP_MAX elements are kept:
 * when there are more, neighbouring steps are joined in pairs.
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
	uint64_t span;	/* steps per element of the list */
	uint64_t ended; /* number of steps so far */
	uint64_t first_ns, items;
	uint64_t flop, matrix_flop;						/* of all steps */
	uint64_t few_items[TPA_HISTOGRAM_EXACT], few_flop[TPA_HISTOGRAM_EXACT]; /* of the first steps */
	uint64_t few_matrix_flop[TPA_HISTOGRAM_EXACT];
	struct tpa_moments later;	/* durations of the steps after the first TPA_HISTOGRAM_EXACT + 1 */
	struct tpa_histogram durations; /* of all but the first */
	struct tpa_step_ops ops;
	uint64_t ends_ns[2]; /* when the two steps ended that the replay was asked for; 0: not yet */

	/* The current step. */
	uint64_t begin_ns, begin_bytes;
	uint64_t high; /* maximum of live bytes */
	uint64_t begin_flop, begin_matrix_flop;
};

void tpa_steps_free(struct tpa_steps *steps);

/* The moment when a step begins or ends. */
struct tpa_step_moment {
	uint64_t ns;
	uint64_t flop, matrix_flop; /* of all ops that ended up to now */
	struct tpa_step_totals totals;
};

/* Starts the first step; forgets what came before. */
void tpa_steps_start(struct tpa_steps *steps, const struct tpa_step_moment *moment);

/* Ends the current step, in which the program processed `items` items, and starts the next. */
void tpa_steps_end(struct tpa_steps *steps, const struct tpa_step_moment *moment, uint64_t items);

/*
 * The key by which a block that is allocated now is counted: the number of the current step. High numbers are rounded
 * down.
 */
uint64_t tpa_steps_key(const struct tpa_steps *steps);

/* The number of steps that share a key: key, key + 1, and so on. */
uint64_t tpa_step_key_span(uint64_t key);

/* The steps that a moment can belong to: several if neighbours were joined; {0, 0}: there are no steps. */
struct tpa_born tpa_steps_at(const struct tpa_step_stats *stats, uint64_t ns);

/* Saves the steps, or loads them into a struct that is all zero. */
void tpa_steps_archive(struct tpa_archive *archive, struct tpa_steps *steps);

/*
 * Moves the lists to *stats; free them with tpa_steps_result_free(). Converts durations to nanoseconds; the begin and
 * end of each step, in stats->list and stats->ends_ns, stay in ticks, for the caller to convert.
 */
void tpa_steps_result(struct tpa_steps *steps, double tick_ns, struct tpa_step_stats *stats);
void tpa_steps_result_free(struct tpa_step_stats *stats);

#endif
