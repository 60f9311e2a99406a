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

void tpa_replay_map(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_thread_state *thread = tpa_replay_thread(replay, event);
	bool file = event->map.remap ? thread->remapped_file : !(event->map.flags & MAP_ANONYMOUS);

	if (event->map.remap && replay->pause.on && !thread->undo.ranges.count)
		return; /* of a mapping that began in the pause */
	tpa_maps_add(&replay->maps, event->map.address, range_end(event->map.address, event->map.length),
		     tpa_event_node(replay->trace, event), file);
	tpa_replay_charge(replay, thread, event);
	replay->heap.counts.maps += replay->inside;
	replay->now.mapped_bytes = replay->maps.live;
}

void tpa_replay_unmap(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_thread_state *thread = tpa_replay_thread(replay, event);
	struct tpa_maps *maps = &replay->maps;
	struct tpa_ranges removed;
	struct tpa_undo *undo;

	tpa_replay_charge(replay, thread, event);
	undo = &thread->undo;
	undo->what = TPA_UNDO_NOTHING;
	if (event->cancelled)
		return;
	tpa_maps_remove(maps, event->unmap.address, range_end(event->unmap.address, event->unmap.length));
	thread->remapped_file = maps->removed.count && maps->sites[maps->removed.list[0].site].file;
	undo->what = TPA_UNDO_UNMAP;
	undo->counted = replay->inside;
	/* The thread takes the list; its old one is reused for the next removal. */
	removed = maps->removed;
	maps->removed = undo->ranges;
	undo->ranges = removed;
	replay->heap.counts.unmaps += replay->inside;
	replay->now.mapped_bytes = maps->live;
}

void tpa_replay_restore_map(struct tpa_replay *replay, struct tpa_thread_state *thread)
{
	const struct tpa_undo *undo = &thread->undo;

	tpa_maps_restore(&replay->maps, undo->ranges.list, undo->ranges.count);
	replay->heap.counts.unmaps -= undo->counted;
	replay->now.mapped_bytes = replay->maps.live;
}

static void init(struct tpa_replay *replay)
{
	tpa_maps_init(&replay->maps);
}

static void archive(struct tpa_archive *to, struct tpa_replay *replay)
{
	tpa_maps_archive(to, &replay->maps);
}

static void look(struct tpa_replay *replay, struct tpa_process *process)
{
	process->heap.mapped_peak = replay->maps.peak;
	process->heap.mapped_end = replay->maps.live;
	process->map_sites = tpa_maps_result(&replay->maps, &process->map_site_count);
}

static void free_part(struct tpa_replay *replay)
{
	tpa_maps_free(&replay->maps);
}

const struct tpa_part tpa_part_maps = { .init = init, .archive = archive, .look = look, .free = free_part };
