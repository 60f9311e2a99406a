/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of a process's ops. */
#ifndef TPROF_MODEL_OPS_OP_STATS_H
#define TPROF_MODEL_OPS_OP_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/flop/work.h"
#include "model/samples/counters.h"
#include "model/samples/cpu_samples.h"
#include "model/stats/batches.h"
#include "model/stats/histogram.h"
#include "model/stats/series.h"
#include "model/stats/stats.h"

/* Calls of an op with one shape. */
struct tpa_shape_stats {
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
struct tpa_op_stats {
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
	struct tpa_moments durations;	  /* of the others */
	struct tpa_means *means;	  /* of the others, in order, but for what was put together with the first */
	struct tpa_interval interval;	  /* of mean_ns: model/stats/series.h; NAN of less than two */
	uint64_t min_ns, p50_ns, p90_ns, p99_ns, max_ns; /* of all; percentiles as in model/stats/histogram.h */
	struct tpa_histogram *histogram;		 /* of all, in order */
	struct tpa_batches *batches;			 /* of all, as they came; NULL: not asked for */
	uint64_t flop, bytes;		      /* floating-point operations, bytes moved; with the ops within */
	uint64_t self_flop, self_bytes;	      /* ... and without */
	uint64_t flop_in[TPA_PRECISIONS + 1]; /* self_flop, by what it was done in; [TPA_UNSAID]: not said */
	uint64_t self_matrix_flop;	      /* of self_flop: matrix products, convolutions and their like */
	uint64_t known; /* calls of an operator of PyTorch whose work follows from sizes: TPA_TORCH_KNOWN */
	uint64_t no_shape, no_formula; /* calls that did work of which nothing is known: enum tpa_torch_known */
	uint64_t uncounted; /* calls that did work, or had ops within that did, of which there is no count of FLOP */
	uint64_t allocated_bytes;		   /* requested while it was open, by its thread */
	uint64_t freed_bytes;			   /* given back while it was open, by its thread */
	uint64_t self_allocated_bytes;		   /* requested while it was open and innermost */
	uint64_t self_allocations, self_temporary; /* the same as calls; freed again as the thread's next event */
	int64_t net_bytes;			   /* allocated minus freed while it was open, by its thread */
	uint64_t peak_bytes;			   /* the most by which live memory grew within one call */
	/* Parallel regions, see tpa_ops_join_parts(). */
	bool is_part;		  /* what threads did of a region that is in the list as well */
	uint32_t runs_in;	  /* of a region of an op: that op. 0: it is none */
	bool has_parts;		  /* a region, whose parts are known */
	bool has_threads;	  /* so is a region in it: threads_wait_ns is known */
	uint64_t threads_wait_ns; /* of total_ns, that it waited in regions for their threads */
	uint64_t
		own_part_ns; /* of a region: what the thread that opened it did in its own part, without the ops in it */
	struct tpa_cpu cpu,
		spinning; /* CPU samples while it was innermost; those in functions that wait: report/rows/op_waits.h */
	uint64_t cpu_period_ns;		/* that each sample stands for; 0: the two are not known */
	uint64_t parts_allocated_bytes; /* of a region: self_allocated_bytes of all its parts */
	struct tpa_shape_stats *shapes;
	size_t shape_count;
	struct tpa_counters counters, self_counters; /* TPROF_COUNTERS, of the op's thread */
};

/* A chain of ops that called each other; all threads together. Each call is with its own node, recursive ones too. */
struct tpa_op_node {
	uint32_t op;	 /* as struct tpa_op_stats has it; 0: further chains, for which there was no place */
	uint32_t parent; /* index; below TPA_OP_NODE_FIRST: it is an outermost op */
	uint64_t calls, total_ns, self_ns;
	uint64_t flop, self_flop;
	uint64_t allocated_bytes, self_allocated_bytes, peak_bytes;
	int64_t net_bytes;
};
enum { TPA_OP_NODE_FIRST = 2 };

/*
 * Whether two traces' ops have the same name. A trace made without libtorch's file calls torch's operator aten::select.int
 * aten::select_int, like its function; no two operators of torch differ in that alone.
 */
bool tpa_op_name_same(const char *a, const char *b);

struct tpa_op_counts {
	uint64_t events; /* begins and ends */
	uint64_t unmatched_ends;
	uint64_t self_flop;   /* of all calls that ended: each FLOP once */
	uint64_t matrix_flop; /* of these: matrix products, convolutions and their like */
	uint64_t known, no_shape,
		no_formula; /* calls of PyTorch's operators that did work themselves: enum tpa_torch_known */
	uint64_t too_deep;  /* calls beyond the depth that is kept of a thread's open ops */
	uint64_t nameless;  /* calls of ops whose name is not in the trace */
};

#endif
