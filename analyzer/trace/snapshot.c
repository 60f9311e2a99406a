/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/snapshot_maps.h"
#include "base/memory.h"
#include "base/order.h"

#define PAGE 4096u
#define PAGES_MAX 64u		/* looked up at once */
#define PAGE_THERE (3ull << 62) /* present, or swapped out */

static bool read_note(struct tpa_frozen *frozen, uint64_t at, uint64_t bytes)
{
	frozen->note = tpa_zalloc(1, sizeof(*frozen->note));
	return bytes == sizeof(*frozen->note) &&
	       pread(frozen->own.memory, frozen->note, sizeof(*frozen->note), (off_t)at) == sizeof(*frozen->note) &&
	       frozen->note->stack_count <= TPROF_SNAPSHOT_RANGES && frozen->note->own_count <= TPROF_SNAPSHOT_RANGES &&
	       frozen->note->kept_count <= TPROF_SNAPSHOT_RANGES && frozen->note->in_hand_count <= TPROF_IN_HAND;
}

static void open_memory(struct tpa_frozen_memory *memory, pid_t pid)
{
	memory->memory = tpa_frozen_proc(pid, "mem");
	memory->pagemap = memory->memory < 0 ? -1 : tpa_frozen_proc(pid, "pagemap");
}

static void close_memory(struct tpa_frozen_memory *memory)
{
	if (memory->memory >= 0)
		close(memory->memory);
	if (memory->pagemap >= 0)
		close(memory->pagemap);
	*memory = (struct tpa_frozen_memory){ -1, -1 };
}

/* A process that has ended has no memory, even if its parent has not waited for it yet. */
static bool lives(const struct tpa_frozen *frozen)
{
	uint32_t word;

	return pread(frozen->own.memory, &word, sizeof(word), (off_t)frozen->note_at) == sizeof(word);
}

static const char *cause_of(int error)
{
	return error == ESRCH || error == ENOENT ? "it has ended" : strerror(error);
}

bool tpa_frozen_open(struct tpa_frozen *frozen, pid_t pid, pid_t parent, uint64_t note_at, uint64_t bytes, char **error)
{
	const char *cause;

	*frozen = (struct tpa_frozen){ .pid = pid, .parent = parent, .note_at = note_at, .parents = { -1, -1 } };
	open_memory(&frozen->own, pid);
	cause = frozen->own.memory < 0 ? cause_of(errno) : NULL;
	if (!cause && !tpa_frozen_read_maps(frozen))
		cause = cause_of(errno);
	if (!cause && !read_note(frozen, note_at, bytes))
		cause = lives(frozen) ? "it does not say what it is, as a libtprof.so of another version"
				      : "it has ended";
	if (!cause)
		return true;
	*error = tpa_format("the memory of the fork, process %d, can't be read: %s", (int)pid, cause);
	tpa_frozen_close(frozen);
	return false;
}

void tpa_frozen_close(struct tpa_frozen *frozen)
{
	close_memory(&frozen->own);
	close_memory(&frozen->parents);
	free(frozen->maps);
	free(frozen->note);
	free(frozen->dead);
	frozen->dead = NULL;
	frozen->dead_count = 0;
	frozen->maps = NULL;
	frozen->note = NULL;
	frozen->count = 0;
}

bool tpa_frozen_whole(struct tpa_frozen *frozen, char **error)
{
	if (!frozen->failed && lives(frozen))
		return true;
	if (!lives(frozen) || frozen->failed == ESRCH)
		*error = tpa_format(
			"the fork, process %d, ended while it was searched: nothing can be said of what is lost",
			(int)frozen->pid);
	else
		*error = tpa_format("the memory at %#lx could not be read: %s: nothing can be said of what is lost",
				    (unsigned long)frozen->failed_at, strerror(frozen->failed));
	return false;
}

