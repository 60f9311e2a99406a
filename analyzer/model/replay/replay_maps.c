/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings: the mmap family. */
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

void tp_replay_map(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);
	bool file = event->map.remap ? thread->remapped_file : !(event->map.flags & MAP_ANONYMOUS);

	if (event->map.remap && replay->pause.on && !thread->undo.ranges.count)
		return; /* of a mapping that began in the pause */
	tp_maps_add(&replay->maps, event->map.address, range_end(event->map.address, event->map.length), event->node,
		    file);
	tp_replay_charge(replay, thread, event);
	replay->heap.counts.maps += replay->inside;
	replay->now.mapped_bytes = replay->maps.live;
}

void tp_replay_unmap(struct tp_replay *replay, const struct tp_event *event)
{
	struct tp_thread_state *thread = tp_replay_thread(replay, event);
	struct tp_maps *maps = &replay->maps;
	struct tp_ranges removed;
	struct tp_undo *undo;

	tp_replay_charge(replay, thread, event);
	undo = &thread->undo;
	undo->what = TP_UNDO_NOTHING;
	if (event->cancelled)
		return;
	tp_maps_remove(maps, event->unmap.address, range_end(event->unmap.address, event->unmap.length));
	thread->remapped_file = maps->removed.count && maps->sites[maps->removed.list[0].site].file;
	undo->what = TP_UNDO_UNMAP;
	undo->counted = replay->inside;
	/* The thread keeps the list, and its old one is used next. */
	removed = maps->removed;
	maps->removed = undo->ranges;
	undo->ranges = removed;
	replay->heap.counts.unmaps += replay->inside;
	replay->now.mapped_bytes = maps->live;
}

void tp_replay_restore_map(struct tp_replay *replay, struct tp_thread_state *thread)
{
	const struct tp_undo *undo = &thread->undo;

	tp_maps_restore(&replay->maps, undo->ranges.list, undo->ranges.count);
	replay->heap.counts.unmaps -= undo->counted;
	replay->now.mapped_bytes = replay->maps.live;
}

static void init(struct tp_replay *replay)
{
	tp_maps_init(&replay->maps, replay->trace);
}

static void archive(struct tp_archive *to, struct tp_replay *replay)
{
	tp_maps_archive(to, &replay->maps);
}

static void look(struct tp_replay *replay, struct tp_process *process)
{
	process->heap.mapped_peak = replay->maps.peak;
	process->heap.mapped_end = replay->maps.live;
	process->map_sites = tp_maps_result(&replay->maps, &process->map_site_count);
}

static void free_part(struct tp_replay *replay)
{
	tp_maps_free(&replay->maps);
}

const struct tp_part tp_part_maps = { .init = init, .archive = archive, .look = look, .free = free_part };
