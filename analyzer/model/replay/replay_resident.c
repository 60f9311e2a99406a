/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of smaps: each region is put down to what it is. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model/replay/replay_impl.h"
#include "base/memory.h"
#include "base/order.h"

#define REGIONS_MOST 8192u /* of a reading; one with more is damaged */
#define SMALL                                                                                                          \
	(UINT64_C(1) << 20)    /* of the loader, for threads' data: less than that is not taken for the program's own */
#define BLOCKS_MOST 400000000u /* that are looked at, in all readings together; blocks are then taken for the heap's */

/* What the region is found to consist of, for the time of one reading. */
struct sorting {
	struct tpa_makeup_state *state;
	const struct tpa_replay *replay;
	struct tpa_makeup_moment *moment;
	struct tpa_makeup_region *region;
	uint64_t space, rss; /* of the region, before its mappings were taken out */
};

/* ---- amounts ---- */

static void add_whole(struct sorting *sorting, const struct tpa_makeup_owner *owner)
{
	struct tpa_makeup_moment *moment = sorting->moment;

	moment->sample.parts[owner->part] += owner->bytes;
	if (!owner->bytes)
		return;
	*TPA_APPEND(moment->owners, moment->count, moment->room) = *owner;
}

static void add_owner(struct sorting *sorting, enum tpa_makeup_part part, uint32_t node, uint32_t file, uint64_t bytes)
{
	add_whole(sorting, &(struct tpa_makeup_owner){ .part = part, .node = node, .file = file, .bytes = bytes });
}

/* Takes out what so many bytes of addresses hold of the region: exact where all pages are there, or none. */
static uint64_t share_of(struct sorting *sorting, uint64_t space)
{
	struct tpa_makeup_region *region = sorting->region;
	uint64_t bytes;

	if (space > region->space)
		space = region->space;
	if (!space)
		return 0;
	bytes = (uint64_t)((unsigned __int128)sorting->rss * space / sorting->space) & ~UINT64_C(4095);
	if (space == region->space || bytes > region->rest)
		bytes = region->rest;
	region->space -= space;
	region->rest -= bytes;
	return bytes;
}

static uint64_t overlap(uint64_t low, uint64_t high, uint64_t from, uint64_t to)
{
	uint64_t first = low > from ? low : from, last = high < to ? high : to;

	return last > first ? last - first : 0;
}

/* ---- files and modules ---- */

static const char *path_of(const struct sorting *sorting, uint32_t file)
{
	const struct tpa_trace *trace = sorting->replay->trace;

	return file && file < trace->file_count ? trace->files[file] : NULL;
}

/* Of several at an address the one that was loaded last. */
static const struct tpa_module *module_at(const struct tpa_trace *trace, uint64_t low, uint64_t high)
{
	const struct tpa_module *found = NULL;

	for (size_t i = 0; i < trace->module_count; i++) {
		const struct tpa_module *module = &trace->modules[i];

		if (!module->unloaded_ticks && overlap(low, high, module->start, module->end))
			found = module;
	}
	return found;
}

static bool is_own(const char *path)
{
	return path && tpa_path_is_collector(path);
}

static bool is_library(const char *path)
{
	return path && (strstr(path, ".so") != NULL);
}

/* Its pages, and those of its data that were written to. */
static void sort_file(struct sorting *sorting)
{
	const struct tpa_region *is = &sorting->region->is;
	const struct tpa_module *module = module_at(sorting->replay->trace, is->low, is->high);
	const char *path = path_of(sorting, is->file);
	bool code = module || is_library(path);

	if (is_own(path)) {
		add_owner(sorting, TPA_MAKEUP_COLLECTOR, TPROF_NODE_NONE, is->file, is->rss);
		return;
	}
	add_owner(sorting, TPA_MAKEUP_FILES, TPROF_NODE_NONE, is->file, code ? is->rss - is->written : is->rss);
	if (code)
		add_owner(sorting, TPA_MAKEUP_STATIC, TPROF_NODE_NONE, is->file, is->written);
}

