/* SPDX-License-Identifier: Apache-2.0 */
/* At readings of smaps: which blocks keep free memory from being returned (model/heap/holes.h). */
#include <string.h>

#include "base/archive.h"
#include "model/replay/replay_impl.h"

/* glibc's heaps of threads begin at multiples of it (malloc/arena.c: HEAP_MAX_SIZE). */
#define ARENA (UINT64_C(64) << 20)
#define YOUNG_PART 64	      /* blocks of the last of so many parts of the run are young */
#define SORTED_MOST 16000000u /* blocks: when so many were searched, half of the readings are passed by; and so on */

static bool is_libc(const char *path)
{
	return !*path || strstr(path, "/libc.so") || strstr(path, "/libc-");
}

static bool is_off(const struct tpa_trace *trace)
{
	for (size_t i = 0; i < trace->env_count; i++)
		if (strcmp(trace->env[i], "TPROF_ALLOC=off") == 0)
			return true;
	return false;
}

enum tpa_hole_layout tpa_replay_hole_layout(const struct tpa_replay *replay)
{
	const struct tprof_header *header = replay->trace->header;

	if (tpa_replay_estimated(replay) || header->origin == TPROF_ORIGIN_FORK || replay->pause.count ||
	    replay->pause.on ||
	    (header->flags & (TPROF_FLAG_FOREIGN_MALLOC | TPROF_FLAG_WAITED | TPROF_FLAG_DEEPBIND)) ||
	    is_off(replay->trace))
		return TPA_LAYOUT_UNKNOWN;
	if (is_libc(replay->trace->malloc_path))
		return TPA_LAYOUT_CHUNKS;
	return strstr(replay->trace->malloc_path, "jemalloc") ? TPA_LAYOUT_SLABS : TPA_LAYOUT_PAGES;
}

uint64_t tpa_replay_arena_start(const struct tpa_replay *replay, const struct tpa_makeup_region *region)
{
	const struct tpa_region *is = &region->is;
	uint64_t start = region->arena & ~(ARENA - 1);

	if (is->kind != TPROF_REGION_ANONYMOUS)
		return 0;
	if (region->arena && start >= is->low)
		return start;
	return is->low % ARENA == 0 && is->high - is->low <= ARENA && replay->trace->header->threads > 1 ? is->low : 0;
}

static void add_arenas(struct tpa_holes *holes, const struct tpa_makeup_region *region)
{
	const struct tpa_region *is = &region->is;

	for (uint64_t low = region->arena; low < is->high; low += ARENA) {
		uint64_t high = is->high - low > ARENA ? low + ARENA : is->high, space = high - low;

		if (space > region->heap_space)
			space = region->heap_space;
		if (space)
			tpa_holes_add_heap(holes,
					   &(struct tpa_hole_heap){ low, high,
								    (uint64_t)((double)region->heap * (double)space /
									       (double)region->heap_space),
								    true });
	}
}

static void add_heaps(const struct tpa_replay *replay, struct tpa_holes *holes)
{
	const struct tpa_makeup_state *state = &replay->memory.makeup;

	for (size_t i = 0; i < state->plain; i++) {
		const struct tpa_makeup_region *region = &state->list[i];
		const struct tpa_region *is = &region->is;

		if (is->kind == TPROF_REGION_HEAP)
			tpa_holes_add_heap(holes, &(struct tpa_hole_heap){ is->low, is->high, is->rss, false });
		else if (region->arena && region->blocks)
			add_arenas(holes, region);
	}
}

/* What is allocated later is young: in the step that goes on or, without steps, in the last part of the run. */
static uint64_t young_from(const struct tpa_replay *replay, uint64_t time)
{
	uint64_t step = replay->steps.steps.begin_ns >> replay->trace->header->tick_shift;

	if (replay->steps.steps.ended && step < time)
		return step;
	return time - (time > replay->first ? (time - replay->first) / YOUNG_PART : 0);
}

void tpa_replay_search_holes(struct tpa_replay *replay, uint64_t time, bool peak)
{
	struct tpa_part_memory *memory = &replay->memory;
	struct tpa_holes holes = { .layout = tpa_replay_hole_layout(replay) };

	if (replay->options->group == TPA_GROUP_NONE || holes.layout == TPA_LAYOUT_UNKNOWN ||
	    memory->makeup.result.readings % (1 + memory->sorted / SORTED_MOST))
		return;
	holes.cutoff = young_from(replay, time);
	add_heaps(replay, &holes);
	tpa_holes_find(&holes, &replay->heap.live, replay->heap.sites.count);
	memory->sorted += holes.block_count;
	tpa_hole_series_add(&memory->holes, &holes, time, replay->steps.steps.ended, peak);
	tpa_holes_free(&holes);
}

static void name(const struct tpa_replay *replay, struct tpa_hole_reading *reading)
{
	reading->time = tpa_replay_ns(replay, reading->time);
	for (size_t i = 0; i < reading->count; i++) {
		const struct tpa_site_state *site = &replay->heap.sites.list[reading->list[i].site];

		reading->list[i].node = site->node;
		reading->list[i].op = site->op;
	}
}

struct tpa_hole_series tpa_replay_take_holes(struct tpa_replay *replay)
{
	struct tpa_hole_series series = replay->memory.holes;

	replay->memory.holes = (struct tpa_hole_series){ .count = 0 };
	for (size_t i = 0; i < series.count; i++)
		name(replay, &series.list[i]);
	if (series.peak.time)
		name(replay, &series.peak);
	return series;
}

static bool have_sites(const struct tpa_hole_reading *reading, size_t sites)
{
	for (size_t i = 0; i < reading->count; i++)
		if (reading->list[i].site >= sites)
			return false;
	return true;
}

void tpa_replay_archive_holes(struct tpa_archive *archive, struct tpa_replay *replay)
{
	struct tpa_hole_series *series = &replay->memory.holes;
	size_t sites = replay->heap.sites.count;
	bool good;

	TPA_ARCHIVE(archive, replay->memory.sorted);
	tpa_hole_series_archive(archive, series);
	good = have_sites(&series->peak, sites);
	for (size_t i = 0; i < series->count; i++)
		good = good && have_sites(&series->list[i], sites);
	tpa_archive_check(archive, good, "a hole is of no site");
}
