/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The replay of one process: what each event does to the heap, the mappings and the counts. run.c feeds it. Replays of different traces
 * may run on different threads.
 */
#ifndef TPROF_MODEL_REPLAY_REPLAY_H
#define TPROF_MODEL_REPLAY_REPLAY_H

#include "model/samples/allocator.h"
#include "model/ops/cost.h"
#include "model/samples/cpu.h"
#include "model/heap/estimate.h"
#include "model/growth/growth.h"
#include "model/heap/live.h"
#include "model/samples/levels.h"
#include "model/heap/maps.h"
#include "model/ops/ops.h"
#include "model/steps/period.h"
#include "model/heap/pools.h"
#include "model/options.h"
#include "model/result/result.h"
#include "model/heap/sites.h"
#include "model/steps/steps.h"
#include "model/samples/timeline.h"
#include "model/samples/counters.h"
#include "base/pairs.h"
#include "trace/events.h"

/* What a CANCEL takes back: the thread's last FREE or UNMAP. */
struct tpa_undo {
	enum { TPA_UNDO_NOTHING, TPA_UNDO_FREE, TPA_UNDO_UNMATCHED, TPA_UNDO_UNMAP } what;
	struct tpa_block block;
	bool counted, temporary, short_lived;
	struct tpa_ranges ranges;
};

struct tpa_thread_state {
	struct tpa_thread_stats stats;
	uint64_t first, last; /* event times */
	uint64_t newest;      /* address of its last event's allocation; TPA_NO_ADDRESS if that was none */
	uint64_t newest_time;
	bool remapped_file; /* the range that it is about to mremap belongs to a file */
	struct tpa_undo undo;
	struct tpa_op_stack open;
	struct tpa_sequence calls; /* of ops */
	uint64_t counters_time;	   /* event time of a COUNTERS event, if that was its last event; else 0 */
	double counters_cost;	   /* ticks that reading them took before the last op */
	uint64_t cpu_ns;	   /* by its last USAGE event; 0: there was none */
	uint64_t usage_ticks;	   /* of that event, if no op event followed it; else 0 */
	struct tpa_estimate allocations, frees, bytes; /* of a sampled run */
};
#define TPA_NO_ADDRESS UINT64_MAX

/* An event that came too early or too late for its block, kept as long as its counterpart may still come. */
struct tpa_stray {
	uint64_t address, time;
	uint32_t thread; /* 0: either of two threads */
};
#define TPA_STRAYS 32

/* ---- the parts ---- */

/* Live blocks, by site and for the whole process. */
struct tpa_part_heap {
	struct tpa_live live;
	struct tpa_sites sites;
	struct tpa_estimates estimates; /* of a sampled run */
	struct tpa_outlived outlived;
	struct tpa_amount amount, before; /* live; `before`: those of them that were allocated before `from` */
	uint64_t peak_number, peak_time;
	struct tpa_heap counts;
	uint64_t short_time; /* event time within which a block is short-lived */
};

/* Repairs the order of events of different threads. */
struct tpa_part_order {
	struct tpa_stray early[TPA_STRAYS], late[TPA_STRAYS]; /* late: blocks closed because their address came again */
	unsigned early_next, late_next, late_count;
	uint64_t stray_time; /* event time within which order may be repaired */
	uint64_t early_time; /* event time by which a free may stand before its block's allocation */
};

/* Pauses of the recording. */
struct tpa_part_pause {
	uint64_t count, time; /* time: event time of all pauses that have ended */
	uint64_t began;	      /* event time */
	bool on;
};

/* CPU samples. */
struct tpa_part_cpu {
	struct tpa_cpu_counts sites;
	struct tpa_cpu outside; /* of every op */
	uint64_t periods;	/* of all */
};

/* The latest counts of the kernel, read at `ticks`; own_cpu_ns is that of the thread that read them. */
struct tpa_part_usage {
	struct tpa_usage last;
	uint64_t ticks;
	bool known;
};

