/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run's traces say, as numbers: the model that every report is written from. Nothing here prints.
 *
 * One pass over the merged events of all traces of a run. Memory grows with live blocks, live mappings and distinct
 * stacks, never with the number of events. Not thread-safe; one run, one thread.
 */
#ifndef TPROF_MODEL_RESULT_RESULT_H
#define TPROF_MODEL_RESULT_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/samples/allocator.h"
#include "model/stats/batches.h"
#include "model/stats/series.h"
#include "model/samples/counters.h"
#include "model/stats/histogram.h"
#include "model/samples/resident.h"
#include "model/samples/marks.h"
#include "model/stats/stats.h"
#include "model/stats/trend.h"
#include "model/flop/work.h"
#include "trace/trace.h" /* struct tp_trace: header, modules, frames, stack nodes; damage list */

/* What a site is, beside its stack. */
enum tp_group { TP_GROUP_STACK, TP_GROUP_THREAD, TP_GROUP_SIZE, TP_GROUP_STEP, TP_GROUP_LAYER };

/* Which frames of a stack make it another one. */
enum tp_frames { TP_FRAMES_MIXED, TP_FRAMES_PYTHON, TP_FRAMES_NATIVE };

/* What stands in a report for a frame of native code; function NULL: no name is known. */
struct tp_frame_name {
	const char *function;
	int line;
};

struct tp_replay_options {
	enum tp_group group;
	uint32_t thread;	 /* only allocations and CPU samples of this thread number; 0: all */
	uint32_t pid;		 /* only this process; 0: all */
	uint64_t from_ns, to_ns; /* nanoseconds since the run's start; to_ns 0: the end. Counts, peak and unfreed are
	                            * those of events inside; what was live before counts towards the peak, not towards
	                            * counts and unfreed. */
	bool batches;		 /* of the ops' calls too: struct tp_op_stats */
	bool find_steps;	 /* where the program marks none: by the period of its ops, in a second pass */
	uint64_t step_ends[2];	 /* steps whose ends are asked for: struct tp_step_stats.ends_ns; 0: none */
	bool keep_growth;	 /* of each site what it had at each look, for tp_growth_pool() */
	enum tp_frames frames;	 /* growth: stacks that differ in others are one */
	/* Asked of few frames: see model/growth/same_stacks.h. NULL: no names. The name lives until the next call. */
	struct tp_frame_name (*name_frame)(void *context, const struct tp_trace *trace, uint32_t frame);
	void *name_context;
	uint32_t timeline_points; /* resolution of the timeline: at most that many points; 0: 512 */
	void (*progress)(void *context, uint64_t done, uint64_t total); /* may be NULL; bytes of trace */
	void *progress_context;
};

/*
 * Of a process whose allocations were sampled, the counts and bytes of its blocks are estimates, and this is their
 * variances; of others all is 0, and the numbers are exact. Sums of independent estimates have the sum of the variances.
 */
struct tp_variance {
	double allocations, frees, bytes, usable, short_lived;
	double peak_bytes, peak_blocks, peak_usable;
	double live_bytes, live_blocks, live_usable; /* at the end */
};

/* The first and the last step in which blocks can have been born, both inclusive; 0: there are no steps. */
struct tp_born {
	uint64_t first, last;
};

/* Memory of one stack (and, by group, one thread or one size). Bytes are requested bytes unless the name says else. */
struct tp_site {
	uint32_t node; /* stack node, an index for tp_trace_stack(); TPROF_NODE_NONE: stack not recorded */
	uint64_t key;  /* thread number, size or step, as the group says; by layer: the op's node; else 0 */
	uint32_t op;   /* by stack: the innermost op that was open; by layer: the innermost layer; 0: none. See
			* tp_process_op_name() */
	uint64_t allocations, frees;
	uint64_t bytes;			  /* allocated, in all */
	uint64_t peak_bytes, peak_blocks; /* live at the process's peak */
	uint64_t live_bytes, live_blocks; /* live at the end: unfreed */
	uint64_t peak_usable, live_usable;
	struct tp_born peak_born, live_born;
	uint64_t temporary;	 /* freed as the very next event of the allocating thread */
	uint64_t short_lived;	 /* freed within TP_SHORT_LIVED_NS of the allocation, by whichever thread */
	uint64_t largest;	 /* largest single request (of a sampled run: recorded one) */
	uint64_t before_largest; /* of those before the time that is looked at, which the peak may have */
	struct tp_variance variance;
};
#define TP_SHORT_LIVED_NS 1000000u

