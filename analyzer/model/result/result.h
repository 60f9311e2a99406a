/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of replaying a run's traces: the model that every report is made from. Nothing here prints. Each part of the replay
 * declares its own results in its own header; this header combines them.
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
#include "model/ranks/calls.h"
#include "model/samples/allocator.h"
#include "model/samples/counters.h"
#include "model/samples/cpu_samples.h"
#include "model/samples/levels.h"
#include "model/samples/marks.h"
#include "model/samples/resident.h"
#include "model/samples/timeline.h"
#include "model/steps/step_stats.h"
#include "trace/trace.h" /* struct tpa_trace: header, modules, frames, stack nodes, damage list */

struct tpa_thread_stats {
	uint32_t thread, tid;
	char name[32];
	uint64_t allocations, frees, bytes;
	double allocations_variance, frees_variance, bytes_variance; /* as in struct tpa_variance */
	struct tpa_cpu cpu;
	uint64_t op_ns;		    /* time in ops: total time of the outermost ones */
	uint64_t first_ns, last_ns; /* times of its events since the run's start */
};

struct tpa_process {
	const struct tpa_trace *trace;
	bool estimated; /* allocations were sampled: see struct tpa_variance. `temporary` is then unknown and 0 */
	struct tpa_unseen unseen;
	struct tpa_heap heap;
	struct tpa_pool_counts pools;
	struct tpa_site *sites;
	size_t site_count;
	struct tpa_variance *site_variances; /* what the sites refer to; NULL if they are exact */
	struct tpa_map_site *map_sites;
	size_t map_site_count;
	struct tpa_cpu cpu;	    /* all samples */
	struct tpa_cpu cpu_outside; /* samples outside of ops */
	struct tpa_cpu_site *cpu_sites;
	size_t cpu_site_count;
	struct tpa_op_stats *ops; /* largest total time first */
	size_t op_count;
	struct tpa_op_whole op_whole; /* of all ops that were recorded in a part of the time */
	struct tpa_op_counts op_counts;
	struct tpa_op_node *op_nodes; /* used from TPA_OP_NODE_FIRST - 1 on; parents come before their children */
	size_t op_node_count;
	struct tpa_counters counters; /* sum over threads, each up to its last op */
	struct tpa_step_stats steps;
	struct tpa_growth_stats growth;
	struct tpa_point *timeline;
	size_t point_count;
	struct tpa_allocator_series allocator; /* the allocator's own numbers; `last` may precede the time range */
	struct tpa_makeup makeup;	       /* what RSS consisted of, within the time range */
	struct tpa_copies copies;	       /* of a forked process; empty if the run has no trace of its parent */
	uint32_t fork_node;		       /* of the parent's trace: where it forked this process; 0: not known */
	size_t parent;		      /* index of the process that forked it; the number of processes: not known */
	struct tpa_hole_series holes; /* free memory between blocks, at readings of the makeup; empty: not known */
	struct tpa_marks marks;	      /* of the thread and within the time range that the report is about */
	struct tpa_thread_stats *threads;
	size_t thread_count;
	uint64_t start_ns;	       /* start of this process since the run's start */
	uint64_t duration_ns;	       /* from its start to its end, or to its last event */
	uint64_t overhead_ns;	       /* estimated time spent in tprof */
	struct tpa_level_stats levels; /* of a run whose recording was limited */
	bool off_at_start;	       /* recording was off at the start; not counted in `pauses` */
	uint64_t pauses, paused_ns;    /* pauses of the recording; the numbers don't include what happened then */
	uint64_t combined_peak_bytes;  /* this process's live bytes at the run's combined peak */
	double combined_peak_variance;
	struct tpa_rank_process ranks; /* what it told other processes of a parallel job; no calls: nothing */
};

struct tpa_run {
	struct tpa_process *processes;
	size_t process_count; /* in order of start */
	uint64_t start_unix_ns;
	uint64_t duration_ns;
	uint64_t peak_bytes, peak_time_ns; /* peak of the live bytes of all processes together; its time */
	double peak_variance;
	struct tpa_point *timeline; /* of all processes together; rss: each page once */
	size_t point_count;
	struct tpa_resident_together resident; /* when most was resident; rss 0: there is no sample */
	uint64_t pss_peak;		       /* 0: there is no reading of smaps */
	size_t most_at_once;		       /* processes that lived at one time */
};

/* Lays the process's large lists aside: base/aside.h. */
void tpa_process_lay_aside(struct tpa_process *process);

/* Frees the run and everything in it except the traces. `run` may be NULL. */
void tpa_run_free(struct tpa_run *run);

/* The process with the most steps, which stands for the run; worker processes have no steps. The run must have a process. */
const struct tpa_process *tpa_stepping(const struct tpa_run *run);

/*
 * Name of the op with the number `op` of a site; NULL if `op` is 0 (no op). A thread's part of a parallel region has the name of
 * its region.
 */
const char *tpa_process_op_name(const struct tpa_process *process, uint32_t op);

/* CPU time in ns that the samples stand for. */
uint64_t tpa_cpu_ns(const struct tpa_process *process, const struct tpa_cpu *cpu);

/* The same of all processes together. */
uint64_t tpa_run_cpu_ns(const struct tpa_run *run);

#endif