/* What the memory of the process consists of, as reported by the kernel and the allocator. */
struct tpa_part_memory {
	struct tpa_memory_parts parts; /* of now.rss */
	struct tpa_makeup_state makeup;
	struct tpa_hole_series holes;
	uint64_t sorted; /* blocks that were searched for holes so far */
	struct tpa_allocator_series allocator;
	uint64_t allocator_live; /* live bytes at the allocator's last report */
};

struct tpa_part_op {
	struct tpa_ops calls;
	struct tpa_cost cost; /* of recording */
	struct tpa_counters counters;
	double counters_cost; /* of all threads, in ticks */
};

/* An op each of whose calls ends a training step. */
struct tpa_anchor {
	enum tpa_step_source source; /* TPA_STEPS_NONE: there is no such op */
	uint32_t op;
	uint32_t shape;		  /* index + 1; 0: any */
	uint32_t thread;	  /* 0: any */
	struct tpa_period period; /* if it was found by that */
};

struct tpa_part_step {
	struct tpa_steps steps;
	struct tpa_anchor anchor; /* whose calls end the steps, if no STEP does */
	uint32_t engine;	  /* op that becomes the anchor if it is called before any STEP; 0: none */
	uint32_t sequences;	  /* threads whose calls are remembered, to find the anchor by its period */
};

/* Growth with the steps and, while there are none, with time. */
struct tpa_part_growth {
	struct tpa_growth of_steps, of_time;
};

struct tpa_part_threads {
	struct tpa_thread_state *list;
	size_t count, room;
	uint32_t *index; /* by number: index + 1 */
	size_t index_count, index_room;
};

/* A FOLD record that was replayed before its chunk had ended: replay_folded.c. */
struct tpa_early_fold {
	uint64_t offset;	/* of the record in the file */
	uint64_t chunk, began;	/* offset and begin of its chunk, ticks */
	uint64_t op;		/* number in the file */
	uint32_t thread, depth; /* of the calls: ops that were open around them */
	uint32_t lasted, lasted_calls;
	struct tprof_fold counts; /* what was counted so far; with those before it, as in struct tpa_folded */
	bool counted;
};

struct tpa_part_folded {
	struct tpa_early_fold *list;
	size_t count, room;
};

struct tpa_archive;

/* A call that has not ended: it ends with the thread's op at that depth. */
struct tpa_open_call {
	size_t call; /* index */
	uint32_t thread, depth;
};

/* Calls by which the process communicates; times in ticks. */
struct tpa_part_ranks {
	struct tpa_comm_call *calls;
	size_t count, room;
	struct tpa_open_call *open;
	size_t open_count, open_room;
	struct tpa_pairs requests; /* number -> index of the call that began it, + 1 */
	uint8_t *parts;		   /* as in struct tpa_rank_process */
	size_t part_bytes, part_room;
	struct tpa_pairs parts_at; /* (hash, bytes) -> the last such, as struct tpa_comm_call has it */
	uint64_t counted;	   /* calls that were not kept */
};

struct tpa_replay {
	struct tpa_trace *trace;
	const struct tpa_replay_options *options;
	struct tpa_events *events;
	const struct tpa_event *event; /* the next one; NULL: no more */
	uint64_t start_ns;	       /* since the run's start */
	bool sampled;		       /* allocations were sampled, or may have been: see tpa_replay_estimated() */

	uint64_t from, to;    /* event times of --from and --to, both inclusive */
	bool inside;	      /* `from` has been reached */
	bool cut;	      /* there are events after `to` */
	uint64_t first, last; /* event times */
	struct tpa_point now; /* the current state, from which the timeline is made */

