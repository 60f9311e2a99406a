/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened in each step: time by op, allocations, CPU time. Of the steps that took longest this is kept one by one,
 * so that what was different in them can be told; of all others only the sums.
 */
#ifndef TPROF_MODEL_STEPS_STEP_OPS_H
#define TPROF_MODEL_STEPS_STEP_OPS_H

#include "model/steps/step_stats.h"
#include "model/samples/counters.h"

struct tpa_archive;

#define TPA_STEP_SLOWEST 8u /* steps that are kept one by one */

/* Sums up to a moment: of the process, ever growing. */
struct tpa_step_totals {
	uint64_t allocations, allocated_bytes, live_bytes;
	uint64_t cpu_periods; /* of all threads */
	uint32_t thread;      /* that ended the step */
	struct tpa_usage usage;
	uint64_t usage_age_ns; /* since it was read; UINT64_MAX: it never was */
};

/* The same of one step. */
struct tpa_step_in {
	uint64_t ns, allocations, allocated_bytes, live_bytes, cpu_periods;
	bool usage_known, own_known; /* own: usage.own_cpu_ns is that of the thread that ended it */
	struct tpa_usage usage;
};

struct tpa_slow_step {
	uint64_t step;
	struct tpa_step_in in;
	uint64_t *ops; /* self times by op; NULL: no ops */
};

struct tpa_step_ops {
	uint32_t count;	   /* ops */
	uint64_t *now;	   /* self times in the step that goes on, by op; NULL: no op so far */
	uint64_t *sums;	   /* of all steps but the first */
	uint32_t *touched; /* ops that are in `now` */
	uint32_t touched_count;
	struct tpa_step_totals begin;
	struct tpa_step_in sum;
	uint64_t steps, usage_steps, own_steps; /* that are in the sums: of all, of usage, of own CPU time */
	uint64_t own_ns;			/* how long the last ones took */
	struct tpa_slow_step slowest[TPA_STEP_SLOWEST];
	uint32_t slow_count;
};

void tpa_step_ops_free(struct tpa_step_ops *ops);

/* An op, one of `count`, had that self time. */
void tpa_step_ops_add(struct tpa_step_ops *ops, uint32_t count, uint32_t op, uint64_t self_ns);

/* Steps count from here on. */
void tpa_step_ops_start(struct tpa_step_ops *ops, const struct tpa_step_totals *totals);

/* A step ends. The first is neither summed up nor kept. */
void tpa_step_ops_end(struct tpa_step_ops *ops, uint64_t step, uint64_t ns, const struct tpa_step_totals *totals);

/* Saves what `ops` points to, or loads it: the struct itself is as it was when it was saved. */
void tpa_step_ops_archive(struct tpa_archive *archive, struct tpa_step_ops *ops);

/* Ops by their time in a step, and those of the slowest steps that took longer than `fence` ticks. */
void tpa_step_ops_result(struct tpa_step_ops *ops, uint64_t fence, double tick_ns, struct tpa_step_stats *stats);

#endif