/* Address space taken by mmap, by stack. Not part of the heap's numbers. */
struct tp_map_site {
	uint32_t node;
	uint64_t calls, bytes;		 /* mapped in all */
	uint64_t live_bytes, peak_bytes; /* at the end; at the moment when all mappings together were largest */
	bool file;			 /* file mappings, apart from anonymous ones */
};

/*
 * CPU samples. Each stands for `periods` of header.cpu_period_ns: one, or more if its signal came late. Samples of several
 * periods weigh more and tell no more: as many independent ones as (sum of periods)^2 / (sum of their squares) would do
 * (Kish 1965).
 */
struct tp_cpu {
	uint64_t samples, periods;
	double squares; /* sum of the samples' periods squared */
};

/* CPU samples of one stack and thread, and of one op: the innermost that was open; 0: none. */
struct tp_cpu_site {
	uint32_t node, thread, op;
	struct tp_cpu cpu;
};

struct tp_point {	  /* of the timeline: the moment within its interval when live_bytes was largest */
	uint64_t time_ns; /* since the run's start */
	uint64_t live_bytes, live_blocks, mapped_bytes;
	uint64_t rss, vms;			/* latest sample by then; 0 if none yet */
	double bytes_variance, blocks_variance; /* of what is live, if it is an estimate */
};

/* Calls of an op with one shape. */
struct tp_shape_stats {
	char *text; /* NULL: all shapes for which there was no place of their own, together */
	uint64_t calls, total_ns, flop;
	uint64_t first_ns, calls_ns; /* the first call's time; all calls', recursive ones too */
};

/*
 * Calls of an op. Those that ended count, whether they returned or were unwound. `total_ns`, the memory, the work and the
 * shapes' total_ns count a recursive call once, with the outermost; self times add up to what the op itself took. Times
 * are without what recording cost (model/ops/cost.h): that stands beside them.
 *
 * Work counts once, where it was done: of an op whose own work is said to be w, with ops in it that did v, w - v is its
 * own (none if v is more), and its work is the sum of both.
 */
struct tp_op_stats {
	uint32_t op;
	const char *name, *category;
	uint64_t calls, unwound;
	uint64_t folded;  /* among `calls`: those that were recorded together, see TPROF_EVENT_FOLD */
	uint64_t untimed; /* among `folded`: a share of the likes of them was timed, and all times are estimates */
	double total_variance, self_variance; /* of total_ns and self_ns, ns^2; self_ns may be one without `untimed` */
	uint64_t open;			      /* calls that had not ended when the trace did; not among `calls` */
	uint64_t total_ns, self_ns;
	uint64_t total_cost_ns, self_cost_ns; /* that were taken out of them */
	uint64_t first_ns;
	uint64_t warmup_calls, warmup_ns; /* the first calls that are not like the rest: model/stats/warmup.h */
	double mean_ns;			  /* of the others */
	struct tp_moments durations;	  /* of the others */
	struct tp_means *means;		  /* of the others, in order, but for what was put together with the first */
	struct tp_interval interval;	  /* of mean_ns: model/stats/series.h; NAN of less than two */
	uint64_t min_ns, p50_ns, p90_ns, p99_ns, max_ns; /* of all; percentiles as in model/stats/histogram.h */
	struct tp_histogram *histogram;			 /* of all, in order */
	struct tp_batches *batches;			 /* of all, as they came; NULL: not asked for */
	uint64_t flop, bytes;		     /* floating-point operations, bytes moved; with the ops within */
	uint64_t self_flop, self_bytes;	     /* ... and without */
	uint64_t flop_in[TP_PRECISIONS + 1]; /* self_flop, by what it was done in; [TP_UNSAID]: not said */
	uint64_t self_matrix_flop;	     /* of self_flop: matrix products, convolutions and their like */
	uint64_t known; /* calls of an operator of PyTorch whose work follows from sizes: TP_TORCH_KNOWN */
	uint64_t no_shape, no_formula; /* calls that did work of which nothing is known: enum tp_torch_known */
	uint64_t uncounted; /* calls that did work, or had ops within that did, of which there is no count of FLOP */
	uint64_t allocated_bytes;		   /* requested while it was open, by its thread */
	uint64_t freed_bytes;			   /* given back while it was open, by its thread */
	uint64_t self_allocated_bytes;		   /* requested while it was open and innermost */
	uint64_t self_allocations, self_temporary; /* the same as calls; freed again as the thread's next event */
	int64_t net_bytes;			   /* allocated minus freed while it was open, by its thread */
	uint64_t peak_bytes;			   /* the most by which live memory grew within one call */
	struct tp_shape_stats *shapes;
	size_t shape_count;
	struct tp_counters counters, self_counters; /* TPROF_COUNTERS, of the op's thread */
};

