/* SPDX-License-Identifier: Apache-2.0 */
/* What may be asked of a replay. */
#ifndef TPROF_MODEL_OPTIONS_H
#define TPROF_MODEL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

/*
 * What a site is, beside its stack. TPA_GROUP_NONE: for reports that have only totals. Blocks are counted by stack only where the
 * stack passes code without an unwind table, as callers may be missing there; all others are one site. Holes are not searched for.
 */
enum tpa_group {
	TPA_GROUP_STACK,
	TPA_GROUP_THREAD,
	TPA_GROUP_SIZE,
	TPA_GROUP_STEP,
	TPA_GROUP_LAYER,
	TPA_GROUP_NONE,
	TPA_GROUP_LABELS, /* stack, op, thread and layer together: tpa_label_thread(), tpa_label_layer() */
};

/* Which frames of a stack make it another one. */
enum tpa_frames { TPA_FRAMES_MIXED, TPA_FRAMES_PYTHON, TPA_FRAMES_NATIVE };

/* What stands in a report for a frame of native code; function NULL: no name is known. */
struct tpa_frame_name {
	const char *function;
	int line;
};

struct tpa_replay_options {
	enum tpa_group group;
	uint32_t thread;	 /* only allocations and CPU samples of this thread number; 0: all */
	uint32_t pid;		 /* only this process; 0: all */
	uint64_t from_ns, to_ns; /* nanoseconds since the run's start; to_ns 0: the end. Counts, peak and unfreed are
	                            * those of events inside; what was live before counts towards the peak, not towards
	                            * counts and unfreed. */
	bool batches;		 /* of the ops' calls too: struct tpa_op_stats */
	bool find_steps;	 /* where the program marks none: by the period of its ops, in a second pass */
	uint64_t step_ends[2];	 /* steps whose ends are asked for: struct tpa_step_stats.ends_ns; 0: none */
	bool only_ops;	  /* replay begins and ends of ops, and nothing else: for a walk that asks only for them */
	bool ranks;	  /* keep the calls of struct tpa_rank_process; else they are counted */
	bool keep_growth; /* of each site what it had at each look, for tpa_growth_pool() */
	enum tpa_frames frames; /* growth: stacks that differ in others are one */
	/* Asked of few frames: see model/growth/same_stacks.h. NULL: no names. The name lives until the next call for that trace. */
	struct tpa_frame_name (*name_frame)(void *context, const struct tpa_trace *trace, uint32_t frame);
	void *name_context;
	size_t threads;		  /* that replay processes; 0: one for each processor. No result depends on it */
	uint32_t timeline_points; /* resolution of the timeline: at most that many points; 0: 512 */
	void (*progress)(void *context, uint64_t done, uint64_t total); /* may be NULL; bytes of trace */
	void *progress_context;
};

#endif
