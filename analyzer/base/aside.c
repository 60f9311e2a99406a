/* SPDX-License-Identifier: Apache-2.0 */
#include "base/aside.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jemalloc/jemalloc.h>

#include "base/temporary_file.h"

/* Sanitizers have an allocator of their own. */
#pragma weak mallocx
#pragma weak mallctl

#define PAGE ((uintptr_t)4096)
#define EXTENTS 4096u
#define NO_CACHE (1 << 8)			     /* MALLOCX_TCACHE_NONE */
#define IN_ARENA(arena) ((int)(((arena) + 1) << 20)) /* MALLOCX_ARENA() */

/* A part of the file, mapped. */
struct extent {
	uint8_t *start;
	size_t bytes;
	uint64_t offset;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct extent extents[EXTENTS];
static _Atomic size_t extent_count;
static int file = -1;
static uint64_t file_end;
static unsigned arena;
static bool ready;
static _Atomic size_t kept;

/* ---- the arena ---- */

/* Address space for the part; its neighbours are given back. */
static void *map_aligned(size_t bytes, size_t alignment, uint64_t offset)
{
	char *space = mmap(NULL, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t before;
	void *mapped;

	if (space == MAP_FAILED)
		return NULL;
	before = (alignment - (uintptr_t)space % alignment) % alignment;
	mapped = mmap(space + before, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, (off_t)offset);
	if (mapped == MAP_FAILED) {
		munmap(space, bytes + alignment);
		return NULL;
	}
	if (before)
		munmap(space, before);
	if (before < alignment)
		munmap(space + before + bytes, alignment - before);
	return mapped;
}

/* The disk's blocks are taken first: a store to a hole of the file on a full disk would be a SIGBUS. */
static void *more(extent_hooks_t *hooks, void *wanted, size_t bytes, size_t alignment, bool *zero, bool *commit,
		  unsigned index)
{
	void *start = NULL;
	size_t count;

	(void)hooks;
	(void)index;
	if (wanted)
		return NULL;
	pthread_mutex_lock(&lock);
	count = atomic_load(&extent_count);
	if (count < EXTENTS && posix_fallocate(file, (off_t)file_end, (off_t)bytes) == 0)
		start = map_aligned(bytes, alignment < PAGE ? PAGE : alignment, file_end);
	if (start) {
		extents[count] = (struct extent){ start, bytes, file_end };
		atomic_store(&extent_count, count + 1);
		file_end += bytes;
		*zero = *commit = true;
	}
	pthread_mutex_unlock(&lock);
	return start;
}

static bool cut(extent_hooks_t *hooks, void *start, size_t bytes, size_t first, size_t second, bool committed,
		unsigned index)
{
	(void)hooks, (void)start, (void)bytes, (void)first, (void)second, (void)committed, (void)index;
	return false; /* it is done: nothing is to be told to the kernel */
}

/* Parts that adjoin may be used as one: none is ever unmapped. */
static bool join(extent_hooks_t *hooks, void *first, size_t first_bytes, void *second, size_t second_bytes,
		 bool committed, unsigned index)
{
	(void)hooks, (void)first, (void)first_bytes, (void)second, (void)second_bytes, (void)committed, (void)index;
	return false;
}

static void make_arena(void)
{
	static extent_hooks_t hooks = { .alloc = more, .split = cut, .merge = join };
	extent_hooks_t *said = &hooks;
	size_t size = sizeof(arena);

	if (!mallocx || !mallctl)
		return;
	file = tpa_temporary_file("/var/tmp");
	ready = file >= 0 && mallctl("arenas.create", (void *)&arena, &size, (void *)&said, sizeof(said)) == 0;
}

/* ---- lists ---- */

/* What of the part lies in whole pages is in the file alone from here on. */
static void rest(void *start, size_t bytes)
{
	uintptr_t from = ((uintptr_t)start + PAGE - 1) & ~(PAGE - 1), to = ((uintptr_t)start + bytes) & ~(PAGE - 1);

	if (from < to)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

/* Where the part of an address is in the file; of parts that adjoin, each has an offset of its own. NULL: it is in none. */
static const struct extent *extent_of(const uint8_t *at)
{
	size_t count = atomic_load(&extent_count);

	for (size_t i = 0; i < count; i++)
		if (at >= extents[i].start && at < extents[i].start + extents[i].bytes)
			return &extents[i];
	return NULL;
}

/* Copies by writing to the file, which takes a tenth of the time that stores to its pages would take. */
static void fill(uint8_t *to, const uint8_t *from, size_t bytes)
{
	while (bytes) {
		const struct extent *extent = extent_of(to);
		size_t left = extent ? (size_t)(extent->start + extent->bytes - to) : bytes;
		ssize_t wrote = -1;

		left = left < bytes ? left : bytes;
		if (extent)
			wrote = pwrite(file, from, left, (off_t)(extent->offset + (uint64_t)(to - extent->start)));
		if (wrote <= 0) {
			memcpy(to, from, left);
			wrote = (ssize_t)left;
		}
		to += wrote;
		from += wrote;
		bytes -= (size_t)wrote;
	}
}

void tpa_lay_aside(void *list, size_t bytes)
{
	void *old, *moved;

	memcpy(&old, list, sizeof(old));
	if (!old || bytes < TPA_ASIDE_LEAST)
		return;
	if (atomic_fetch_add(&kept, bytes) + bytes <= TPA_ASIDE_KEPT)
		return;
	atomic_fetch_sub(&kept, bytes);
	pthread_once(&once, make_arena);
	moved = ready ? mallocx(bytes, IN_ARENA(arena) | NO_CACHE) : NULL;
	if (!moved)
		return;
	fill(moved, old, bytes);
	free(old);
	memcpy(list, &moved, sizeof(moved));
}

void tpa_aside_rest(void)
{
	size_t count = atomic_load(&extent_count);

	for (size_t i = 0; i < count; i++)
		rest(extents[i].start, extents[i].bytes);
}