	struct tpa_part_heap heap;
	struct tpa_part_order order;
	struct tpa_pools pools;
	struct tpa_maps maps;
	struct tpa_part_memory memory;
	struct tpa_timeline timeline;
	struct tpa_marks marks;
	struct tpa_part_pause pause;
	struct tpa_part_cpu cpu;
	struct tpa_part_usage usage;
	struct tpa_part_op ops;
	struct tpa_part_step steps;
	struct tpa_part_growth growth;
	struct tpa_part_threads threads;
	struct tpa_part_folded folded;
	struct tpa_levels levels;
	struct tpa_part_ranks ranks;
};

/* Whether blocks may have been left out up to now: numbers of the heap are estimates. */
static inline bool tpa_replay_estimated(const struct tpa_replay *replay)
{
	return replay->heap.estimates.widest > 0;
}

/* Call tpa_replay_free() afterwards. The trace and the options must outlive the replay. */
void tpa_replay_init(struct tpa_replay *replay, struct tpa_trace *trace, const struct tpa_replay_options *options,
		     uint64_t start_ns);
void tpa_replay_free(struct tpa_replay *replay);

/* Replays `event` and fetches the next one. */
void tpa_replay_step(struct tpa_replay *replay);

/* Replays `count` events, or all that are left. */
void tpa_replay_steps(struct tpa_replay *replay, size_t count);

/* Event time, or ticks, to nanoseconds since the run's start: exact once all of the trace is known. */
uint64_t tpa_replay_ns(const struct tpa_replay *replay, uint64_t time);
uint64_t tpa_replay_ticks_ns(const struct tpa_replay *replay, uint64_t ticks);

/* Event time to ticks, in which the replay counts. */
static inline uint64_t tpa_replay_ticks(const struct tpa_replay *replay, uint64_t time)
{
	return time << replay->trace->header->tick_shift;
}

/*
 * When the process ended, in nanoseconds since the run's start, once its events are replayed: at its last event or, if that is
 * later, when it wrote its end. If it runs on this machine, that is now; if it was killed, the last moment in the trace.
 */
uint64_t tpa_replay_end_ns(const struct tpa_replay *replay);

/*
 * After a replay without marked steps: finds the op whose calls end the steps in a second replay. source TPA_STEPS_NONE: there
 * are steps already, or there is no period.
 */
void tpa_replay_period(struct tpa_replay *replay, struct tpa_anchor *anchor);

/*
 * Saves the replay as it stands between two events, without a change to it. False: archive->failed says why.
 *
 * tpa_replay_load() makes a replay of that which goes on where the saved one stood, with the same results; of the same trace,
 * also when it has grown since, and with the same options. False: archive->failed says why; tpa_replay_free() is due in any
 * case.
 */
bool tpa_replay_save(const struct tpa_replay *replay, struct tpa_archive *archive);
bool tpa_replay_load(struct tpa_replay *replay, struct tpa_trace *trace, const struct tpa_replay_options *options,
		     uint64_t start_ns, struct tpa_archive *archive);

/*
 * Like tpa_replay_init(); of a ring, continues from its checkpoint. A checkpoint that can't be loaded is added to the trace's
 * damage, and the replay begins with the events in the file. Returns whether there is a checkpoint and it was loaded.
 */
bool tpa_replay_open(struct tpa_replay *replay, struct tpa_trace *trace, const struct tpa_replay_options *options,
		     uint64_t start_ns);

/*
 * Refreshes the trace (tpa_trace_refresh()), and goes on with the events that were added. False: *error says why (heap string);
 * the replay is back at the trace's begin, and tpa_replay_free() is to be called as ever.
 */
bool tpa_replay_refresh(struct tpa_replay *replay, char **error);

/*
 * The result as if the trace ended here; the replay is not changed. Takes the time and memory of a copy. False: the replay
 * can't be saved.
 */
bool tpa_replay_look(const struct tpa_replay *replay, struct tpa_process *process);

/* Fills *process, and moves lists out of the replay, which can only be freed afterwards. */
void tpa_replay_result(struct tpa_replay *replay, struct tpa_process *process);

#endif
