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
 *   replay_folded.c    calls that are added to a record after it was replayed
 *   replay_steps.c     steps, and what ends them
 *   replay_growth.c    growth with the steps, or with time
 *   replay_threads.c   the threads themselves
 *   replay_levels.c    levels of recording
 *   replay_ranks.c     calls by which the process communicates with others
 * replay_archive.c saves and loads all of them.
 */
#ifndef TPROF_MODEL_REPLAY_REPLAY_IMPL_H
#define TPROF_MODEL_REPLAY_REPLAY_IMPL_H

#include "base/archive.h"
#include "model/replay/replay.h"
#include "trace/number_archive.h"

/*
 * A part: its functions, of which each may be NULL. Its data is a member of struct tpa_replay, zeroed before init().
 * archive() saves the part, or loads it into one that was just initialized. look() adds what the part found to a result; it
 * is one of the replay's last acts, and may move lists into the result (tpa_replay_look() does it with a copy). sites() follows
 * when all parts have looked, and tells more of the result's sites; that of the heap moves them there.
 */
struct tpa_part {
	void (*init)(struct tpa_replay *replay);
	void (*archive)(struct tpa_archive *archive, struct tpa_replay *replay);
	void (*look)(struct tpa_replay *replay, struct tpa_process *process);
	void (*sites)(struct tpa_replay *replay, struct tpa_process *process);
	void (*free)(struct tpa_replay *replay);
};
extern const struct tpa_part tpa_part_time, tpa_part_order, tpa_part_heap, tpa_part_pools, tpa_part_maps,
	tpa_part_memory, tpa_part_cpu, tpa_part_ops, tpa_part_steps, tpa_part_growth, tpa_part_threads, tpa_part_folded,
	tpa_part_levels, tpa_part_ranks;

/* ---- threads ---- */

struct tpa_thread_state *tpa_replay_new_thread(struct tpa_replay *replay, const struct tpa_event *event);

/* The event's thread, made when its first event comes. Valid until the next call. */
static inline struct tpa_thread_state *tpa_replay_thread(struct tpa_replay *replay, const struct tpa_event *event)
{
	uint32_t index = event->thread < replay->threads.index_count ? replay->threads.index[event->thread] : 0;
	struct tpa_thread_state *thread;

	thread = __builtin_expect(index != 0, 1) ? &replay->threads.list[index - 1]
						 : tpa_replay_new_thread(replay, event);
	thread->last = event->time;
	return thread;
}

/* Whether what the event says counts: within the time, and of the thread, that are looked at. */
static inline bool tpa_replay_counts(const struct tpa_replay *replay, const struct tpa_event *event)
{
	return replay->inside && (!replay->options->thread || replay->options->thread == event->thread);
}

/* Takes what recording the event cost out of the time of the op that it happened in. */
static inline void tpa_replay_charge(const struct tpa_replay *replay, struct tpa_thread_state *thread,
				     const struct tpa_event *event)
{
	if (__builtin_expect(thread->open.count != 0, 0))
		tpa_op_charge(&thread->open,
			      tpa_cost_event(&replay->ops.cost, event->offset, event->kind == TPA_EVENT_FREE));
}

/* ---- FOLD records whose chunks have not ended ---- */

/* The next event is one, and is about to be replayed. `chunk`: where its chunk is in the file. */
void tpa_replay_folded_note(struct tpa_replay *replay, uint64_t chunk);

/* Counts what was added since to those that were noted. No event was replayed since the replay was loaded. */
void tpa_replay_folded_go_on(struct tpa_replay *replay);

/* Forgets those of chunks that had ended before that. */
void tpa_replay_folded_end(struct tpa_replay *replay, bool (*ended)(const void *context, uint64_t chunk),
			   const void *context);

/* ---- handlers of events ---- */

typedef void tpa_replay_handler(struct tpa_replay *replay, const struct tpa_event *event);

/* Of exact and of sampled runs: made twice, so that exact ones pay nothing for the others. */
tpa_replay_handler tpa_replay_alloc, tpa_replay_sampled_alloc, tpa_replay_free_block, tpa_replay_sampled_free_block;
tpa_replay_handler tpa_replay_cancel;
tpa_replay_handler tpa_replay_map, tpa_replay_unmap, tpa_replay_memory, tpa_replay_allocator, tpa_replay_region;
tpa_replay_handler tpa_replay_name, tpa_replay_sample, tpa_replay_pause;
tpa_replay_handler tpa_replay_op, tpa_replay_step_end, tpa_replay_mark, tpa_replay_counters, tpa_replay_usage;
tpa_replay_handler tpa_replay_comm, tpa_replay_comm_done;
tpa_replay_handler tpa_replay_pool_alloc, tpa_replay_pool_free, tpa_replay_level;

/* ---- pools, for the heap, and the other way round ---- */

/* Finds out which of the allocations to come are pools. */
void tpa_replay_find_pools(struct tpa_replay *replay);

