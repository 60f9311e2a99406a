/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the replay, for each other. replay.c has the table of parts and, for each kind of event, the function that
 * handles it. What an event does stands in the part that it belongs to:
 *   replay_time.c      pauses, marks, the timeline
 *   replay_order.c     repairs the order of events of different threads
 *   replay_heap.c      blocks: allocations, frees, and frees that are taken back
 *   replay_pools.c     pools of the program's own
 *   replay_maps.c      mappings
 *   replay_resident.c  RSS and what it is made of; what the allocator says of itself
 *   replay_cpu.c       CPU samples
 *   replay_ops.c       ops
 *   replay_steps.c     steps, and what ends them
 *   replay_growth.c    growth with the steps, or with time
 *   replay_threads.c   the threads themselves
 * replay_archive.c saves and loads all of them.
 */
#ifndef TPROF_MODEL_REPLAY_REPLAY_IMPL_H
#define TPROF_MODEL_REPLAY_REPLAY_IMPL_H

#include "base/archive.h"
#include "model/replay/replay.h"
#include "trace/number_archive.h"

/*
 * A part: its functions, of which each may be NULL. Its data is a member of struct tp_replay, zeroed before init().
 * archive() saves the part, or loads it into one that was just initialized. look() adds what the part found to a result; it
 * is the replay's last act, and may move lists into the result (tp_replay_look() does it with a copy).
 */
struct tp_part {
	void (*init)(struct tp_replay *replay);
	void (*archive)(struct tp_archive *archive, struct tp_replay *replay);
	void (*look)(struct tp_replay *replay, struct tp_process *process);
	void (*free)(struct tp_replay *replay);
};
extern const struct tp_part tp_part_time, tp_part_order, tp_part_heap, tp_part_pools, tp_part_maps, tp_part_memory,
	tp_part_cpu, tp_part_ops, tp_part_steps, tp_part_growth, tp_part_threads;

/* ---- threads ---- */

struct tp_thread_state *tp_replay_new_thread(struct tp_replay *replay, const struct tp_event *event);

/* The event's thread, made when its first event comes. Valid until the next call. */
static inline struct tp_thread_state *tp_replay_thread(struct tp_replay *replay, const struct tp_event *event)
{
	uint32_t index = event->thread < replay->threads.index_count ? replay->threads.index[event->thread] : 0;
	struct tp_thread_state *thread;

	thread = __builtin_expect(index != 0, 1) ? &replay->threads.list[index - 1]
						 : tp_replay_new_thread(replay, event);
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
	double part = event->kind == TP_EVENT_FREE ? replay->ops.cost.frees : 1;

	if (__builtin_expect(thread->open.count != 0, 0))
		tp_op_charge(&thread->open, part * tp_cost_event(&replay->ops.cost, event->offset));
}

/* ---- handlers of events ---- */

typedef void tp_replay_handler(struct tp_replay *replay, const struct tp_event *event);

/* Of exact and of sampled runs: made twice, so that exact ones pay nothing for the others. */
tp_replay_handler tp_replay_alloc, tp_replay_sampled_alloc, tp_replay_free_block, tp_replay_sampled_free_block;
tp_replay_handler tp_replay_cancel;
tp_replay_handler tp_replay_map, tp_replay_unmap, tp_replay_memory, tp_replay_allocator, tp_replay_region;
tp_replay_handler tp_replay_name, tp_replay_sample, tp_replay_pause;
tp_replay_handler tp_replay_op, tp_replay_step_end, tp_replay_mark, tp_replay_counters, tp_replay_usage;
tp_replay_handler tp_replay_pool_alloc, tp_replay_pool_free;

/* ---- pools, for the heap, and the other way round ---- */

/* A heap block that is a pool is allocated, freed. */
void tp_replay_pool_begins(struct tp_replay *replay, const struct tp_event *event);
void tp_replay_pool_ends(struct tp_replay *replay, const struct tp_event *event);

/* A block of a pool begins or ends to live: all that the heap's numbers make of it. */
void tp_replay_begin_block(struct tp_replay *replay, const struct tp_event *event, struct tp_block *block);
void tp_replay_end_block(struct tp_replay *replay, struct tp_thread_state *thread, const struct tp_block *block,
			 uint64_t time);

/* There was no such block. */
void tp_replay_unmatched(struct tp_replay *replay, const struct tp_event *event);

/*
 * Whether an allocation in a pause is a reallocation of a block that began in it too: those are not told apart by the
 * writer, and do not count. The thread's last free was of the old block.
 */
bool tp_replay_began_in_pause(const struct tp_replay *replay, const struct tp_thread_state *thread, uint8_t fn);

/* A CANCEL of the thread's last UNMAP. */
void tp_replay_restore_map(struct tp_replay *replay, struct tp_thread_state *thread);

/* A call of an op ended, if it did: replay->ops.calls.last. */
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

/* The next event; none behind the time that is looked at. */
static inline void tp_replay_fetch(struct tp_replay *replay)
{
	replay->event = tp_events_next(replay->events);
	if (__builtin_expect(replay->event && replay->event->time > replay->to, 0)) {
		replay->cut = true;
		replay->event = NULL;
	}
}

/* ---- saving and loading ---- */

/* All of tp_replay_init() but the first event. */
void tp_replay_prepare(struct tp_replay *replay, struct tp_trace *trace, const struct tp_replay_options *options,
		       uint64_t start_ns);
void tp_replay_archive_parts(struct tp_archive *archive, struct tp_replay *replay);

/* Whether each block's site is below `sites`: of blocks that were loaded. */
bool tp_replay_blocks_have_sites(const struct tp_live *live, size_t sites);

/* ---- the time that is looked at ---- */

/* It begins: what is live counts towards the peak, not towards the rest. */
void tp_replay_begin(struct tp_replay *replay, uint64_t time);
void tp_replay_heap_begin(struct tp_replay *replay, uint64_t time);
void tp_replay_growth_begin(struct tp_replay *replay, uint64_t time);

/* ---- growth and steps ---- */

/* What growth reads of the replay as it is now. */
struct tp_growth_inputs tp_replay_growth_inputs(struct tp_replay *replay);

/* A look by time is due, before the event of that time. */
void tp_replay_growth_due(struct tp_replay *replay, uint64_t time);

/* Of a step that begins or ends at that time. */
struct tp_step_moment tp_replay_step_moment(const struct tp_replay *replay, uint64_t ns);

#endif
