/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops. Each thread has a stack of its open ops. When a call ends, its time and memory are added to its op and to its
 * node in the tree of calls. Of single calls only the first few of each op are kept, so memory grows with the number of
 * ops, not of calls.
 *
 * Times are in ticks, because the length of a tick is known only from the whole trace. tpa_ops_result() converts them
 * to nanoseconds.
 */
#ifndef TPROF_MODEL_OPS_OPS_H
#define TPROF_MODEL_OPS_OPS_H

#include "model/ops/cost.h"
#include "model/stats/histogram.h"
#include "model/ops/op_share.h"
#include "model/ops/op_tree.h"
#include "model/ops/op_stats.h"
#include "model/flop/work_torch.h"

struct tpa_archive;

#define TPA_OP_DEPTH 1024u /* the most ops that are open at once on a thread; deeper calls are only counted */
#define TPA_OP_SHAPES 64u  /* the most shapes of an op; all others share one entry */

/* Memory of a call, or of all that happened in it: bytes. */
struct tpa_op_memory {
	uint64_t allocated;
	int64_t net, peak; /* `peak`: the largest value that `net` had */
};

struct tpa_op_work {
	uint64_t flop, bytes;
	enum tpa_precision precision; /* of the FLOP that a call reported as its own */
	bool uncounted;		      /* there was more work, without a count of FLOP */
	bool unknown;		      /* there was more work, of which nothing is known */
	uint64_t matrix_flop;	      /* part of `flop`: matrix products and their like */
};

/* Adds work. The precision is left to the caller. */
static inline void tpa_op_work_add(struct tpa_op_work *to, const struct tpa_op_work *more)
{
	to->flop += more->flop;
	to->bytes += more->bytes;
	to->matrix_flop += more->matrix_flop;
	to->uncounted |= more->uncounted;
	to->unknown |= more->unknown;
}

#define TPA_OP_TORCH_ALONE 0x80u /* flag in tpa_op_frame.torch: tpa_torch_work.alone */

struct tpa_op_frame {
	uint32_t op;
	uint32_t shape; /* index of its shape + 1; 0: not reported */
	uint32_t node;	/* node in the tree of calls */
	bool counted;	/* it began in the selected time range, on a selected thread */
	bool recursive; /* the same op is open around it */
	bool hooked;	/* it is a hooked function, not an annotation */
	uint64_t begin_ticks;
	uint64_t children_ticks; /* of the ops directly within, by the clock */
	uint64_t inner_ticks;	 /* of the ops directly within, without the cost of recording */
	uint64_t cost_ticks;	 /* cost of recording while it was innermost */
	double variance;	 /* of the time of the ops directly within, where it is estimated */
	uint64_t self_allocated;
	struct tpa_op_work said, inner; /* the work that it reported as its own; that of the ops within */
	struct tpa_op_work shaped;	/* like `said`, by the sizes of its tensors */
	uint8_t torch; /* enum tpa_torch_known + 1, with TPA_OP_TORCH_ALONE; 0: it is no operator of PyTorch */
	struct tpa_op_memory memory;
	/*
	 * The parts of its time and memory that were already added to ops around it that ended before it did. They are
	 * not added to the next op around it again.
	 */
	uint64_t given_ticks, given_inner_ticks; /* measured like children_ticks and inner_ticks */
	struct tpa_op_memory given;
	struct tpa_counters counters, self_counters;
};

struct tpa_op_stack {
	struct tpa_op_frame *frames;
	uint32_t count, room;
	uint64_t deeper; /* ops that are open beyond TPA_OP_DEPTH */
	double cost;	 /* fraction of a tick that was not charged to any op yet */
};

/* A call that ended, for other parts of the replay, such as the steps. */
struct tpa_op_call {
	uint32_t op, shape;
	bool recursive;
	uint64_t begin_ticks, end_ticks, total_ticks, self_ticks;
};

