/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops: each thread has a stack of the ones that are open on it; what a call took and allocated goes to its op when it
 * ends. Nothing is kept of a single call, so memory grows with the ops, not with their calls.
 */
#ifndef TPROF_MODEL_OPS_H
#define TPROF_MODEL_OPS_H

#include "model/histogram.h"
#include "model/run.h"

#define TP_OP_DEPTH 1024u /* ops that are open at once on a thread; what is deeper is counted, and no more */
#define TP_OP_SHAPES 64u  /* of an op; the rest are put together */

/* Of a call, or of all that happened in it: bytes. */
struct tp_op_memory {
	uint64_t allocated;
	int64_t net, peak; /* peak: the largest that net ever was */
};

struct tp_op_frame {
	uint32_t op;
	uint32_t shape; /* index + 1; 0: not said */
	bool counted;	/* it began in the time, and on the thread, that are looked at */
	bool recursive; /* the same op is open below it */
	uint64_t begin_ns, children_ns;
	uint64_t self_allocated, flop, bytes;
	struct tp_op_memory memory;
};

struct tp_op_stack {
	struct tp_op_frame *frames;
	uint32_t count, room;
	uint64_t deeper; /* ops that are open beyond TP_OP_DEPTH */
};

struct tp_op_state {
	struct tp_op_stats stats;
	struct tp_moments later; /* durations of all calls but the first */
	struct tp_histogram durations;
	size_t shape_room;
};

struct tp_ops {
	const struct tp_trace *trace;
	uint32_t *same;		     /* of an op number: the first that has its name and category */
	uint32_t count;		     /* numbers, with one more for ops that have no name in the trace */
	struct tp_op_state **states; /* by such a number; NULL: never called */
	struct tp_op_counts counts;
};

/* Nothing is allocated for a trace without ops. */
bool tp_ops_init(struct tp_ops *ops, const struct tp_trace *trace);
void tp_ops_free(struct tp_ops *ops);

/* All return false when memory is out. Times are since the run's start. */
bool tp_ops_begin(struct tp_ops *ops, struct tp_op_stack *stack, uint64_t number, uint64_t time_ns, bool counted);
bool tp_ops_end(struct tp_ops *ops, struct tp_op_stack *stack, bool unwound, uint64_t time_ns, bool counted);
bool tp_ops_detail(struct tp_ops *ops, struct tp_op_stack *stack, uint64_t flop, uint64_t bytes, const char *shape,
		   size_t length);

/* The thread's innermost open op; 0: none. */
static inline uint32_t tp_op_current(const struct tp_op_stack *stack)
{
	return stack->count ? stack->frames[stack->count - 1].op : 0;
}

/* The thread requested so many bytes, or gave them back. */
void tp_op_allocated(struct tp_op_stack *stack, uint64_t bytes);
void tp_op_freed(struct tp_op_stack *stack, uint64_t bytes);

/* What a thread has open is noted: it will not end any more. */
bool tp_ops_left_open(struct tp_ops *ops, const struct tp_op_stack *stack);

/* The ops that were met, by total time. NULL: no memory. */
struct tp_op_stats *tp_ops_result(struct tp_ops *ops, size_t *count);

#endif
