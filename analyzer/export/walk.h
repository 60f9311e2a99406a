/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays the processes of an export one after the other and tells a visitor what happens, in the order of time. The memory that it
 * takes grows with live blocks, stacks and open ops, never with the length of the trace.
 *
 * Only what lies in the selected time range is told, and of a selected thread only its own ops, calls, samples and blocks; steps,
 * marks and memory are the process's. All times are nanoseconds since the run's start.
 */
#ifndef TPROF_EXPORT_WALK_H
#define TPROF_EXPORT_WALK_H

#include "export/export.h"
#include "model/replay/replay.h"

struct tpa_walk {
	struct tpa_export *export;
	size_t which; /* of export->traces */
	struct tpa_trace *trace;
	struct tpa_replay
		replay; /* in the state before the event that is told, unless a visitor's function says otherwise */
	uint64_t start_ns, end_ns; /* of the process, as far as its end is known */
	uint64_t from_ns;	   /* begin of the selected time range */
	uint64_t ops;		   /* ops begun so far, in all processes */
	bool truncated;		   /* export->limit ops were told, and the walk ends */

	/* For walk.c. */
	const struct tpa_visitor *visitor;
	void *to;
	bool inside;
	uint8_t *named; /* by thread: it was told of */
	uint32_t named_count;
	struct tpa_point high; /* highest live bytes of the interval */
	uint64_t interval_ns, due_ns;
	uint64_t rss; /* last value told */
	uint64_t steps, step_begin_ns;
};

/* A call of an op. */
struct tpa_walk_op {
	uint32_t thread, op;	   /* op: for tpa_walk_op_name() */
	uint64_t begin_ns, end_ns; /* end_ns: 0 when it begins */
	const char *shape;	   /* NULL: not known. Known only when the op ends, as is what follows */
	uint64_t flop, bytes;	   /* 0: not known */
	uint32_t level;		   /* ops around it on its thread */
	bool unwound;		   /* left by an exception or longjmp */
	bool open;		   /* not ended yet where the time range, or the trace, ends */
};

/* Calls that were recorded together, where the first of them began: the times of the single calls are not known. */
struct tpa_walk_folded {
	uint32_t thread, op;
	uint64_t ns;
	const char *shape; /* NULL: not known */
	uint64_t calls, timed, total_ns, min_ns,
		max_ns; /* of the timed ones: the sum of their times, shortest, longest */
};

struct tpa_walk_step {
	uint64_t number, begin_ns, end_ns, items;
};

struct tpa_walk_sample {
	uint32_t thread, node, op; /* op: innermost open one; 0: none */
	uint64_t ns, cpu_ns;	   /* CPU time that it stands for */
};

/* An allocation or a free, of the heap or a pool. */
struct tpa_walk_block {
	uint32_t thread, node; /* node: of an allocation */
	uint64_t ns, address, bytes;
	bool freed;
};

/* Each function may be NULL. Pointers are valid during the call. */
struct tpa_visitor {
	/* It asks only for ops as they begin and end, samples and events: the replay leaves out all else, which takes longer. */
	bool only_ops;
	void (*process)(void *to, struct tpa_walk *walk); /* begins */
	void (*process_end)(void *to, struct tpa_walk *walk, uint64_t ns);
	/* A thread, before anything else of it; `name` NULL: not known. Again when it takes another name. */
	void (*thread)(void *to, struct tpa_walk *walk, uint32_t thread, uint32_t tid, const char *name);
	/*
	 * Ops that are open where the time range begins are told of there, outermost first; ops that are open where it ends,
	 * there, innermost first. An op may end while ops within it stay open, as those of coroutines do.
	 */
	void (*op_begin)(void *to, struct tpa_walk *walk, const struct tpa_walk_op *op); /* state: after it */
	void (*op)(void *to, struct tpa_walk *walk, const struct tpa_walk_op *op);
	void (*folded)(void *to, struct tpa_walk *walk, const struct tpa_walk_folded *folded);
	/*
	 * Steps that the program marks, or that end with a backward pass; and, of formats that ask for a run, those that reports find
	 * by the period of the ops. State: after it.
	 */
	void (*step)(void *to, struct tpa_walk *walk, const struct tpa_walk_step *step);
	void (*mark)(void *to, struct tpa_walk *walk, uint64_t ns, uint32_t thread, const char *text, size_t length);
	/*
	 * The highest and the last live bytes of each of the 4,000 intervals (at least 10 us long) that the process's life is cut
	 * into; and RSS where it has changed then. State: any.
	 */
	void (*live)(void *to, struct tpa_walk *walk, uint64_t ns, uint64_t bytes);
	void (*rss)(void *to, struct tpa_walk *walk, uint64_t ns, uint64_t bytes);
	void (*sample)(void *to, struct tpa_walk *walk, const struct tpa_walk_sample *sample);
	void (*block)(void *to, struct tpa_walk *walk, const struct tpa_walk_block *block);
	/* Every event, as the trace has it, also those that other functions are called for. */
	void (*event)(void *to, struct tpa_walk *walk, uint64_t ns, const struct tpa_event *event);
};

/* Walks over all processes; a line on stderr if export->limit ends it early. False: export->out can't be written. */
bool tpa_walk(struct tpa_export *export, const struct tpa_visitor *visitor, void *to);

/*
 * Walks over export->traces[which], whose process began `start` nanoseconds after its run. Others may be walked over at the same time
 * by other threads, if no visitor writes to export->out.
 */
bool tpa_walk_one(struct tpa_export *export, size_t which, uint64_t start, const struct tpa_visitor *visitor, void *to);

/* The name and category of an op of a walk; TPA_UNNAMED and "op" if unknown. As the trace has them: any bytes. */
const char *tpa_walk_op_name(const struct tpa_walk *walk, uint32_t op);
const char *tpa_walk_op_category(const struct tpa_walk *walk, uint32_t op);

#endif