/* A chain of ops that called each other; all threads together. Each call is with its own node, recursive ones too. */
struct tp_op_node {
	uint32_t op;	 /* as struct tp_op_stats has it; 0: further chains, for which there was no place */
	uint32_t parent; /* index; below TP_OP_NODE_FIRST: it is an outermost op */
	uint64_t calls, total_ns, self_ns;
	uint64_t flop, self_flop;
	uint64_t allocated_bytes, self_allocated_bytes, peak_bytes;
	int64_t net_bytes;
};
enum { TP_OP_NODE_FIRST = 2 };

struct tp_op_counts {
	uint64_t events; /* begins and ends */
	uint64_t unmatched_ends;
	uint64_t self_flop;   /* of all calls that ended: each FLOP once */
	uint64_t matrix_flop; /* of these: matrix products, convolutions and their like */
	uint64_t known, no_shape,
		no_formula; /* calls of PyTorch's operators that did work themselves: enum tp_torch_known */
	uint64_t too_deep;  /* calls beyond the depth that is kept of a thread's open ops */
	uint64_t nameless;  /* calls of ops whose name is not in the trace */
};

/* One or, of a long run, several neighbouring steps. */
struct tp_step {
	uint64_t first, steps; /* 1: the first step */
	uint64_t begin_ns, end_ns;
	uint64_t begin_bytes, end_bytes, high_bytes; /* live at its begin, at its end, and at most */
	uint64_t items;
	uint64_t flop; /* of the ops that ended in it */
	uint64_t matrix_flop;
};

/* How the steps are known. */
enum tp_step_source {
	TP_STEPS_NONE,
	TP_STEPS_MARKED,   /* the program said so, or TPROF_STEP */
	TP_STEPS_AUTOGRAD, /* each ends with a backward pass: torch::autograd::Engine::execute */
	TP_STEPS_PERIOD, /* each ends with a call of the same op, around which the calls repeat: model/steps/period.h */
};

/* Time that an op took itself, in all steps but the first. */
struct tp_step_op {
	uint32_t op;
	uint64_t self_ns;
};

/* What was different in a step that took long: the op took so much more than it does on average. */
struct tp_step_difference {
	uint32_t op;
	int64_t ns; /* 0: none */
};
#define TP_STEP_DIFFERENCES 3u