struct tpa_op_state {
	struct tpa_op_stats stats; /* times are in ticks until tpa_ops_result() */
	struct tpa_moments later;  /* durations of the calls after the first TPA_HISTOGRAM_EXACT */
	struct tpa_moments timed;  /* of the folded calls: the durations that were measured */
	struct tpa_histogram *durations;
	struct tpa_means *means;
	struct tpa_batches *batches; /* NULL: not asked for */
	size_t shape_room;
	struct tpa_op_share share;
};

struct tpa_ops {
	const struct tpa_trace *trace;
	const struct tpa_cost *cost;
	uint32_t *same; /* by op number: the first number with the same name and category */
	uint32_t count; /* op numbers, and one more for all ops without a name in the trace */
	/* By a parallel region's number: the op in which it was last opened. NULL: there are no regions. */
	uint32_t *opened_in;
	struct tpa_torch_work *torch; /* by op number: the work of one call, once it was asked for */
	struct tpa_op_state **states; /* by number as in `same`; NULL: never called */
	struct tpa_op_tree tree;
	struct tpa_op_counts counts;
	struct tpa_op_spans spans; /* of the recording, where it is limited */
	struct tpa_op_call last;   /* what the last tpa_ops_end() counted; op 0: nothing */
	uint64_t outermost_ticks;  /* total time of all outermost calls */
	double outermost_tick_ns;  /* nanoseconds per tick of these, as tpa_ops_result() rounded them */
	bool batches;		   /* keep the durations in batches, too */
};

/* The moment at which an op begins or ends. */
struct tpa_op_moment {
	uint64_t ticks;
	double cost;  /* ticks that recording an annotation took at this moment */
	bool counted; /* within the selected time range, on a selected thread */
};

/* Allocates nothing for a trace without ops. `trace` and `cost` must outlive `ops`. Start from zeros. */
void tpa_ops_init(struct tpa_ops *ops, const struct tpa_trace *trace, const struct tpa_cost *cost);
void tpa_ops_free(struct tpa_ops *ops);

void tpa_ops_begin(struct tpa_ops *ops, struct tpa_op_stack *stack, uint64_t number,
		   const struct tpa_op_moment *moment);
/* Ends the op in which `within` ops are open. They stay open. */
void tpa_ops_end(struct tpa_ops *ops, struct tpa_op_stack *stack, uint64_t within, bool unwound,
		 const struct tpa_op_moment *moment);

/* The work of a typed kernel, by its kind and amount. */
struct tpa_op_work tpa_op_work_of(const struct tpa_work *work, const struct tpa_work_amount *amount);

/* Adds work that the thread's innermost op reported, and sets its shape. `length` 0: no shape was reported. */
void tpa_ops_detail(struct tpa_ops *ops, struct tpa_op_stack *stack, struct tpa_op_work work, const char *shape,
		    size_t length);

/*
 * Counts an ended call of a PyTorch operator by what is known of its work. The call must be off the stack. True if it
 * did work of which nothing is known.
 */
bool tpa_op_note_known(struct tpa_ops *ops, const struct tpa_op_stack *stack, const struct tpa_op_frame *frame);

/*
 * Sets the sizes of the tensors with which the thread's innermost op was called. `number`: the op number that has them.
 */
void tpa_ops_shape(struct tpa_ops *ops, struct tpa_op_stack *stack, uint64_t number);

/* The work of one call of an op number. NULL: it is not an operator of PyTorch. */
const struct tpa_torch_work *tpa_ops_torch(struct tpa_ops *ops, uint64_t number);

struct tpa_op_work tpa_op_work_of_torch(const struct tpa_torch_work *torch);

/* Counts `calls` more ended calls of a PyTorch operator. */
void tpa_op_count_known(struct tpa_ops *ops, struct tpa_op_state *state, enum tpa_torch_known known, uint64_t calls);

/* Calls of an op in the innermost one that were recorded together (model/ops/op_fold.c). */
struct tpa_op_fold {
	uint64_t number; /* op number in the trace */
	const struct tpa_folded *folded;
	bool counted;
};
void tpa_ops_fold(struct tpa_ops *ops, struct tpa_op_stack *stack, const struct tpa_op_fold *fold);

