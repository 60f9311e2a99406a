/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops: each thread has a stack of the ones that are open on it; what a call took and allocated goes to its op, and to its
 * place in the tree of calls, when it ends. Nothing is kept of a single call but of an op's first few, so memory grows
 * with the ops, not with their calls.
 *
 * Times are in ticks: how long a tick is, only the whole trace tells. tpa_ops_result() makes them nanoseconds.
 */
#ifndef TPROF_MODEL_OPS_OPS_H
#define TPROF_MODEL_OPS_OPS_H

#include "model/ops/cost.h"
#include "model/stats/histogram.h"
#include "model/ops/op_tree.h"
#include "model/ops/op_stats.h"
#include "model/flop/work_torch.h"

struct tpa_archive;

#define TPA_OP_DEPTH 1024u /* ops that are open at once on a thread; what is deeper is counted, and no more */
#define TPA_OP_SHAPES 64u  /* of an op; the rest are put together */

/* Of a call, or of all that happened in it: bytes. */
struct tpa_op_memory {
	uint64_t allocated;
	int64_t net, peak; /* peak: the largest that net ever was */
};

struct tpa_op_work {
	uint64_t flop, bytes;
	enum tpa_precision precision; /* of FLOP that a call said to be its own */
	bool uncounted;		      /* there was more, of which there is no count of FLOP */
	bool unknown;		      /* there was more, of which nothing is known */
	uint64_t matrix_flop;	      /* those of the FLOP that are matrix products and their like */
};

/* More work; what it was done in is the caller's to say. */
static inline void tpa_op_work_add(struct tpa_op_work *to, const struct tpa_op_work *more)
{
	to->flop += more->flop;
	to->bytes += more->bytes;
	to->matrix_flop += more->matrix_flop;
	to->uncounted |= more->uncounted;
	to->unknown |= more->unknown;
}

#define TPA_OP_TORCH_ALONE 0x80u /* struct tpa_torch_work: alone */

struct tpa_op_frame {
	uint32_t op;
	uint32_t shape; /* index + 1; 0: not said */
	uint32_t node;	/* of the tree */
	bool counted;	/* it began in the time, and on the thread, that are looked at */
	bool recursive; /* the same op is open below it */
	bool hooked;	/* a function, not an annotation */
	uint64_t begin_ticks;
	uint64_t children_ticks; /* of the clock */
	uint64_t inner_ticks;	 /* of the ops within, without what recording cost */
	uint64_t cost_ticks;	 /* of recording, while it was innermost */
	double variance;	 /* of what is taken for the time of the ops directly within */
	uint64_t self_allocated;
	struct tpa_op_work said, inner; /* its own work, if it is known; that of the ops within */
	struct tpa_op_work shaped;	/* the same as `said`, by the sizes of its tensors */
	uint8_t torch; /* enum tpa_torch_known + 1, and TPA_OP_TORCH_ALONE; 0: no operator of PyTorch */
	struct tpa_op_memory memory;
	/* An op around it ended before it: that had these parts of its time and memory, which the next one around has not. */
	uint64_t given_ticks, given_inner_ticks; /* as children_ticks and inner_ticks */
	struct tpa_op_memory given;
	struct tpa_counters counters, self_counters;
};

struct tpa_op_stack {
	struct tpa_op_frame *frames;
	uint32_t count, room;
	uint64_t deeper; /* ops that are open beyond TPA_OP_DEPTH */
	double cost;	 /* the part of a tick that has not been charged to any op yet */
};

/* A call that ended, as others may want to know of it: the steps, for one. */
struct tpa_op_call {
	uint32_t op, shape;
	bool recursive;
	uint64_t begin_ticks, end_ticks, total_ticks, self_ticks;
};

struct tpa_op_state {
	struct tpa_op_stats stats; /* its times are in ticks so far */
	struct tpa_moments later;  /* durations of the calls behind the first TPA_HISTOGRAM_EXACT */
	struct tpa_moments timed;  /* of the folded calls: durations that were measured */
	struct tpa_histogram *durations;
	struct tpa_means *means;
	struct tpa_batches *batches; /* NULL: not asked for */
	size_t shape_room;
};

struct tpa_ops {
	const struct tpa_trace *trace;
	const struct tpa_cost *cost;
	uint32_t *same;	     /* of an op number: the first that has its name and category */
	uint32_t count;	     /* numbers, with one more for ops that have no name in the trace */
	uint32_t *opened_in; /* of a region's number: in which op it was opened last. NULL: there are no regions */
	struct tpa_torch_work *torch; /* of an op number: what one call does, where it has been asked for */
	struct tpa_op_state **states; /* by such a number; NULL: never called */
	struct tpa_op_tree tree;
	struct tpa_op_counts counts;
	struct tpa_op_call last;  /* that ended and counted */
	uint64_t outermost_ticks; /* total time of all calls that were in no other op */
	double outermost_tick_ns; /* nanoseconds a tick of these, as tpa_ops_result() rounded them */
	bool batches;		  /* durations are kept as such too */
};

/* When an op begins or ends. */
struct tpa_op_moment {
	uint64_t ticks;
	double cost;  /* ticks that recording an annotation took here */
	bool counted; /* within the time, and on the thread, that are looked at */
};

/* Nothing is allocated for a trace without ops. Both arguments must outlive `ops`. */
void tpa_ops_init(struct tpa_ops *ops, const struct tpa_trace *trace, const struct tpa_cost *cost);
void tpa_ops_free(struct tpa_ops *ops);

