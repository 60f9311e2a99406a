/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history of one process: what each stack held, what ran and what the CPU did, over time. It is made in a replay of
 * its own, which looks at the counts at some hundred moments and keeps the differences. So memory grows with the moments
 * and with what changed between them, never with the number of events, and the sums are those of the other reports.
 *
 * A look is a moment: interval i lies between look i and look i + 1. Look 0 is the begin of the time that is looked at;
 * what lives then counts in no interval. One look is at the exact event of the peak.
 */
#ifndef TPROF_MODEL_REPLAY_HISTORY_H
#define TPROF_MODEL_REPLAY_HISTORY_H

#include "model/options.h"
#include "model/result/result.h"

/* How fine a history is. */
struct tpa_history_limits {
	size_t looks; /* at least 2; one more is at the peak */
	size_t calls; /* single calls that are kept: the longest. At least 1 */
};

/* A stack in an op. Bytes and blocks are estimates where allocations were sampled. */
struct tpa_history_site {
	uint32_t node, op;		   /* as in struct tpa_site */
	int64_t begin_bytes, begin_blocks; /* live at look 0 */
	uint64_t peak_bytes, peak_blocks;
	uint64_t end_bytes, end_blocks; /* unfreed */
	uint64_t bytes, allocations, temporary;
};

/* How a site changed in an interval. */
struct tpa_history_change {
	uint32_t site;
	int64_t live_bytes, live_blocks;
	uint64_t bytes, allocations, temporary; /* allocated */
};

/* CPU samples of a stack, thread and op in an interval. */
struct tpa_history_sample {
	uint32_t where; /* index in `cpu` */
	uint64_t periods;
};

/* Calls that ended in an interval, by their place in the tree of calls. */
struct tpa_history_op {
	uint32_t node; /* in process->op_nodes */
	uint64_t calls, total_ns, self_ns;
};

/* What a thread did in an interval. */
struct tpa_history_thread {
	uint32_t thread; /* its number */
	uint64_t periods, op_ns, bytes, allocations;
};

/* A single call of an op. */
struct tpa_history_call {
	uint32_t thread, op; /* thread: its number */
	uint32_t node;	     /* in process->op_nodes */
	uint32_t depth;	     /* ops that were open around it */
	uint64_t begin_ns, end_ns;
};

/*
 * The process's memory at a look, in bytes: RSS as it was last sampled (0: not yet), and what of it is known to be something
 * else than the heap.
 */
struct tpa_history_memory {
	uint64_t live, rss;
	uint64_t shared; /* files and shared memory */
	uint64_t own, stacks, mapped;
};

/* Changes of a kind, of all intervals one after the other. */
#define TPA_HISTORY_LIST(type)                                                                                         \
	struct {                                                                                                       \
		type *list;                                                                                            \
		size_t count, room;                                                                                    \
		size_t *ends; /* by interval: the number of changes up to its end */                                   \
	}

struct tpa_history {
	uint64_t *looks_ns;		   /* times of the looks, since the run's start */
	struct tpa_history_memory *memory; /* by look */
	size_t look_count;		   /* at least 1; intervals: one less */
	size_t peak_look;		   /* the look at the peak; SIZE_MAX: none */

	struct tpa_history_site *sites;
	size_t site_count;
	TPA_HISTORY_LIST(struct tpa_history_change) changes;

	struct tpa_cpu_site *cpu; /* all samples */
	size_t cpu_count;
	TPA_HISTORY_LIST(struct tpa_history_sample) samples;

	TPA_HISTORY_LIST(struct tpa_history_op) ops;

	TPA_HISTORY_LIST(struct tpa_history_thread) work;

	struct tpa_history_call *calls; /* in order of their begins */
	size_t call_count, call_room;
	uint64_t calls_seen;  /* all single calls that ended */
	uint64_t shortest_ns; /* shorter ones are not in the list */
};

/*
 * Replays the trace of `process`, which is a result of a replay with the same options. Free it with tpa_history_free().
 */
struct tpa_history *tpa_history_make(struct tpa_trace *trace, const struct tpa_process *process,
				     const struct tpa_replay_options *options, const struct tpa_history_limits *limits);
void tpa_history_free(struct tpa_history *history);

#endif