/*
 * Maps an op number of the trace to one number for each name and category. It is never 0. All ops without a name have
 * the last number.
 */
uint32_t tpa_op_of(const struct tpa_ops *ops, uint64_t number);

/*
 * The op that begins on the thread for an op number. It differs from tpa_op_of() for parallel regions: a region that
 * has no name, or is opened in a library's operator, counts as an op of its own for each op around it. A thread's part
 * of a region is treated in the same way. If no op is open on the thread, the op in which the region was last opened is
 * used.
 */
uint32_t tpa_op_begins(struct tpa_ops *ops, const struct tpa_op_stack *stack, uint64_t number);

/* Does the number stand for all ops without a name? */
static inline bool tpa_op_is_nameless(const struct tpa_ops *ops, uint32_t op)
{
	return op == ops->count - 1;
}

/* The state of an op number as tpa_op_of() returns it. Creates the state when it is first asked for. */
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
 * Subtracts the cost of recording an event from the time of the thread's innermost op. Whole ticks are charged. The
 * rest is carried over to the next charge, so that sums are right.
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

/* The thread requested `bytes`, or gave them back. An op must be open. */
void tpa_op_allocated(struct tpa_op_stack *stack, uint64_t bytes);
void tpa_op_freed(struct tpa_op_stack *stack, uint64_t bytes);

/* The thread's counters rose by `counters`. They count for its innermost op, if one is open. */
void tpa_op_counted(struct tpa_op_stack *stack, const struct tpa_counters *counters);

/* Counts the calls that are still open on a thread at the end of the trace. */
void tpa_ops_left_open(struct tpa_ops *ops, const struct tpa_op_stack *stack);

/*
 * Index + 1 of an op's shape, which is added if it is new. At most 255 bytes of its text count. The last entry stands
 * for all shapes that have none of their own.
 */
uint32_t tpa_op_shape(struct tpa_op_state *state, const char *text, size_t length);

/* The confidence interval of the mean duration without the warm-up. */
struct tpa_interval tpa_op_interval(const struct tpa_op_stats *stats, const struct tpa_means *means);

/* Saves, or loads into newly initialized ops (model/ops/op_archive.c). Stacks must come after their ops. */
void tpa_ops_archive(struct tpa_archive *archive, struct tpa_ops *ops);
void tpa_op_stack_archive(struct tpa_archive *archive, struct tpa_ops *ops, struct tpa_op_stack *stack);

/*
 * The ops that were called, by total time. Converts their times and those of the tree to nanoseconds. `tick_ns`:
 * nanoseconds per tick. Moves data out of `ops`, so call it once. Release the list with tpa_ops_result_free().
 */
struct tpa_op_stats *tpa_ops_result(struct tpa_ops *ops, double tick_ns, size_t *count);

/* ---- limited recording: model/ops/op_spans.c ---- */

/* Calls of hooked functions are recorded from now on, or no longer. A span ends when the next one begins. */
void tpa_ops_record(struct tpa_ops *ops, bool recorded);

/* Time passed: `ticks`, at the present level. */
void tpa_ops_pass(struct tpa_ops *ops, uint64_t ticks);

/* Ends the last span. */
void tpa_ops_end_spans(struct tpa_ops *ops);

/* The estimates of an op. Call it while its times are in ticks. */
struct tpa_op_whole tpa_op_whole(const struct tpa_ops *ops, const struct tpa_op_state *state, double tick_ns);

/* The same for the sum of all ops that were not recorded at all times. */
struct tpa_op_whole tpa_ops_whole(const struct tpa_ops *ops, double tick_ns);

/*
 * Marks in a list of ops the parts of parallel regions, and fills in how long ops waited for them
 * (model/ops/op_parts.c).
 */
void tpa_ops_join_parts(const struct tpa_ops *ops, struct tpa_op_stats *list, size_t count);

/* Frees a list that tpa_ops_result() or tpa_ops_combine() returned. */
void tpa_ops_result_free(struct tpa_op_stats *list, size_t count);

#endif