/* A heap block that is a pool is allocated or freed. */
void tpa_replay_pool_begins(struct tpa_replay *replay, const struct tpa_event *event);
void tpa_replay_pool_ends(struct tpa_replay *replay, const struct tpa_event *event);

/* A block of a pool becomes live or ends: counts it in the heap. */
void tpa_replay_begin_block(struct tpa_replay *replay, const struct tpa_event *event, struct tpa_block *block);
void tpa_replay_end_block(struct tpa_replay *replay, struct tpa_thread_state *thread, const struct tpa_block *block,
			  uint64_t time);

/* Counts a free without its block. */
void tpa_replay_unmatched(struct tpa_replay *replay, const struct tpa_event *event);

/*
 * Whether an allocation in a pause is a reallocation of a block that was allocated in the pause as well. Such blocks do not
 * count; the writer can't tell them apart. The thread's last free was of the old block.
 */
bool tpa_replay_began_in_pause(const struct tpa_replay *replay, const struct tpa_thread_state *thread, uint8_t fn);

/* A CANCEL of the thread's last UNMAP. */
void tpa_replay_restore_map(struct tpa_replay *replay, struct tpa_thread_state *thread);

/* Ops of the thread have ended: so have the calls that they were. */
void tpa_replay_calls_end(struct tpa_replay *replay, const struct tpa_thread_state *thread,
			  const struct tpa_event *event);

/* Handles the call of an op that just ended, if one did: replay->ops.calls.last. */
void tpa_replay_call_ended(struct tpa_replay *replay, struct tpa_thread_state *thread);

/* ---- order, for the heap ---- */

/* The block at an allocated address was ended; its free may follow. */
void tpa_order_closed(struct tpa_replay *replay, const struct tpa_event *event);

/* Whether a free is the late one of such a block. */
bool tpa_order_was_closed(struct tpa_replay *replay, const struct tpa_event *event);

/* A free had no block; its allocation may follow. */
void tpa_order_unmatched(struct tpa_replay *replay, const struct tpa_event *event);

/* Whether an allocation is that one. */
bool tpa_order_is_freed_already(struct tpa_replay *replay, const struct tpa_event *event);

/* The next event; none behind the time that is looked at. */
static inline void tpa_replay_fetch(struct tpa_replay *replay)
{
	replay->event = tpa_events_next(replay->events);
	if (__builtin_expect(replay->event && replay->event->time > replay->to, 0)) {
		replay->cut = true;
		replay->event = NULL;
	}
}

/* ---- saving and loading ---- */

/* Like tpa_replay_init(), without fetching the first event. */
void tpa_replay_prepare(struct tpa_replay *replay, struct tpa_trace *trace, const struct tpa_replay_options *options,
			uint64_t start_ns);
void tpa_replay_archive_parts(struct tpa_archive *archive, struct tpa_replay *replay);

/* Whether each block's site is below `sites`: of blocks that were loaded. */
bool tpa_replay_blocks_have_sites(const struct tpa_live *live, size_t sites);

/* ---- the time that is looked at ---- */

/* `from` is reached: blocks that are live count in the peak, but not in the counts. */
void tpa_replay_begin(struct tpa_replay *replay, uint64_t time);
void tpa_replay_heap_begin(struct tpa_replay *replay, uint64_t time);
void tpa_replay_growth_begin(struct tpa_replay *replay, uint64_t time);

/* ---- holes between blocks, for the readings of smaps ---- */

/* How the allocator lays out its blocks; TPA_LAYOUT_UNKNOWN: it may have blocks that are not in the trace. */
enum tpa_hole_layout tpa_replay_hole_layout(const struct tpa_replay *replay);

/*
 * Where the first arena of a thread begins in the region (glibc); 0: nowhere. region->arena: the lowest block that has no mapping of
 * its own, or 0. The kernel joins an arena with what is mapped in front of it.
 */
uint64_t tpa_replay_arena_start(const struct tpa_replay *replay, const struct tpa_makeup_region *region);

/* A reading has been sorted: searches its heaps. `peak`: RSS was never larger. */
void tpa_replay_search_holes(struct tpa_replay *replay, uint64_t time, bool peak);

/* Moves the searches out, with times and nodes as results have them. */
struct tpa_hole_series tpa_replay_take_holes(struct tpa_replay *replay);
void tpa_replay_archive_holes(struct tpa_archive *archive, struct tpa_replay *replay);

/* ---- growth and steps ---- */

/* The replay's present state, as growth reads it. */
struct tpa_growth_inputs tpa_replay_growth_inputs(struct tpa_replay *replay);

/* Makes the looks by time that are due before the event at that time. */
void tpa_replay_growth_due(struct tpa_replay *replay, uint64_t time);

/* The totals at the begin or end of a step. */
struct tpa_step_moment tpa_replay_step_moment(const struct tpa_replay *replay, uint64_t ticks);

#endif
