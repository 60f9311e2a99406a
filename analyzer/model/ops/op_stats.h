/* SPDX-License-Identifier: Apache-2.0 */
/* A process's ops, as the reports show them. */
#ifndef TPROF_MODEL_OPS_OP_STATS_H
#define TPROF_MODEL_OPS_OP_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/flop/work.h"
#include "model/ops/op_share.h"
#include "model/samples/counters.h"
#include "model/samples/cpu_samples.h"
#include "model/stats/batches.h"
#include "model/stats/histogram.h"
#include "model/stats/series.h"
#include "model/stats/stats.h"

/* Calls of an op with one shape. */
struct tpa_shape_stats {
	char *text; /* NULL: all shapes that have no entry of their own */
	uint64_t calls, total_ns, flop;
	uint64_t first_ns, calls_ns; /* time of the first call; of all calls, including recursive ones */
};

/*
 * The calls of an op that ended, whether they returned or were unwound. `total_ns`, the memory, the work and the
 * shapes' total_ns count a recursive call once, with the outermost call. Self times add up over all calls. Times do not
 * include the cost of recording (model/ops/cost.h), which is kept beside them.
 *
 * Work counts once, where it was done. If an op reports work w, and the ops within it did work v, its self work is w -
 * v (0 if v is more), and its total work is self work plus v.
 */
struct tpa_op_stats {
	uint32_t op;
	const char *name, *category;
	uint64_t calls, unwound;
	uint64_t folded;  /* part of `calls`: recorded together, see TPROF_EVENT_FOLD */
	uint64_t untimed; /* part of `folded`: not timed. Others like them were, and all times are estimates */
	/* Variances of total_ns and self_ns in ns^2. self_variance may be above 0 even if `untimed` is 0. */
	double total_variance, self_variance;
	struct tpa_op_whole whole; /* if its calls were recorded in a part of the time */
	uint64_t open;		   /* calls that were open at the end of the trace; not part of `calls` */
	uint64_t total_ns, self_ns;
	uint64_t total_cost_ns, self_cost_ns; /* the cost of recording that was subtracted from them */
	uint64_t first_ns;
	uint64_t warmup_calls, warmup_ns; /* the first calls, which are not like the rest: model/stats/warmup.h */
	double mean_ns;			  /* of the calls after the warm-up */
	struct tpa_moments durations;	  /* of these */
	struct tpa_means *means;	  /* of these, in order, without those that share a mean with the warm-up */
	struct tpa_interval interval;	  /* of mean_ns: model/stats/series.h; NAN if there are fewer than two */
	uint64_t min_ns, p50_ns, p90_ns, p99_ns, max_ns; /* of all calls; percentiles as in model/stats/histogram.h */
	struct tpa_histogram *histogram;		 /* of all calls, in order */
	struct tpa_batches *batches;			 /* of all calls, as they came; NULL: not asked for */
	uint64_t flop, bytes;		      /* floating-point operations and bytes moved, including the ops within */
	uint64_t self_flop, self_bytes;	      /* the same without the ops within */
	uint64_t flop_in[TPA_PRECISIONS + 1]; /* self_flop by precision; [TPA_UNSAID]: not reported */
	uint64_t self_matrix_flop;	      /* part of self_flop: matrix products, convolutions and their like */
	uint64_t known;		       /* calls of a PyTorch operator whose work follows from sizes: TPA_TORCH_KNOWN */
	uint64_t no_shape, no_formula; /* calls that did work of which nothing is known: enum tpa_torch_known */
	/* Calls with work, of their own or of ops within, that has no count of FLOP. */
	uint64_t uncounted;
	uint64_t allocated_bytes;      /* requested while it was open, by its thread */
	uint64_t freed_bytes;	       /* given back while it was open, by its thread */
	uint64_t self_allocated_bytes; /* requested while it was open and innermost */
	/* Number of these requests, and how many of them were freed by the thread's next event. */
	uint64_t self_allocations, self_temporary;
	int64_t net_bytes;   /* allocated minus freed while it was open, by its thread */
	uint64_t peak_bytes; /* the most by which live memory grew within one call */
	/* Parallel regions, see tpa_ops_join_parts(). */
	bool is_part;		  /* it is what threads did of a region; the region is in the list, too */
	uint32_t runs_in;	  /* of a region of an op: that op; 0: it is not such a region */
	bool has_parts;		  /* it is a region whose parts are known */
	bool has_threads;	  /* it is, or contains, such a region: threads_wait_ns is known */
	uint64_t threads_wait_ns; /* part of total_ns: waiting in regions for their threads */
	/* Of a region: time that the thread that opened it spent in its own part, without the ops in it. */
	uint64_t own_part_ns;
	/* CPU samples while it was innermost, and those of them in functions that wait: report/rows/op_waits.h. */
	struct tpa_cpu cpu, spinning;
	uint64_t cpu_period_ns;		/* time that each sample stands for; 0: `cpu` and `spinning` are unknown */
	uint64_t parts_allocated_bytes; /* of a region: self_allocated_bytes of all its parts */
	struct tpa_shape_stats *shapes;
	size_t shape_count;
	struct tpa_counters counters, self_counters; /* TPROF_COUNTERS, of the op's thread */
};

/*
 * A chain of ops that called each other, summed over all threads. Each call counts in its own node, recursive ones too.
 */
struct tpa_op_node {
	uint32_t op;	 /* as in struct tpa_op_stats; 0: all chains that have no node of their own */
	uint32_t parent; /* index; below TPA_OP_NODE_FIRST: this is an outermost op */
	uint64_t calls, total_ns, self_ns;
	uint64_t flop, self_flop;
	uint64_t allocated_bytes, self_allocated_bytes, peak_bytes;
	int64_t net_bytes;
};
enum { TPA_OP_NODE_FIRST = 2 };

/*
 * Whether ops of two traces have the same name. A trace that was made without libtorch's file calls the operator
 * aten::select.int aten::select_int, like its function. No two operators of torch differ only in that.
 */
bool tpa_op_name_same(const char *a, const char *b);

struct tpa_op_counts {
	uint64_t events; /* begins and ends */
	uint64_t unmatched_ends;
	uint64_t self_flop;   /* of all calls that ended; each FLOP counts once */
	uint64_t matrix_flop; /* part of self_flop: matrix products, convolutions and their like */
	/* Calls of PyTorch's operators that did work themselves: enum tpa_torch_known. */
	uint64_t known, no_shape, no_formula;
	uint64_t too_deep; /* calls deeper than TPA_OP_DEPTH, of which nothing else is kept */
	uint64_t nameless; /* calls of ops whose name is not in the trace */
};

#endif
