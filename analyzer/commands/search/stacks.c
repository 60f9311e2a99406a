/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's stack, thread-local storage and descriptor share a mapping, which glibc keeps after the thread ended. A
 * descriptor is recognized by its contents: it points to itself twice, at offsets that the psABI fixes, and to its
 * stack. The offsets of tid and state hold for all x86-64 versions of glibc so far; the forking thread's descriptor
 * serves as a check.
 */
#include "commands/search/stacks.h"

#include <string.h>

#define DESCRIPTOR_WORDS 288 /* 2,304 bytes: the smallest in any glibc since 2.17 */
#define STACK_MOST (UINT64_C(256) << 20)
#define ABOVE_MOST 4096u /* most bytes from a descriptor to its stack's end */

/* Offsets, in bytes. */
enum { TID = 720, STATE = 776 };
enum { EXITING = 0x10, TERMINATED = 0x20 }; /* bits of the state */
enum {
	DETACHED_FROM = 1500 / 8,
	DETACHED_TO = 1700 / 8
}; /* one of these words points to the descriptor itself if the thread is detached */

struct descriptor {
	uint64_t at;
	union {
		uint64_t words[DESCRIPTOR_WORDS];
		char bytes[8 * DESCRIPTOR_WORDS];
	};
	uint64_t high; /* of the stack */
};

static int32_t number_at(const struct descriptor *descriptor, size_t offset)
{
	int32_t number;

	memcpy(&number, descriptor->bytes + offset, sizeof(number));
	return number;
}

static bool read_descriptor(struct tpa_frozen *frozen, uint64_t at, struct descriptor *descriptor)
{
	descriptor->at = at;
	return tpa_frozen_copy(frozen, at, descriptor->bytes, sizeof(descriptor->bytes)) == sizeof(descriptor->bytes);
}

/*
 * Looks for two words that describe a stack which begins in the guard below `map` and ends shortly after the
 * descriptor.
 */
static bool names_stack(struct descriptor *descriptor, const struct tpa_frozen_map *guard,
			const struct tpa_frozen_map *map)
{
	for (size_t i = 0; i + 1 < DESCRIPTOR_WORDS; i++) {
		uint64_t low = descriptor->words[i], size = descriptor->words[i + 1];

		if (low < guard->low || low >= map->low || size > STACK_MOST || low + size > map->high ||
		    low + size <= descriptor->at || low + size - descriptor->at > ABOVE_MOST)
			continue;
		descriptor->high = low + size;
		return true;
	}
	return false;
}

static bool find_in(struct tpa_frozen *frozen, const struct tpa_frozen_map *guard, const struct tpa_frozen_map *map,
		    struct descriptor *descriptor)
{
	uint64_t end = map->high - map->low < STACK_MOST ? map->high : map->low + STACK_MOST, words[512];

	for (uint64_t page = map->low; page < end; page += sizeof(words)) {
		if (tpa_frozen_read(frozen, page, words, sizeof(words)) != sizeof(words))
			continue;
		for (size_t i = 0; i < 512; i += 8) /* descriptors are aligned to 64 bytes */
			if (words[i] == page + 8 * i && words[i + 2] == words[i] &&
			    read_descriptor(frozen, words[i], descriptor) && names_stack(descriptor, guard, map))
				return true;
	}
	return false;
}

static bool is_detached(const struct descriptor *descriptor)
{
	for (size_t i = DETACHED_FROM; i < DETACHED_TO; i++)
		if (descriptor->words[i] == descriptor->at)
			return true;
	return false;
}

/* Marks an ended thread's stack dead, but keeps the descriptor of a joinable thread: it holds the result. */
static void bury(struct tpa_frozen *frozen, const struct tpa_frozen_map *map, const struct descriptor *descriptor)
{
	int32_t tid = number_at(descriptor, TID);
	bool joined = tid == -1, ended = tid == 0 && number_at(descriptor, STATE) & (EXITING | TERMINATED);

	if (!joined && !ended)
		return;
	tpa_frozen_dead(frozen, map->low, joined || is_detached(descriptor) ? descriptor->high : descriptor->at);
}

/* The vector of the modules' thread-local storage is kept with the stack; its pointer skips the first two words. */
static void keep_vector(const struct descriptor *descriptor, tpa_stacks_keep *keep, void *context)
{
	keep(context, descriptor->words[1] - 16);
}

static bool knows_descriptors(struct tpa_frozen *frozen)
{
	struct descriptor own;

	return read_descriptor(frozen, frozen->note->self, &own) && own.words[0] == own.at && own.words[2] == own.at &&
	       (uint64_t)number_at(&own, TID) == frozen->note->tid;
}

static void find_ended(struct tpa_frozen *frozen, tpa_stacks_keep *keep, void *context)
{
	struct descriptor descriptor;

	for (size_t i = 1; i < frozen->count; i++) {
		const struct tpa_frozen_map *map = &frozen->maps[i], *guard = map - 1;

		if (!map->anonymous || !map->writable || map->shared || map->of_parent || !guard->anonymous ||
		    guard->readable || guard->writable || guard->high != map->low)
			continue;
		if (!find_in(frozen, guard, map, &descriptor))
			continue;
		keep_vector(&descriptor, keep, context);
		bury(frozen, map, &descriptor);
	}
}

/* Marks waiting threads' stacks below their stack pointers. A thread may be on another stack. */
static void find_waiting(struct tpa_frozen *frozen, const uint64_t *still)
{
	const struct tprof_snapshot *note = frozen->note;

	for (uint32_t i = 1; i < note->stack_count; i++) {
		uint64_t low = note->stacks[i].low, sp = note->used[i];

		if (still[i / 64] >> i % 64 & 1 && sp > low + TPA_RED_ZONE && sp < note->stacks[i].high)
			tpa_frozen_dead(frozen, low, sp - TPA_RED_ZONE);
	}
}

void tpa_stacks_find(struct tpa_frozen *frozen, const uint64_t *still, tpa_stacks_keep *keep, void *context)
{
	find_waiting(frozen, still);
	if (knows_descriptors(frozen))
		find_ended(frozen, keep, context);
}