/* How many bytes from `address` on lie in pages that are there. */
static size_t there(int pagemap, uint64_t address, size_t size)
{
	uint64_t entries[PAGES_MAX], first = address / PAGE;
	size_t pages = (size_t)((address + size - 1) / PAGE - first + 1), i = 0;

	if (pagemap < 0)
		return size;
	if (pages > PAGES_MAX)
		pages = PAGES_MAX;
	if (pread(pagemap, entries, pages * 8, (off_t)(first * 8)) != (ssize_t)(pages * 8))
		return size;
	while (i < pages && entries[i] & PAGE_THERE)
		i++;
	if (i == 0)
		return 0;
	return (first + i) * PAGE - address < size ? (size_t)((first + i) * PAGE - address) : size;
}

size_t tpa_frozen_copy(const struct tpa_frozen *frozen, uint64_t address, void *to, size_t size)
{
	ssize_t got = pread(frozen->own.memory, to, size, (off_t)address);

	return got > 0 ? (size_t)got : 0;
}

/* Reading behind the end of a shared mapping's file is no failure: nothing is there. */
static void note_failure(struct tpa_frozen *frozen, const struct tpa_frozen_map *map, uint64_t address, ssize_t got)
{
	if (frozen->failed || (got < 0 && errno == EIO && map->shared))
		return;
	frozen->failed = got < 0 ? errno : ESRCH;
	frozen->failed_at = address;
}

/* Reads within one mapping. */
static size_t read_map(struct tpa_frozen *frozen, const struct tpa_frozen_map *map, uint64_t address, void *to,
		       size_t size)
{
	const struct tpa_frozen_memory *from = map->of_parent ? &frozen->parents : &frozen->own;
	size_t readable;
	ssize_t got;

	if (map->of_parent && from->memory < 0)
		open_memory(&frozen->parents, frozen->parent);
	readable = map->shared ? size : there(from->pagemap, address, size);
	if (!readable || map->device)
		return 0;
	got = pread(from->memory, to, readable, (off_t)address);
	if (got <= 0)
		note_failure(frozen, map, address, got);
	return got > 0 ? (size_t)got : 0;
}

void tpa_frozen_dead(struct tpa_frozen *frozen, uint64_t low, uint64_t high)
{
	if (low >= high)
		return;
	*TPA_APPEND(frozen->dead, frozen->dead_count, frozen->dead_room) = (struct tprof_range){ low, high };
}

/* Sorts the dead ranges and joins those that overlap. */
void tpa_frozen_bury(struct tpa_frozen *frozen)
{
	size_t count = 0;

	if (frozen->dead_count)
		TPA_SORT(frozen->dead, frozen->dead_count, low);
	for (size_t i = 0; i < frozen->dead_count; i++) {
		const struct tprof_range *next = &frozen->dead[i];

		if (!count || next->low > frozen->dead[count - 1].high)
			frozen->dead[count++] = *next;
		else if (next->high > frozen->dead[count - 1].high)
			frozen->dead[count - 1].high = next->high;
	}
	frozen->dead_count = count;
}

/* Zeroes the dead ranges of a copy. */
static void blank(const struct tpa_frozen *frozen, uint64_t address, char *copy, size_t size)
{
	for (size_t i = TPA_UP_TO(frozen->dead, frozen->dead_count, high, address);
	     i < frozen->dead_count && frozen->dead[i].low < address + size; i++) {
		uint64_t low = frozen->dead[i].low > address ? frozen->dead[i].low : address;
		uint64_t high = frozen->dead[i].high < address + size ? frozen->dead[i].high : address + size;

		memset(copy + (low - address), 0, (size_t)(high - low));
	}
}

size_t tpa_frozen_read(void *context, uint64_t address, void *to, size_t size)
{
	struct tpa_frozen *frozen = context;
	size_t got = 0;

	while (got < size) {
		const struct tpa_frozen_map *map = tpa_frozen_find(frozen, address + got);
		size_t want = size - got, part;

		if (!map)
			break;
		if (want > map->high - (address + got))
			want = (size_t)(map->high - (address + got));
		part = read_map(frozen, map, address + got, (char *)to + got, want);
		got += part;
		if (part < want)
			break;
	}
	blank(frozen, address, to, got);
	return got;
}
