/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/search/roots.h"

#include <stdlib.h>
#include <string.h>

#include "commands/search/stacks.h"
#include "symbols/unwind.h"
#include "trace/interrupted.h"
#include "base/memory.h"
#include "base/order.h"

/* ---- ranges ---- */

static void add_root(struct tpa_roots *roots, uint64_t low, uint64_t high, bool exact_only)
{
	if (low >= high)
		return;
	*TPA_APPEND(roots->ranges, roots->all.range_count, roots->room) =
		(struct tpa_reach_root){ low, high, exact_only };
}

/* Adds a range minus the ranges of a list, which may overlap. */
static void add_without(struct tpa_roots *roots, uint64_t low, uint64_t high, const struct tprof_range *without,
			size_t count)
{
	while (low < high) {
		uint64_t begin = high, end = high;

		for (size_t i = 0; i < count; i++)
			if (without[i].high > low && without[i].low < begin) {
				begin = without[i].low > low ? without[i].low : low;
				end = without[i].high;
			}
		add_root(roots, low, begin, false);
		low = end;
	}
}

/* Finds the first block that begins at or after an address. */
static size_t first_block(const struct tpa_reach_held *held, uint64_t address)
{
	return TPA_BELOW(held->blocks, held->count, address, address);
}

static bool has_blocks(const struct tpa_reach_held *held, const struct tpa_frozen_map *map)
{
	size_t first = first_block(held, map->low);

	return first < held->count && held->blocks[first].address < map->high;
}

/* Is it the same file? A library may have two paths: /lib is a link to /usr/lib. */
static bool same_file(const char *path, const char *module)
{
	const char *a = strrchr(path, '/'), *b = strrchr(module, '/');

	return a && b && strcmp(a, b) == 0;
}

/* Adds the part of a range that lies in a mapping. */
static void add_part(struct tpa_roots *roots, const struct tpa_frozen_map *map, const struct tprof_range *range)
{
	if (range->high > map->low && range->low < map->high)
		add_root(roots, range->low > map->low ? range->low : map->low,
			 range->high < map->high ? range->high : map->high, false);
}

/* The used part of the forking thread's stack. A coroutine's stack ends with its block or mapping. */
static struct tprof_range used_stack(const struct tpa_reach_held *held, const struct tpa_frozen *frozen,
				     const struct tpa_frozen_map *map, uint64_t sp)
{
	const struct tprof_range *own = &frozen->note->stacks[0];
	size_t next = first_block(held, sp + 1);

	if (sp >= own->low && sp < own->high)
		return (struct tprof_range){ sp, own->high };
	for (size_t i = 0; i < held->mapped_count; i++)
		if (sp >= held->mapped[i].low && sp < held->mapped[i].high)
			return (struct tprof_range){ sp, held->mapped[i].high };
	if (next && sp - held->blocks[next - 1].address < held->blocks[next - 1].size)
		return (struct tprof_range){ sp, held->blocks[next - 1].address + held->blocks[next - 1].size };
	return (struct tprof_range){ sp, map->high };
}

/*
 * Adds an allocator's memory. Its blocks are searched when a pointer leads to them; the space between is free or the
 * allocator's own. Stacks and the program's own mappings inside it are roots, as the kernel joins neighbours. If the
 * trace may lack blocks, all the space between is a root.
 */
static void add_arena(struct tpa_roots *roots, const struct tpa_reach_held *held, const struct tpa_frozen *frozen,
		      const struct tpa_frozen_map *map)
{
	const struct tprof_snapshot *note = frozen->note;
	uint64_t at = map->low;

	for (uint32_t i = 0; i < note->stack_count; i++)
		add_part(roots, map, &note->stacks[i]);
	for (size_t i = 0; i < held->mapped_count; i++)
		add_part(roots, map, &held->mapped[i]);
	if (roots->sp >= map->low && roots->sp < map->high) {
		struct tprof_range used = used_stack(held, frozen, map, roots->sp);

		add_part(roots, map, &used);
	}
	if (held->seamless)
		return;
	for (size_t i = first_block(held, map->low); i < held->count && held->blocks[i].address < map->high; i++) {
		add_root(roots, at, held->blocks[i].address, true);
		at = held->blocks[i].address + held->blocks[i].size;
	}
	add_root(roots, at, map->high, true);
}

struct part {
	struct tpa_roots *roots;
	const struct tprof_snapshot *note;
};

static void add_shared(void *context, uint64_t low, uint64_t high)
{
	const struct part *part = context;

	add_without(part->roots, low, high, part->note->own, part->note->own_count);
}

static void add_file(struct tpa_roots *roots, const struct tpa_frozen_map *map)
{
	*TPA_APPEND(roots->files, roots->all.file_count, roots->file_room) =
		(struct tprof_range){ map->low, map->high };
}