/* Behind a module's data comes its .bss, as far as the module reaches. */
static void take_bss(struct sorting *sorting, const struct tpa_makeup_region *before)
{
	const struct tpa_region *is = &sorting->region->is;
	const struct tpa_trace *trace = sorting->replay->trace;
	const struct tpa_module *module = module_at(trace, is->low, is->high);
	struct tpa_makeup_owner owner = { .part = TPA_MAKEUP_STATIC };
	uint64_t space = 0;

	if (module) {
		space = overlap(is->low, is->high, module->start, (module->end + 4095) & ~UINT64_C(4095));
		owner.module = (uint32_t)(module - trace->modules) + 1;
	} else if (before && before->is.kind == TPROF_REGION_FILE && before->is.high == is->low &&
		   is_library(path_of(sorting, before->is.file))) {
		space = is->high - is->low;
		owner.file = before->is.file;
	}
	if (is_own(tpa_makeup_path(trace, &owner)))
		owner.part = TPA_MAKEUP_COLLECTOR;
	owner.bytes = share_of(sorting, space);
	add_whole(sorting, &owner);
}

/* ---- what the program mapped ---- */

static void take_mapping(void *context, uint64_t start, uint64_t end, uint32_t site)
{
	struct sorting *sorting = context;
	const struct tpa_region *is = &sorting->region->is;
	enum tpa_makeup_part part = is->kind == TPROF_REGION_SHARED ? TPA_MAKEUP_SHARED : TPA_MAKEUP_MAPPED;
	const struct tpa_map_state *map = &sorting->replay->maps.sites[site];

	if (map->file && part == TPA_MAKEUP_MAPPED)
		return;
	add_owner(sorting, part, map->node, part == TPA_MAKEUP_SHARED ? is->file : 0,
		  share_of(sorting, overlap(is->low, is->high, start, end)));
}

static void take_mappings(struct sorting *sorting)
{
	tpa_maps_each_in(&sorting->replay->maps, sorting->region->is.low, sorting->region->is.high, take_mapping,
			 sorting);
}

/* ---- anonymous memory ---- */

/* The collector's tables and threads' stacks were counted for themselves. */
static void take_counted(struct sorting *sorting)
{
	const struct tpa_makeup_state *state = sorting->state;
	struct tpa_makeup_region *region = sorting->region;

	for (size_t i = state->plain; i < state->count; i++) {
		const struct tpa_region *counted = &state->list[i].is;
		uint64_t space = overlap(region->is.low, region->is.high, counted->low, counted->high), bytes;

		if (!space)
			continue;
		bytes = (uint64_t)((unsigned __int128)counted->rss * space / (counted->high - counted->low));
		bytes = bytes < region->rest ? bytes : region->rest;
		region->rest -= bytes;
		region->space -= space < region->space ? space : region->space;
		add_owner(sorting, counted->kind == TPROF_REGION_OWN ? TPA_MAKEUP_COLLECTOR : TPA_MAKEUP_STACKS,
			  TPROF_NODE_NONE, 0, bytes);
	}
}

/* Would it be known if the program had mapped it, or if a block lay in it? */
static bool all_is_seen(const struct tpa_replay *replay)
{
	return tpa_replay_hole_layout(replay) == TPA_LAYOUT_CHUNKS && replay->memory.makeup.looked < BLOCKS_MOST;
}

static void sort_anonymous(struct sorting *sorting, const struct tpa_makeup_region *before)
{
	struct tpa_makeup_region *region = sorting->region;

	take_counted(sorting);
	sorting->space = region->space;
	sorting->rss = region->rest;
	take_bss(sorting, before);
	take_mappings(sorting);
	if (all_is_seen(sorting->replay) && region->is.kind == TPROF_REGION_ANONYMOUS &&
	    region->arena != region->is.low) {
		uint64_t space = region->space;

		region->heap = share_of(sorting,
					region->arena ? region->own + region->is.high - region->arena : region->blocks);
		region->heap_space = space - region->space;
		add_owner(sorting, TPA_MAKEUP_UNSEEN, TPROF_NODE_NONE, 0, region->rest);
	} else {
		region->heap = region->rest;
		region->heap_space = region->space;
	}
	add_owner(sorting, TPA_MAKEUP_HEAP, TPROF_NODE_NONE, 0, region->heap);
}