void tpa_ops_begin(struct tpa_ops *ops, struct tpa_op_stack *stack, uint64_t number,
		   const struct tpa_op_moment *moment);
/* The op ends that has `within` open ones in it, which stay open. */
void tpa_ops_end(struct tpa_ops *ops, struct tpa_op_stack *stack, uint64_t within, bool unwound,
		 const struct tpa_op_moment *moment);

/* What a typed kernel did, as its amount says. */
struct tpa_op_work tpa_op_work_of(const struct tpa_work *work, const struct tpa_work_amount *amount);

/* The work of the thread's innermost op, and its shape ("": not said). */
void tpa_ops_detail(struct tpa_ops *ops, struct tpa_op_stack *stack, struct tpa_op_work work, const char *shape,
		    size_t length);

/*
 * Counts by what is known of its work a call of an operator of PyTorch that ended, and is off the stack. True: it did work of
 * which nothing is known.
 */
bool tpa_op_note_known(struct tpa_ops *ops, const struct tpa_op_stack *stack, const struct tpa_op_frame *frame);

/* The thread's innermost op was called with tensors of that number's sizes. */
void tpa_ops_shape(struct tpa_ops *ops, struct tpa_op_stack *stack, uint64_t number);

/* What a call of that op number does. NULL: it is no operator of PyTorch. */
const struct tpa_torch_work *tpa_ops_torch(struct tpa_ops *ops, uint64_t number);

struct tpa_op_work tpa_op_work_of_torch(const struct tpa_torch_work *torch);

/* So many more calls of an operator of PyTorch ended. */
void tpa_op_count_known(struct tpa_ops *ops, struct tpa_op_state *state, enum tpa_torch_known known, uint64_t calls);

/* Calls of an op within the innermost one that were recorded together (model/ops/op_fold.c). */
struct tpa_op_fold {
	uint64_t number; /* of the op */
	const struct tpa_folded *folded;
	bool counted;
};
void tpa_ops_fold(struct tpa_ops *ops, struct tpa_op_stack *stack, const struct tpa_op_fold *fold);

/* Of an op's number in the trace: one number a name, never 0; that of ops without a name is the last. */
uint32_t tpa_op_of(const struct tpa_ops *ops, uint64_t number);

/*
 * Which op begins on the thread by that number: a parallel region of a library's operator, or one without a name, stands for its own op
 * in the one around it. A thread's part of it stands with it: the thread itself is in no op.
 */
uint32_t tpa_op_begins(struct tpa_ops *ops, const struct tpa_op_stack *stack, uint64_t number);

/* Is it that of ops without a name? */
static inline bool tpa_op_is_nameless(const struct tpa_ops *ops, uint32_t op)
{
	return op == ops->count - 1;
}

/* What is known of such an op, made when it is first asked for. */
struct tpa_op_state *tpa_op_state(struct tpa_ops *ops, uint32_t op);

bool tpa_op_is_open(const struct tpa_op_stack *stack, uint32_t op);

/* The thread's innermost open op; 0: none. */
static inline uint32_t tpa_op_current(const struct tpa_op_stack *stack)
{
	return stack->count ? stack->frames[stack->count - 1].op : 0;
}

/* The thread's innermost open layer, see tpa_op_is_layer(). NULL: none. */
const struct tpa_op_frame *tpa_op_current_layer(const struct tpa_ops *ops, const struct tpa_op_stack *stack);

/*
 * Takes what recording an event cost out of the thread's innermost op's time. Whole ticks are charged, and what is
 * left of one goes with the next, so that sums are right.
 */
static inline void tpa_op_charge(struct tpa_op_stack *stack, double ticks)
{
	uint64_t whole;

	stack->cost += ticks;
	whole = stack->cost >= 1 ? (uint64_t)stack->cost : 0;
	stack->cost -= (double)whole;
	if (stack->count)
		stack->frames[stack->count - 1].cost_ticks += whole;
}

/* The thread requested so many bytes, or gave them back. */
void tpa_op_allocated(struct tpa_op_stack *stack, uint64_t bytes);
void tpa_op_freed(struct tpa_op_stack *stack, uint64_t bytes);

/* The thread's counters rose. */
void tpa_op_counted(struct tpa_op_stack *stack, const struct tpa_counters *counters);

/* Counts the calls that a thread has open: they will not end any more. */
void tpa_ops_left_open(struct tpa_ops *ops, const struct tpa_op_stack *stack);

/* An op's shape, by its text: index + 1. The last of the list stands for those that found no place. */
uint32_t tpa_op_shape(struct tpa_op_state *state, const char *text, size_t length);

/* Of the mean of its calls without the first ones. */
struct tpa_interval tpa_op_interval(const struct tpa_op_stats *stats, const struct tpa_means *means);

/* Saves, or loads into ops that were just initialized (model/ops/op_archive.c). Stacks go after their ops. */
void tpa_ops_archive(struct tpa_archive *archive, struct tpa_ops *ops);
void tpa_op_stack_archive(struct tpa_archive *archive, struct tpa_ops *ops, struct tpa_op_stack *stack);

/* The ops that were met, by total time; they and the tree of calls get times in nanoseconds. */
struct tpa_op_stats *tpa_ops_result(struct tpa_ops *ops, double tick_ns, size_t *count);

/* Says in a list of ops which are parts of parallel regions, and how long ops waited for those (model/ops/op_parts.c). */
void tpa_ops_join_parts(const struct tpa_ops *ops, struct tpa_op_stats *list, size_t count);

/* A list of tpa_ops_result() or tpa_ops_combine(). */
void tpa_ops_result_free(struct tpa_op_stats *list, size_t count);

#endif
