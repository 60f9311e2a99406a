/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of a process's steps. */
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

/* One or, of a long run, several neighbouring steps. */
struct tpa_step {
	uint64_t first, steps; /* 1: the first step */
	uint64_t begin_ns, end_ns;
	uint64_t begin_bytes, end_bytes, high_bytes; /* live at its begin, at its end, and at most */
	uint64_t items;
	uint64_t flop; /* of the ops that ended in it */
	uint64_t matrix_flop;
};

/* How the steps are known. */
enum tpa_step_source {
	TPA_STEPS_NONE,
	TPA_STEPS_MARKED,   /* the program said so, or TPROF_STEP */
	TPA_STEPS_AUTOGRAD, /* each ends with a backward pass: torch::autograd::Engine::execute */
	TPA_STEPS_PERIOD, /* each ends with a call of the same op, around which the calls repeat: model/steps/period.h */
};

/* Time that an op took itself, in all steps but the first. */
struct tpa_step_op {
	uint32_t op;
	uint64_t self_ns;
};

/* What was different in a step that took long: the op took so much more than it does on average. */
struct tpa_step_difference {
	uint32_t op;
	int64_t ns; /* 0: none */
};
#define TPA_STEP_DIFFERENCES 3u

/* A step beyond the fence Q3 + 1.5 (Q3 - Q1): among the slowest few. Differences are against the average step's. */
struct tpa_step_outlier {
	uint64_t step, ns;
	struct tpa_step_difference ops[TPA_STEP_DIFFERENCES]; /* the largest first */
	int64_t outside_ns;				      /* outside of every op, of any thread */
	int64_t allocations, allocated_bytes;
	int64_t live_bytes;  /* by which live memory grew */
	int64_t cpu_periods; /* CPU time of all threads, by samples */
	/* By the kernel's counts, where they were read near enough to its begin and end. */
	bool usage_known, own_known;
	int64_t minor_faults, major_faults, waits, preemptions;
	int64_t cpu_ns;			  /* of all threads */
	int64_t waited_ns, others_cpu_ns; /* own_known: of the thread that ends the steps, and of all others */
};

/*
 * Percentiles, min and max are of all steps but the first: that one began with the program. `durations` leaves out the
 * warm-up too: model/stats/warmup.h.
 */
struct tpa_step_stats {
	enum tpa_step_source source;
	uint32_t anchor;   /* autograd, period: the op whose call ends a step */
	double confidence; /* period: the share of a step's calls that the next one has too */
	double calls;	   /* period: calls of ops in a step */
	uint64_t count, items, first_ns;
	uint64_t warmup, warmup_ns; /* steps, the first among them */
	uint64_t rest_items, flop;  /* in the steps behind these */
	uint64_t matrix_flop;	    /* of these FLOP: matrix products and their like */
	struct tpa_moments durations;
	struct tpa_interval interval; /* of their mean: model/stats/effective.h; NAN of less than two */
	double effective;	      /* as many independent steps would tell as much */
	uint64_t min_ns, p50_ns, p99_ns, max_ns;
	uint64_t ends_ns[2]; /* of the steps that were asked for: the events that ended them; 0: there was none */
	struct tpa_step *list;
	size_t list_count;
	struct tpa_step_op *ops; /* by time */
	size_t op_count;
	uint64_t summed; /* steps that `ops` are sums over */
	double mean_cpu_periods;
	struct tpa_step_outlier *outliers; /* the slowest first */
	size_t outlier_count;
};

#endif