static void add_map(struct tpa_roots *roots, const struct tpa_reach_held *held, const struct tpa_frozen *frozen,
		    size_t index, const char *allocator)
{
	const struct tpa_frozen_map *map = &frozen->maps[index], *before = index ? map - 1 : NULL;
	/* A module's zeroed data follows its file's mapping. */
	const char *module = !map->anonymous								 ? map->path
			     : before && !before->anonymous && before->high == map->low && !map->path[0] ? before->path
													 : "";

	if (!map->shared && !map->device && map->readable && module[0] == '/')
		add_file(roots, map);
	/* Memory that is read-only now may have been written earlier, unless it belongs to a file. */
	if (!map->readable || (!map->writable && !map->anonymous) || map->device || strstr(module, "/libtprof"))
		return;
	if (map->shared) {
		struct part part = { roots, frozen->note };

		tpa_frozen_shared(frozen, map, add_shared, &part);
		return;
	}
	if (map->anonymous && has_blocks(held, map))
		add_arena(roots, held, frozen, map);
	else if (same_file(module, allocator))
		add_root(roots, map->low, map->high, true);
	else
		add_without(roots, map->low, map->high, frozen->note->own, frozen->note->own_count);
}

/* ---- words ---- */

static void add_words(struct tpa_roots *roots, const uint64_t *words, size_t count)
{
	tpa_grow(&roots->words, &roots->word_room, roots->all.word_count + count, sizeof(*words));
	memcpy(roots->words + roots->all.word_count, words, count * sizeof(*words));
	roots->all.word_count += count;
}

/* Adds the registers of waiting threads. */
static void add_kept(struct tpa_roots *roots, const struct tprof_snapshot *note)
{
	for (uint64_t i = 0; i < note->kept_count; i++)
		add_words(roots, note->kept[i], TPROF_KEPT);
}

/* ---- the forking thread ---- */

static bool copy(void *frozen, uint64_t address, void *to, size_t size)
{
	return tpa_frozen_copy(frozen, address, to, size) == size;
}

static bool is_in(const struct tprof_range *range, uint64_t address)
{
	return address >= range->low && address < range->high;
}

/*
 * Marks the stack below `sp`, where the used part begins, as dead down to its end, or to `low` if the end is unknown.
 */
static void note_dead(struct tpa_frozen *frozen, uint64_t sp, uint64_t low)
{
	const struct tprof_range *own = &frozen->note->stacks[0], *alternate = &frozen->note->alternate;

	if (is_in(own, sp))
		low = own->low;
	else if (is_in(alternate, sp))
		low = alternate->low;
	tpa_frozen_dead(frozen, low, sp);
}

/* A signal interrupted the program anywhere. The kernel saved its registers on this stack or on the signal stack. */
static bool begin_interrupted(struct tpa_roots *roots, struct tpa_frozen *frozen)
{
	const struct tprof_range *alternate = &frozen->note->alternate;
	uint64_t context = frozen->note->context;
	struct tpa_interrupted interrupted;

	if (!context || !tpa_interrupted_read(frozen, context, &interrupted))
		return false;
	roots->sp = interrupted.sp - TPA_RED_ZONE;
	add_words(roots, interrupted.words, interrupted.count);
	free(interrupted.words);
	note_dead(frozen, roots->sp, context);
	if (is_in(alternate, context) && !is_in(alternate, roots->sp))
		tpa_frozen_dead(frozen, alternate->low, alternate->high); /* it was not in use */
	return true;
}

static void keep_word(void *context, uint64_t word)
{
	add_words(context, &word, 1);
}

/*
 * The program called the collector, directly or through exit(). If the calling frame is not found, the whole stack
 * counts.
 */
static void begin_called(struct tpa_roots *roots, struct tpa_frozen *frozen)
{
	struct tprof_registers at = frozen->note->at;

	if (tpa_unwind_out(&at, &frozen->note->code, copy, frozen) && is_in(&frozen->note->exiting, at.pc))
		tpa_unwind_out(&at, &frozen->note->exiting, copy, frozen);
	roots->sp = at.sp;
	add_words(roots, at.kept, TPROF_KEPT);
	note_dead(frozen, at.sp, frozen->note->at.sp - TPA_RED_ZONE);
}

void tpa_roots_find(struct tpa_roots *roots, struct tpa_frozen *frozen, const struct tpa_reach_held *held,
		    const uint64_t *still, const char *allocator)
{
	const struct tprof_snapshot *note = frozen->note;

	*roots = (struct tpa_roots){ 0 };
	if (!begin_interrupted(roots, frozen))
		begin_called(roots, frozen);
	add_words(roots, note->in_hand, note->in_hand_count);
	add_kept(roots, note);
	tpa_stacks_find(frozen, still, keep_word, roots);
	tpa_frozen_bury(frozen);
	add_root(roots, note->moving.low, note->moving.high, false);
	for (size_t i = 0; i < frozen->count; i++)
		add_map(roots, held, frozen, i, allocator);
	roots->all.ranges = roots->ranges;
	roots->all.words = roots->words;
	roots->all.files = roots->files;
}

void tpa_roots_free(struct tpa_roots *roots)
{
	free(roots->ranges);
	free(roots->words);
	free(roots->files);
	*roots = (struct tpa_roots){ 0 };
}
