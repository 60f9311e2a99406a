/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run's traces say, as numbers: the model that every report is written from. Nothing here prints. Each part of the
 * replay has a header of its own with what it found; this one puts them together.
 */
#ifndef TPROF_MODEL_RESULT_RESULT_H
#define TPROF_MODEL_RESULT_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/growth/growth_stats.h"
#include "model/heap/heap.h"
#include "model/heap/holes.h"
#include "model/ops/op_stats.h"
#include "model/samples/allocator.h"
#include "model/samples/counters.h"
#include "model/samples/cpu_samples.h"
#include "model/samples/marks.h"
#include "model/samples/resident.h"
#include "model/samples/timeline.h"
#include "model/steps/step_stats.h"
#include "trace/trace.h" /* struct tpa_trace: header, modules, frames, stack nodes; damage list */

struct tpa_thread_stats {
	uint32_t thread, tid;
	char name[32];
	uint64_t allocations, frees, bytes;
	double allocations_variance, frees_variance, bytes_variance; /* as struct tpa_variance */
	struct tpa_cpu cpu;
	uint64_t op_ns;		    /* in ops: total time of those that were in no other one */
	uint64_t first_ns, last_ns; /* of its events, since the run's start */
};

struct tpa_process {
	const struct tpa_trace *trace;
	bool estimated; /* allocations were sampled: see struct tpa_variance. `temporary` is not known then, and 0 */
	struct tpa_unseen unseen;
	struct tpa_heap heap;
	struct tpa_pool_counts pools;
	struct tpa_site *sites;
	size_t site_count;
	struct tpa_map_site *map_sites;
	size_t map_site_count;
	struct tpa_cpu cpu;	    /* of all samples */
	struct tpa_cpu cpu_outside; /* of those that fell into no op */
	struct tpa_cpu_site *cpu_sites;
	size_t cpu_site_count;
	struct tpa_op_stats *ops; /* by total time */
	size_t op_count;
	struct tpa_op_counts op_counts;
	struct tpa_op_node *op_nodes; /* from TPA_OP_NODE_FIRST - 1 on; parents come before what they called */
	size_t op_node_count;
	struct tpa_counters counters; /* of all threads, up to each one's last op */
	struct tpa_step_stats steps;
	struct tpa_growth_stats growth;
	struct tpa_point *timeline;
	size_t point_count;
	struct tpa_allocator_series allocator; /* what it said; `last` also from before the time that is looked at */
	struct tpa_makeup makeup;	       /* what RSS was made of, within the time that is looked at */
	struct tpa_hole_series holes; /* free memory between blocks, at readings of the makeup; none: not known */
	struct tpa_marks marks;		       /* within the time, and of the thread, that are looked at */
	struct tpa_thread_stats *threads;
	size_t thread_count;
	uint64_t start_ns;	      /* of this process, since the run's start */
	uint64_t duration_ns;	      /* from there to its end, or its last event */
	uint64_t overhead_ns;	      /* tprof's own, estimated */
	bool off_at_start;	      /* recording was paused before it began; not among `pauses` */
	uint64_t pauses, paused_ns;   /* of the recording: what happened in them is not in the numbers */
	uint64_t combined_peak_bytes; /* this process's live bytes at the run's combined peak */
	double combined_peak_variance;
};

struct tpa_run {
	struct tpa_process *processes;
	size_t process_count; /* in order of start */
	uint64_t start_unix_ns;
	uint64_t duration_ns;
	uint64_t peak_bytes, peak_time_ns; /* of the sum over the processes */
	double peak_variance;
	struct tpa_point *timeline;
	size_t point_count; /* of the sum */
};

/* Releases the run and all that it holds; the traces stay. */
void tpa_run_free(struct tpa_run *run);

/* The process of a run with the most steps speaks for it: its workers have none of their own. */
const struct tpa_process *tpa_stepping(const struct tpa_run *run);

/* Name of the op with that number, as sites have it; NULL: 0, no op. */
const char *tpa_process_op_name(const struct tpa_process *process, uint32_t op);

/* CPU time that samples stand for. */
uint64_t tpa_cpu_ns(const struct tpa_process *process, const struct tpa_cpu *cpu);

#endif
