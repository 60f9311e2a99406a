/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings: the mmap family; and what the kernel says of the process. */
#include <sys/mman.h>

#include "model/replay/replay_impl.h"

/* Whole pages; a range that goes beyond the address space ends there. */
static uint64_t range_end(uint64_t start, uint64_t length)
{
	uint64_t end = start + length;

	if (end < start || end > UINT64_MAX - 4095)
		return UINT64_MAX - 4095;
	return (end + 4095) & ~UINT64_C(4095);
}

bool tp_replay_map(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);
	bool file = event->map.remap ? thread && thread->remapped_file : !(event->map.flags & MAP_ANONYMOUS);

	if (thread && event->map.remap && replay->in_pause && !thread->undo.ranges.count)
		return true; /* of a mapping that began in the pause */
	if (!thread)
		return false;
	tp_maps_add(&replay->maps, event->map.address, range_end(event->map.address, event->map.length), event->node,
		    file);
	tp_replay_charge(replay, thread, event);
	replay->heap.maps += replay->inside;
	replay->now.mapped_bytes = replay->maps.live;
	return true;
}

bool tp_replay_unmap(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);
	struct tp_maps *maps = &replay->maps;
	struct tp_ranges removed;
	struct tp_undo *undo;

	if (!thread)
		return false;
	tp_replay_charge(replay, thread, event);
	undo = &thread->undo;
	undo->what = TP_UNDO_NOTHING;
	if (event->cancelled)
		return true;
	tp_maps_remove(maps, event->unmap.address, range_end(event->unmap.address, event->unmap.length));
	thread->remapped_file = maps->removed.count && maps->sites[maps->removed.list[0].site].file;
	undo->what = TP_UNDO_UNMAP;
	undo->counted = replay->inside;
	/* The thread keeps the list, and its old one is used next. */
	removed = maps->removed;
	maps->removed = undo->ranges;
	undo->ranges = removed;
	replay->heap.unmaps += replay->inside;
	replay->now.mapped_bytes = maps->live;
	return true;
}

/* Numbers that a record leaves out stay as they were. */
static void update_parts(struct tp_memory_parts *parts, const struct tp_memory_parts *read)
{
	if (read->counted) {
		*parts = *read;
	} else if (read->said) {
		parts->shared = read->shared;
		parts->said = true;
	}
}

bool tp_replay_memory(struct tp_replay *replay, const struct tp_event *event)
{
	replay->now.rss = event->memory.rss;
	replay->now.vms = event->memory.vms;
	update_parts(&replay->parts, event->memory.parts);
	if (!replay->makeup.began) {
		replay->makeup.began = true;
		if (replay->trace->header->origin == TPROF_ORIGIN_FORK && event->memory.rss > replay->parts.shared)
			replay->makeup.result.inherited = event->memory.rss - replay->parts.shared;
	}
	if (replay->inside && event->memory.rss > replay->heap.rss_peak)
		replay->heap.rss_peak = event->memory.rss;
	tp_timeline_record_rss(&replay->timeline, event->time, &replay->now);
	return true;
}

bool tp_replay_allocator(struct tp_replay *replay, const struct tp_event *event)
{
	if (!event->allocator)
		return true;
	replay->allocator_live = replay->now.live_bytes;
	if (replay->inside)
		tp_allocator_add(&replay->allocator, tp_replay_ns(replay, event->time), event->allocator);
	else
		replay->allocator.last = *event->allocator;
	return true;
}

void tp_replay_restore_map(struct tp_replay *replay, struct tp_thread_state *thread)
{
	const struct tp_undo *undo = &thread->undo;

	tp_maps_restore(&replay->maps, undo->ranges.list, undo->ranges.count);
	replay->heap.unmaps -= undo->counted;
	replay->now.mapped_bytes = replay->maps.live;
}
