/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the replay, for each other: replay.c drives, and has one line for each kind of event in its table; what an
 * event does stands in the part that it belongs to:
 *   replay_heap.c     blocks: allocations, frees, and frees that are taken back
 *   replay_order.c    what repairs the order of events of different threads
 *   replay_maps.c     mappings, RSS and address space
 *   replay_makeup.c   what RSS is made of
 *   replay_threads.c  the threads themselves, their names, their CPU samples
 *   replay_ops.c      ops
 *   replay_steps.c    steps, and what ends them; marks
 *   replay_pools.c    pools of the program's own
 *   replay_result.c   what comes out
 *   replay_archive.c  saving, loading, and looking
 * Handlers return false when memory is out, and only then.
 */
#ifndef TPROF_MODEL_REPLAY_REPLAY_IMPL_H
#define TPROF_MODEL_REPLAY_REPLAY_IMPL_H

#include "model/replay/replay.h"

/* ---- threads ---- */

struct tp_thread_state *tp_replay_new_thread(struct tp_replay *replay, const struct tp_event *event);

/* The event's thread. NULL: no memory. Valid until the next call. */
static inline struct tp_thread_state *tp_replay_thread(struct tp_replay *replay, const struct tp_event *event)
{
	uint32_t index = event->thread < replay->index_count ? replay->thread_index[event->thread] : 0;
	struct tp_thread_state *thread;

	thread = __builtin_expect(index != 0, 1) ? &replay->threads[index - 1] : tp_replay_new_thread(replay, event);
	if (thread)
		thread->last = event->time;
	return thread;
}

/* Whether what the event says counts: within the time, and of the thread, that are looked at. */
static inline bool tp_replay_counts(const struct tp_replay *replay, const struct tp_event *event)
{
	return replay->inside && (!replay->options->thread || replay->options->thread == event->thread);
}

/* Takes what recording the event cost out of the time of the op that it happened in. */
static inline void tp_replay_charge(const struct tp_replay *replay, struct tp_thread_state *thread,
				    const struct tp_event *event)
{
	double part = event->kind == TP_EVENT_FREE ? replay->cost.frees : 1;

	if (__builtin_expect(thread->open.count != 0, 0))
		tp_op_charge(&thread->open, part * tp_cost_event(&replay->cost, event->offset));
}

/* ---- handlers of events ---- */

typedef bool tp_replay_handler(struct tp_replay *replay, const struct tp_event *event);

/* Of exact and of sampled runs: made twice, so that exact ones pay nothing for the others. */
tp_replay_handler tp_replay_alloc, tp_replay_sampled_alloc, tp_replay_free_block, tp_replay_sampled_free_block;
tp_replay_handler tp_replay_cancel;
tp_replay_handler tp_replay_map, tp_replay_unmap, tp_replay_memory, tp_replay_allocator, tp_replay_region;
tp_replay_handler tp_replay_name, tp_replay_sample, tp_replay_pause;
tp_replay_handler tp_replay_op, tp_replay_step_end, tp_replay_mark, tp_replay_counters, tp_replay_usage;
tp_replay_handler tp_replay_pool_alloc, tp_replay_pool_free;

/* ---- pools, for the heap, and the other way round ---- */

/* A heap block that is a pool is allocated, freed. */
bool tp_replay_pool_begins(struct tp_replay *replay, const struct tp_event *event);
bool tp_replay_pool_ends(struct tp_replay *replay, const struct tp_event *event);

/* A block of a pool begins or ends to live: all that the heap's numbers make of it. False: no memory. */
bool tp_replay_begin_block(struct tp_replay *replay, const struct tp_event *event, struct tp_block *block);
void tp_replay_end_block(struct tp_replay *replay, struct tp_thread_state *thread, const struct tp_block *block,
			 uint64_t time);

/* There was no such block. */
bool tp_replay_unmatched(struct tp_replay *replay, const struct tp_event *event);

/*
 * Whether an allocation in a pause is a reallocation of a block that began in it too: those are not told apart by the
 * writer, and do not count. The thread's last free was of the old block.
 */
bool tp_replay_began_in_pause(const struct tp_replay *replay, const struct tp_thread_state *thread, uint8_t fn);

/* A CANCEL of the thread's last UNMAP. */
void tp_replay_restore_map(struct tp_replay *replay, struct tp_thread_state *thread);

/* A call of an op ended, if it did: replay->ops.last. */
void tp_replay_call_ended(struct tp_replay *replay, struct tp_thread_state *thread);

/* ---- order, for the heap ---- */

/* An address is allocated that is live: its block was ended, and the free may be on its way. */
void tp_order_closed(struct tp_replay *replay, const struct tp_event *event);

/* Whether a free is the late one of such a block. */
bool tp_order_was_closed(struct tp_replay *replay, const struct tp_event *event);

/* A free had no block: its allocation may be on its way. */
void tp_order_unmatched(struct tp_replay *replay, const struct tp_event *event);

/* Whether an allocation is that one. */
bool tp_order_is_freed_already(struct tp_replay *replay, const struct tp_event *event);

/* The next event; none behind the time that is looked at. False: no memory. */
static inline bool tp_replay_fetch(struct tp_replay *replay)
{
	replay->event = tp_events_next(replay->events);
	if (__builtin_expect(!replay->event, 0))
		return !tp_events_failed(replay->events);
	if (__builtin_expect(replay->event->time > replay->to, 0)) {
		replay->cut = true;
		replay->event = NULL;
	}
	return true;
}

/* ---- saving and loading ---- */

/* All of tp_replay_init() but the first event. */
bool tp_replay_prepare(struct tp_replay *replay, struct tp_trace *trace, const struct tp_replay_options *options,
		       uint64_t start_ns);

/* ---- time ---- */

/* The time that is looked at begins: what is live counts towards the peak, not towards the rest. */
void tp_replay_begin(struct tp_replay *replay, uint64_t time);

/* What ends a step, as far as that is known beforehand: an op of the torch preset. */
void tp_replay_find_anchor(struct tp_replay *replay);

/* What growth reads of the replay as it is now. */
struct tp_growth_inputs tp_replay_growth_inputs(struct tp_replay *replay);

/* Of a step that begins or ends at that time. */
struct tp_step_moment tp_replay_step_moment(const struct tp_replay *replay, uint64_t ns);

/* ---- results ---- */

bool tp_replay_result_threads(struct tp_replay *replay, struct tp_process *process);
bool tp_replay_result_ops(struct tp_replay *replay, struct tp_process *process);
bool tp_replay_result_steps(struct tp_replay *replay, struct tp_process *process);

#endif