/* A step beyond the fence Q3 + 1.5 (Q3 - Q1): among the slowest few. Differences are against the average step's. */
struct tp_step_outlier {
	uint64_t step, ns;
	struct tp_step_difference ops[TP_STEP_DIFFERENCES]; /* the largest first */
	int64_t outside_ns;				    /* outside of every op, of any thread */
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
struct tp_step_stats {
	enum tp_step_source source;
	uint32_t anchor;   /* autograd, period: the op whose call ends a step */
	double confidence; /* period: the share of a step's calls that the next one has too */
	double calls;	   /* period: calls of ops in a step */
	uint64_t count, items, first_ns;
	uint64_t warmup, warmup_ns; /* steps, the first among them */
	uint64_t rest_items, flop;  /* in the steps behind these */
	uint64_t matrix_flop;	    /* of these FLOP: matrix products and their like */
	struct tp_moments durations;
	struct tp_interval interval; /* of their mean: model/stats/effective.h; NAN of less than two */
	double effective;	     /* as many independent steps would tell as much */
	uint64_t min_ns, p50_ns, p99_ns, max_ns;
	uint64_t ends_ns[2]; /* of the steps that were asked for: the events that ended them; 0: there was none */
	struct tp_step *list;
	size_t list_count;
	struct tp_step_op *ops; /* by time */
	size_t op_count;
	uint64_t summed; /* steps that `ops` are sums over */
	double mean_cpu_periods;
	struct tp_step_outlier *outliers; /* the slowest first */
	size_t outlier_count;
};

/* What a site does as the steps go on. Rates are per step, or per second where there are no steps. */
struct tp_growth_site {
	uint32_t node, op;
	enum tp_verdict verdict;
	double p;		/* of its growth, before the correction for many */
	double rate, low, high; /* bytes, with its 95% interval; of those that leak or grew significantly, else 0 */
	double block_rate;	/* blocks */
	uint64_t since;		/* the step in which the growth began, or nanoseconds since the run's start */
	uint64_t bytes, blocks; /* at the last look */
	int64_t grown;		/* bytes since then */
	uint64_t most;		/* bytes at any look */
	uint64_t typical;	/* median size of the blocks that live at the end; 0: none does */
	uint64_t born[3];	/* steps, or nanoseconds, in which they were born: first, median, last */
	uint32_t number;	/* of the series that it was judged by; of what was put together, of the group */
	uint32_t members;	/* stacks that it is of: those that are alike, or that were put together */
	bool renewed; /* they are alike but for names that are new again and again: model/growth/same_stacks.h */
	bool file;    /* of a mapping: of a file */
};

/* All that are not stable: leaks by rate, those that may be such by rate, then the others by size. */
struct tp_growth_list {
	struct tp_growth_site *list;
	size_t count, leaks, rising; /* those that leak stand first, then those that may */
	double leak_rate;	     /* of all leaks together */
};

/* A site of a process, as growth that is put together has it. */
struct tp_growth_member {
	uint32_t node, op;
};

/* A part of the process's memory. */
struct tp_growth_line {
	int64_t first, last; /* bytes at the first look after the warm-up and at the last; below 0 are parts of RSS that
			      * others take more from than they hold: live blocks that were not touched */
	double rate, low, high;
	enum tp_verdict verdict;
};

/* What RSS is made of. The lines add up to RSS: what no other part holds is the allocator's. */
enum tp_growth_part {
	TP_PART_LIVE,	   /* live blocks, bytes requested */
	TP_PART_ALLOCATOR, /* what it holds beyond these: free memory, rounding, headers, its tables; modules' data */
	TP_PART_MAPPED,	   /* private anonymous memory that the program mapped itself */
	TP_PART_FILES,	   /* of files (programs and libraries too), and shared memory */
	TP_PART_STACKS,
	TP_PART_COLLECTOR, /* tprof's own tables */
	TP_PARTS,
};

/*
 * The same with what only the readings of smaps tell, between which it is taken to change steadily: these add up to RSS, too.
 */
enum tp_growth_fine {
	TP_FINE_LIVE,
	TP_FINE_ALLOCATOR, /* without the two below */
	TP_FINE_MAPPED,
	TP_FINE_UNSEEN, /* mapped by the program past the hooks */
	TP_FINE_STATIC, /* modules' data */
	TP_FINE_FILES,	/* without shared memory */
	TP_FINE_SHARED, /* shared memory */
	TP_FINE_STACKS,
	TP_FINE_COLLECTOR,
	TP_FINE_PARTS,
};

/* Of what jemalloc holds, as it says itself: the lines from LIVE to METADATA add up to RESIDENT. */
enum tp_allocator_line {
	TP_ALLOCATOR_LIVE,	/* live blocks, bytes requested */
	TP_ALLOCATOR_ROUNDING,	/* up to its classes of sizes; and what threads' caches hold */
	TP_ALLOCATOR_FRAGMENTS, /* in pages of which blocks take a part: active less allocated */
	TP_ALLOCATOR_FREE,	/* pages without blocks that it keeps */
	TP_ALLOCATOR_METADATA,
	TP_ALLOCATOR_RESIDENT,
	TP_ALLOCATOR_RETAINED, /* address space without memory, for later */
	TP_ALLOCATOR_LINES,
};

struct tp_growth_stats {
	bool seconds;		      /* rates are per second */
	size_t looks;		      /* 0: there is nothing to say; less than TP_TREND_LEAST: too few for verdicts */
	uint64_t last;		      /* the last step that was looked at, or nanoseconds */
	double span;		      /* steps (seconds) from one look to the next, about */
	size_t sites;		      /* that there were; those that are alike are one */
	size_t varying;		      /* of them, that changed after the warm-up: what the correction for many counts */
	uint32_t *series;	      /* by site of the replay: number of its series, and 1; 0: it has none */
	struct tp_growth_list heap;   /* blocks, by stack and op */
	struct tp_growth_line others; /* of all stacks of the heap together that neither leak nor may */
	struct tp_growth_list maps;   /* of mappings, by stack: of bytes mapped, whether or not they are touched */
	struct tp_growth_kept *kept;  /* of the heap, for tp_growth_pool(); NULL: not asked for, or too few looks */
	struct tp_growth_line live, anonymous, file, rss,
		rest; /* rest: RSS without live blocks and anonymous mappings */
	struct tp_growth_line parts[TP_PARTS];
	bool parts_known; /* they were counted from the end of the warm-up on */
	struct tp_growth_line fine[TP_FINE_PARTS];
	bool fine_known; /* and smaps were read */
	struct tp_growth_line allocator[TP_ALLOCATOR_LINES];
	bool allocator_known; /* it said something from there on */
};

struct tp_thread_stats {
	uint32_t thread, tid;
	char name[32];
	uint64_t allocations, frees, bytes;
	double allocations_variance, frees_variance, bytes_variance; /* as struct tp_variance */
	struct tp_cpu cpu;
	uint64_t op_ns;		    /* in ops: total time of those that were in no other one */
	uint64_t first_ns, last_ns; /* of its events, since the run's start */
};

struct tp_heap {
	uint64_t allocations, frees, bytes, usable; /* a realloc is one allocation and one free */
	uint64_t peak_bytes, peak_blocks, peak_usable, peak_time_ns;
	uint64_t end_bytes, end_blocks, end_usable;
	uint64_t temporary, short_lived;
	uint64_t inherited_frees; /* of a forked process: frees of blocks that its parent allocated */
	uint64_t unmatched_frees; /* frees of blocks whose allocation is not in the trace; neither these nor the
				   * inherited ones are among `frees` */
	uint64_t implied_frees;	  /* among `frees`: blocks whose address was allocated again without a free */
	uint64_t reordered;	  /* events whose order between threads had to be repaired */
	uint64_t failed_reallocs;
	/*
	 * mmap family. maps and unmaps are events (an mremap is one of each); mapped_end is all that is mapped at the end,
	 * whenever it was mapped.
	 */
	uint64_t mapped_peak, mapped_end, maps, unmaps;
	uint64_t rss_peak;			       /* the larger of the header's and the largest sample */
	uint64_t events;			       /* decoded, of all kinds */
	uint64_t recorded_allocations, recorded_frees; /* that the counts above are, or are estimated from */
	struct tp_variance variance;
};

/*
 * Memory that the program's own allocators hand out in blocks: the blocks are among the heap's numbers, the heap blocks
 * that the pools are made of are not.
 */
struct tp_pool_counts {
	uint64_t pools, bytes;	       /* heap blocks that were pools, allocated in all */
	uint64_t peak_bytes;	       /* the most that they were at once */
	uint64_t end_pools, end_bytes; /* at the end */
	uint64_t allocations, frees;   /* of their blocks, as recorded */
};

/*
 * What one block more in a sample would stand for, as far as is known of what is not in it: of bytes, the sample's mean,
 * whatever the block's size; of blocks, what the process's blocks do on average or, where these are so large that they say
 * nothing of small ones, what the smallest would. 0: nothing was sampled.
 */
struct tp_unseen {
	double bytes, blocks;
};

struct tp_process {
	const struct tp_trace *trace;
	bool estimated; /* allocations were sampled: see struct tp_variance. `temporary` is not known then, and 0 */
	struct tp_unseen unseen;
	struct tp_heap heap;
	struct tp_pool_counts pools;
	struct tp_site *sites;
	size_t site_count;
	struct tp_map_site *map_sites;
	size_t map_site_count;
	struct tp_cpu cpu;	   /* of all samples */
	struct tp_cpu cpu_outside; /* of those that fell into no op */
	struct tp_cpu_site *cpu_sites;
	size_t cpu_site_count;
	struct tp_op_stats *ops; /* by total time */
	size_t op_count;
	struct tp_op_counts op_counts;
	struct tp_op_node *op_nodes; /* from TP_OP_NODE_FIRST - 1 on; parents come before what they called */
	size_t op_node_count;
	struct tp_counters counters; /* of all threads, up to each one's last op */
	struct tp_step_stats steps;
	struct tp_growth_stats growth;
	struct tp_point *timeline;
	size_t point_count;
	struct tp_allocator_series allocator; /* what it said; `last` also from before the time that is looked at */
	struct tp_makeup makeup;	      /* what RSS was made of, within the time that is looked at */
	struct tp_marks marks;		      /* within the time, and of the thread, that are looked at */
	struct tp_thread_stats *threads;
	size_t thread_count;
	uint64_t start_ns;	      /* of this process, since the run's start */
	uint64_t duration_ns;	      /* from there to its end, or its last event */
	uint64_t overhead_ns;	      /* tprof's own, estimated */
	bool off_at_start;	      /* recording was paused before it began; not among `pauses` */
	uint64_t pauses, paused_ns;   /* of the recording: what happened in them is not in the numbers */
	uint64_t combined_peak_bytes; /* this process's live bytes at the run's combined peak */
	double combined_peak_variance;
};

struct tp_run {
	struct tp_process *processes;
	size_t process_count; /* in order of start */
	uint64_t start_unix_ns;
	uint64_t duration_ns;
	uint64_t peak_bytes, peak_time_ns; /* of the sum over the processes */
	double peak_variance;
	struct tp_point *timeline;
	size_t point_count; /* of the sum */
};

/*
 * Replays the traces. They stay owned by the caller and must outlive the run. Returns NULL and sets *error (a static or
 * heap string valid until the next call) only when memory is out; damaged records are in the traces' damage lists.
 */
struct tp_run *tp_run_replay(struct tp_trace *const *traces, size_t count, const struct tp_replay_options *options,
			     const char **error);
void tp_run_free(struct tp_run *run);

/* The process of a run with the most steps speaks for it: its workers have none of their own. */
const struct tp_process *tp_stepping(const struct tp_run *run);

/* Name of the op with that number, as sites have it; NULL: 0, no op. */
const char *tp_process_op_name(const struct tp_process *process, uint32_t op);

void tp_cpu_add(struct tp_cpu *to, const struct tp_cpu *from);

/* CPU time that samples stand for. */
uint64_t tp_cpu_ns(const struct tp_process *process, const struct tp_cpu *cpu);

#endif