static void sort_region(struct sorting *sorting, const struct tpa_makeup_region *before)
{
	struct tpa_makeup_region *region = sorting->region;

	sorting->space = region->space;
	sorting->rss = region->rest;
	switch (region->is.kind) {
	case TPROF_REGION_FILE:
		sort_file(sorting);
		break;
	case TPROF_REGION_SHARED:
		take_mappings(sorting);
		add_owner(sorting, TPA_MAKEUP_SHARED, TPROF_NODE_NONE, region->is.file, region->rest);
		break;
	case TPROF_REGION_STACK:
		add_owner(sorting, TPA_MAKEUP_STACKS, TPROF_NODE_NONE, 0, region->rest);
		break;
	case TPROF_REGION_TRACE:
		add_owner(sorting, TPA_MAKEUP_COLLECTOR, TPROF_NODE_NONE, 0, region->rest);
		break;
	case TPROF_REGION_OTHER:
		add_owner(sorting, TPA_MAKEUP_OTHER, TPROF_NODE_NONE, 0, region->rest);
		break;
	default:
		sort_anonymous(sorting, before);
		break;
	}
}

/* ---- live blocks ---- */

/* With its header, as glibc maps it: what lies in an anonymous region that is no arena is a block of its own mapping. */
static void add_block(struct tpa_makeup_state *state, const struct tpa_block *block)
{
	/* The first region that ends behind it. */
	size_t low = TPA_UP_TO(state->list, state->plain, is.high, block->address);
	uint64_t usable, pages;

	if (low == state->plain || state->list[low].is.low > block->address)
		return;
	usable = tpa_slack_usable(block->size, block->slack);
	pages = (usable + 16 + 4095) & ~UINT64_C(4095);
	state->list[low].blocks += pages;
	/* Of glibc's blocks only one with a mapping of its own ends where a page does. */
	if ((block->address + usable) % 4096 == 0)
		state->list[low].own += pages;
	else if (!state->list[low].arena || block->address < state->list[low].arena)
		state->list[low].arena = block->address;
}

static void add_blocks(struct tpa_makeup_state *state, const struct tpa_replay *replay)
{
	size_t slots = (size_t)1 << (64 - replay->heap.live.shift);

	state->result.judged = all_is_seen(replay);
	if (!state->result.judged)
		return;
	for (size_t i = 0; i < slots; i++)
		if (replay->heap.live.blocks[i].site)
			add_block(state, &replay->heap.live.blocks[i]);
	for (size_t i = 0; i < state->plain; i++)
		state->list[i].arena = tpa_replay_arena_start(replay, &state->list[i]);
	state->looked += slots;
}

/* ---- a reading ---- */

static int by_address(const void *a, const void *b)
{
	const struct tpa_makeup_region *x = a, *y = b;
	bool counted_x = x->is.kind >= TPROF_REGION_THREAD_STACK, counted_y = y->is.kind >= TPROF_REGION_THREAD_STACK;

	return TPA_UP(counted_x, counted_y) ?: TPA_UP(x->is.low, y->is.low);
}

static int by_owner(const void *a, const void *b)
{
	const struct tpa_makeup_owner *x = a, *y = b;

	return TPA_UP(x->part, y->part) ?: TPA_UP(x->node, y->node) ?: TPA_UP(x->file, y->file) ?:
	       TPA_UP(x->module, y->module);
}

static int by_size(const void *a, const void *b)
{
	const struct tpa_makeup_owner *x = a, *y = b;

	return TPA_DOWN(x->bytes, y->bytes) ?: by_owner(a, b);
}

