/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a process, as reports need them. */
#ifndef TPROF_MODEL_STEPS_STEP_STATS_H
#define TPROF_MODEL_STEPS_STEP_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/stats/stats.h"
#include "model/stats/series.h"

/* The first and the last step in which blocks can have been born, both inclusive; 0: there are no steps. */
struct tpa_born {
	uint64_t first, last;
};

/* One step or, in a long run, several neighbouring steps. */
struct tpa_step {
	uint64_t first, steps; /* number of the first one, counted from 1, and how many */
	uint64_t begin_ns, end_ns;
	uint64_t begin_bytes, end_bytes, high_bytes; /* live at the begin, at the end, and the most */
	uint64_t items;
	uint64_t flop; /* of the ops that ended in the step */
	uint64_t matrix_flop;
};

/* How the steps were found. */
enum tpa_step_source {
	TPA_STEPS_NONE,
	TPA_STEPS_MARKED,   /* by the program, or by TPROF_STEP */
	TPA_STEPS_AUTOGRAD, /* each ends with a backward pass: torch::autograd::Engine::execute */
	TPA_STEPS_PERIOD,   /* each ends with a call of one op of a sequence that repeats: model/steps/period.h */
};

/* Self time of an op, in all steps but the first. */
struct tpa_step_op {
	uint32_t op;
	uint64_t self_ns;
};

/* An op that took `ns` more in a slow step than in the average step. */
struct tpa_step_difference {
	uint32_t op;
	int64_t ns; /* 0: none */
};
#define TPA_STEP_DIFFERENCES 3u

/*
 * A step longer than the fence Q3 + 1.5 (Q3 - Q1), one of the slowest few. All signed fields are differences from the
 * average step.
 */
struct tpa_step_outlier {
	uint64_t step, ns;
	struct tpa_step_difference ops[TPA_STEP_DIFFERENCES]; /* the largest first */
	int64_t outside_ns;				      /* time outside of all ops, of any thread */
	int64_t allocations, allocated_bytes;
	int64_t live_bytes;  /* growth of live memory */
	int64_t cpu_periods; /* CPU time of all threads, by samples */
	/* The kernel's counts, if they were read near enough to the begin and the end of the step. */
	bool usage_known, own_known;
	int64_t minor_faults, major_faults, waits, preemptions;
	int64_t cpu_ns; /* of all threads */
	/* If own_known: waiting of the thread that ends the steps, and CPU time of all others. */
	int64_t waited_ns, others_cpu_ns;
};

/*
 * Percentiles, min and max cover all steps but the first, which began with the program. `durations` also leaves out the
 * warm-up: model/stats/warmup.h.
 */
struct tpa_step_stats {
	enum tpa_step_source source;
	uint32_t anchor;   /* autograd, period: the op whose call ends a step */
	double confidence; /* period: share of the calls of a step that the next step has too */
	double calls;	   /* period: calls of ops per step */
	uint64_t count, items, first_ns;
	uint64_t warmup, warmup_ns; /* warm-up steps, including the first */
	uint64_t rest_items, flop;  /* in the steps after the warm-up */
	uint64_t matrix_flop;	    /* part of `flop`: matrix products and the like */
	struct tpa_moments durations;
	struct tpa_interval interval; /* of their mean: model/stats/effective.h; NAN for fewer than two steps */
	double effective;	      /* number of independent steps with the same information */
	uint64_t min_ns, p50_ns, p99_ns, max_ns;
	uint64_t ends_ns[2]; /* when the two requested steps ended; 0: there was none */
	struct tpa_step *list;
	size_t list_count;
	struct tpa_step_op *ops; /* sorted by time */
	size_t op_count;
	uint64_t summed; /* number of steps that `ops` covers */
	double mean_cpu_periods;
	struct tpa_step_outlier *outliers; /* the slowest first */
	size_t outlier_count;
};

#endif
