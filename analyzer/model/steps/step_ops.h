/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened in each step: time by op, allocations, CPU time. The slowest steps are kept one by one, so that a
 * report can tell what was different in them; of all other steps only sums are kept.
 */
#ifndef TPROF_MODEL_STEPS_STEP_OPS_H
#define TPROF_MODEL_STEPS_STEP_OPS_H

#include "model/steps/step_stats.h"
#include "model/samples/counters.h"

struct tpa_archive;

#define TPA_STEP_SLOWEST 8u /* number of steps kept one by one */

/* Running totals of the process at one moment. */
struct tpa_step_totals {
	uint64_t allocations, allocated_bytes, live_bytes;
	uint64_t cpu_periods; /* CPU samples of all threads, in periods */
	uint32_t thread;      /* the thread that ended the step */
	struct tpa_usage usage;
	uint64_t usage_age_ns; /* time since `usage` was read; UINT64_MAX: never read */
};

/* The same within one step, or summed over steps. */
struct tpa_step_in {
	uint64_t ns, allocations, allocated_bytes, live_bytes, cpu_periods;
	bool usage_known, own_known; /* own_known: usage.own_cpu_ns is that of the thread that ended the step */
	struct tpa_usage usage;
};

struct tpa_slow_step {
	uint64_t step;
	struct tpa_step_in in;
	uint64_t *ops; /* self times by op; NULL: no ops */
};

struct tpa_step_ops {
	uint32_t count;	   /* number of ops */
	uint64_t *now;	   /* self times in the current step, by op; NULL: no op so far */
	uint64_t *sums;	   /* the same, over all steps but the first */
	uint32_t *touched; /* ops whose time in `now` is not 0 */
	uint32_t touched_count;
	struct tpa_step_totals begin;
	struct tpa_step_in sum;
	uint64_t steps, usage_steps, own_steps; /* steps in the sums: all, those with usage, those with own CPU time */
	uint64_t own_ns;			/* total duration of the own_steps */
	struct tpa_slow_step slowest[TPA_STEP_SLOWEST];
	uint32_t slow_count;
};

void tpa_step_ops_free(struct tpa_step_ops *ops);

/* Adds self time to an op. `count`: the number of all ops. */
void tpa_step_ops_add(struct tpa_step_ops *ops, uint32_t count, uint32_t op, uint64_t self_ns);

/* Starts the first step; forgets what came before. */
void tpa_step_ops_start(struct tpa_step_ops *ops, const struct tpa_step_totals *totals);

/* Ends step number `step`, which took `ns`. The first step is neither summed up nor kept. */
void tpa_step_ops_end(struct tpa_step_ops *ops, uint64_t step, uint64_t ns, const struct tpa_step_totals *totals);

/* Saves what `ops` points to, or loads it. To load, the struct itself must already have its saved values. */
void tpa_step_ops_archive(struct tpa_archive *archive, struct tpa_step_ops *ops);

/*
 * Sets the ops, sorted by time, and the outliers of *stats: those of the slowest steps that took longer than `fence`
 * ticks. `tick_ns`: ns per tick. Converts the times in `ops` to ns, so call it only once.
 */
void tpa_step_ops_result(struct tpa_step_ops *ops, uint64_t fence, double tick_ns, struct tpa_step_stats *stats);

#endif