/* Each owner once. */
static void join_owners(struct tpa_makeup_moment *moment)
{
	size_t kept = 0;

	if (!moment->count)
		return;
	qsort(moment->owners, moment->count, sizeof(*moment->owners), by_owner);
	for (size_t i = 1; i < moment->count; i++) {
		if (by_owner(&moment->owners[kept], &moment->owners[i]) == 0)
			moment->owners[kept].bytes += moment->owners[i].bytes;
		else
			moment->owners[++kept] = moment->owners[i];
	}
	moment->count = kept + 1;
	qsort(moment->owners, moment->count, sizeof(*moment->owners), by_size);
}

/* Of a forked process: its parent's mappings are not in its own trace, but the collector has counted them. */
static void move_inherited(struct sorting *sorting)
{
	uint64_t *parts = sorting->moment->sample.parts, counted = sorting->replay->memory.parts.mapped, more;

	if (sorting->replay->trace->header->origin != TPROF_ORIGIN_FORK || counted <= parts[TPA_MAKEUP_MAPPED])
		return;
	more = counted - parts[TPA_MAKEUP_MAPPED];
	more = more < parts[TPA_MAKEUP_HEAP] ? more : parts[TPA_MAKEUP_HEAP];
	parts[TPA_MAKEUP_HEAP] -= more;
	add_owner(sorting, TPA_MAKEUP_MAPPED, TPROF_NODE_NONE, 0, more);
}

/*
 * All anonymous memory that a process begins with is shared with the one that forked it. What is private later is new, or a copy,
 * and each copy took a page fault.
 */
static uint64_t copied(const struct tpa_replay *replay, const struct tpa_makeup_sample *sample, uint64_t private)
{
	uint64_t inherited = replay->memory.makeup.result.inherited, faults = replay->usage.last.minor_faults;
	uint64_t fresh = sample->anonymous > inherited ? sample->anonymous - inherited : 0;
	uint64_t bytes = private > fresh ? private - fresh : 0;

	if (bytes > inherited)
		bytes = inherited;
	return replay->trace->header->origin != TPROF_ORIGIN_FORK || bytes / 4096 <= faults ? bytes : faults * 4096;
}

static void drop_small(struct tpa_makeup_moment *moment)
{
	uint64_t *parts = moment->sample.parts;

	if (!parts[TPA_MAKEUP_UNSEEN] || parts[TPA_MAKEUP_UNSEEN] >= SMALL)
		return;
	parts[TPA_MAKEUP_OTHER] += parts[TPA_MAKEUP_UNSEEN];
	parts[TPA_MAKEUP_UNSEEN] = 0;
	for (size_t i = 0; i < moment->count; i++)
		if (moment->owners[i].part == TPA_MAKEUP_UNSEEN)
			moment->owners[i].part = TPA_MAKEUP_OTHER;
}

static void sum_up(struct sorting *sorting)
{
	const struct tpa_makeup_state *state = sorting->state;
	struct tpa_makeup_sample *sample = &sorting->moment->sample;
	uint64_t private = 0;

	for (size_t i = 0; i < state->plain; i++) {
		const struct tpa_region *is = &state->list[i].is;

		sample->rss += is->rss;
		sample->pss += is->pss;
		sample->private += is->private;
		sample->swap += is->swap;
		if (is->kind == TPROF_REGION_SHARED || is->kind == TPROF_REGION_TRACE)
			continue;
		sample->anonymous += is->written;
		private += is->private < is->written ? is->private : is->written;
	}
	if (sorting->replay->trace->header->origin == TPROF_ORIGIN_FORK)
		sample->copied = copied(sorting->replay, sample, private);
}

/*
 * A mapping that grows while the kernel writes smaps, piece by piece, can be there twice: it has been written, and is the one that
 * ends behind the last address again. The longer one is the later one.
 */
static void drop_repeated(struct tpa_makeup_state *state)
{
	size_t kept = 0;

	for (size_t i = 0; i < state->count; i++) {
		struct tpa_makeup_region *last = kept ? &state->list[kept - 1] : NULL;
		const struct tpa_region *is = &state->list[i].is;

		if (!last || is->kind >= TPROF_REGION_THREAD_STACK || is->low >= last->is.high)
			state->list[kept++] = state->list[i];
		else if (is->high > last->is.high)
			*last = state->list[i];
	}
	state->count = kept;
}

static void prepare(struct tpa_makeup_state *state)
{
	qsort(state->list, state->count, sizeof(*state->list), by_address);
	drop_repeated(state);
	for (state->plain = 0; state->plain < state->count; state->plain++) {
		struct tpa_makeup_region *region = &state->list[state->plain];

		if (region->is.kind >= TPROF_REGION_THREAD_STACK)
			break;
		region->rest = region->is.rss;
		region->space = region->is.high - region->is.low;
		region->blocks = region->own = region->arena = region->heap = region->heap_space = 0;
	}
}

static void keep_sample(struct tpa_makeup *makeup, const struct tpa_makeup_sample *sample)
{
	uint64_t number = makeup->readings++;

	if (sample->pss > makeup->pss_peak)
		makeup->pss_peak = sample->pss;
	if (makeup->count == TPA_MAKEUP_SAMPLES && !(number & makeup->mask)) {
		makeup->count /= 2;
		makeup->mask = makeup->mask * 2 + 1;
		for (size_t i = 0; i < makeup->count; i++)
			makeup->list[i] = makeup->list[2 * i];
	}
	if (number & makeup->mask)
		return;
	if (!makeup->list)
		makeup->list = tpa_zalloc(TPA_MAKEUP_SAMPLES, sizeof(*makeup->list));
	makeup->list[makeup->count++] = *sample;
}

static void copy_moment(struct tpa_makeup_moment *to, const struct tpa_makeup_moment *from)
{
	tpa_grow(&to->owners, &to->room, from->count, sizeof(*to->owners));
	if (from->count)
		memcpy(to->owners, from->owners, from->count * sizeof(*to->owners));
	to->count = from->count;
	to->sample = from->sample;
}

/*
 * Whether the reading is the new peak. When a program has freed its blocks and the allocator kept their pages, RSS stays as it was
 * or has grown since the reading before, which may be seconds ago on a busy machine. Such a reading shows only free memory, and the
 * one before tells more.
 */
static bool is_peak(const struct tpa_makeup_sample *sample, const struct tpa_makeup_sample *peak)
{
	bool emptied = sample->live < peak->live / 2, by_little = sample->rss < peak->rss + peak->rss / 4;

	return sample->rss >= peak->rss && !(emptied && by_little);
}

/* A reading has ended well. */
static void take_reading(struct tpa_replay *replay, uint64_t time)
{
	struct tpa_makeup_state *state = &replay->memory.makeup;
	struct tpa_makeup *makeup = &state->result;
	bool peak;
	struct sorting sorting = { .state = state, .replay = replay, .moment = &makeup->end };
	const struct tpa_makeup_region *before = NULL;

	prepare(state);
	add_blocks(state, replay);
	makeup->end.count = 0;
	makeup->end.sample = (struct tpa_makeup_sample){ .time = time, .live = replay->now.live_bytes };
	for (size_t i = 0; i < state->plain; i++) {
		sorting.region = &state->list[i];
		sort_region(&sorting, before);
		before = sorting.region;
	}
	move_inherited(&sorting);
	sum_up(&sorting);
	drop_small(&makeup->end);
	join_owners(&makeup->end);
	peak = is_peak(&makeup->end.sample, &makeup->peak.sample);
	if (peak)
		copy_moment(&makeup->peak, &makeup->end);
	tpa_replay_search_holes(replay, time, peak);
	keep_sample(makeup, &makeup->end.sample);
}

void tpa_replay_region(struct tpa_replay *replay, const struct tpa_event *event)
{
	struct tpa_makeup_state *state = &replay->memory.makeup;
	const struct tpa_region *region = event->region;
	size_t count;

	if (!region)
		return;
	if (event->thread != state->thread)
		state->count = 0;
	state->thread = event->thread;
	if (region->kind != TPROF_REGION_END && state->count == REGIONS_MOST)
		return; /* their number will not be right at its end */
	if (region->kind != TPROF_REGION_END) {
		*TPA_APPEND(state->list, state->count, state->room) = (struct tpa_makeup_region){ .is = *region };
		return;
	}
	count = state->count;
	if (count && count == region->regions && replay->inside)
		take_reading(replay, event->time);
	state->count = 0;
}

/* Numbers that a record leaves out stay as they were. */
static void update_parts(struct tpa_memory_parts *parts, const struct tpa_memory_parts *read)
{
	if (read->counted) {
		*parts = *read;
	} else if (read->said) {
		parts->shared = read->shared;
		parts->said = true;
	}
}

void tpa_replay_memory(struct tpa_replay *replay, const struct tpa_event *event)
{
	replay->now.rss = event->memory.rss;
	replay->now.vms = event->memory.vms;
	update_parts(&replay->memory.parts, event->memory.parts);
	if (!replay->memory.makeup.began) {
		replay->memory.makeup.began = true;
		if (replay->trace->header->origin == TPROF_ORIGIN_FORK &&
		    event->memory.rss > replay->memory.parts.shared)
			replay->memory.makeup.result.inherited = event->memory.rss - replay->memory.parts.shared;
	}
	if (replay->inside && event->memory.rss > replay->heap.counts.rss_peak)
		replay->heap.counts.rss_peak = event->memory.rss;
	tpa_timeline_record_rss(&replay->timeline, event->time, &replay->now);
}

void tpa_replay_allocator(struct tpa_replay *replay, const struct tpa_event *event)
{
	if (!event->allocator)
		return;
	replay->memory.allocator_live = replay->now.live_bytes;
	if (replay->inside)
		tpa_allocator_add(&replay->memory.allocator, event->time, event->allocator);
	replay->memory.allocator.last = *event->allocator;
}

/* ---- the part ---- */

static void archive(struct tpa_archive *to, struct tpa_replay *replay)
{
	TPA_ARCHIVE(to, replay->memory.parts);
	TPA_ARCHIVE(to, replay->memory.allocator_live);
	tpa_makeup_archive(to, &replay->memory.makeup);
	tpa_replay_archive_holes(to, replay);
	tpa_allocator_archive(to, &replay->memory.allocator);
}

/* After the growth's result, which needs event times. */
static void look(struct tpa_replay *replay, struct tpa_process *process)
{
	struct tpa_makeup *makeup = &process->makeup;

	*makeup = replay->memory.makeup.result;
	tpa_shrink(&makeup->list, makeup->count, sizeof(*makeup->list));
	replay->memory.makeup.result = (struct tpa_makeup){ .readings = 0 };
	makeup->peak.sample.time = tpa_replay_ns(replay, makeup->peak.sample.time);
	makeup->end.sample.time = tpa_replay_ns(replay, makeup->end.sample.time);
	for (size_t i = 0; i < makeup->count; i++)
		makeup->list[i].time = tpa_replay_ns(replay, makeup->list[i].time);
	for (size_t i = 0; i < replay->memory.allocator.count; i++) {
		struct tpa_allocator_sample *sample = &replay->memory.allocator.list[i];

		sample->time_ns = tpa_replay_ns(replay, sample->time_ns);
	}
	process->holes = tpa_replay_take_holes(replay);
	process->allocator = replay->memory.allocator;
	replay->memory.allocator.list = NULL;
}

static void free_part(struct tpa_replay *replay)
{
	tpa_allocator_free(&replay->memory.allocator);
	tpa_makeup_state_free(&replay->memory.makeup);
	tpa_hole_series_free(&replay->memory.holes);
}

const struct tpa_part tpa_part_memory = { .archive = archive, .look = look, .free = free_part };
