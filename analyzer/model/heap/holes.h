/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free memory between live blocks ("holes"), and the blocks that keep it: the allocator can neither join a hole with the next
 * one nor return it to the kernel while they live. Small blocks that stay between large ones that go can so hold many times
 * their own size.
 *
 * What a hole is depends on the allocator:
 *   - glibc's heaps (brk and the arenas of threads) are a row of chunks. A hole reaches from one block to the next, and belongs
 *     to the one that was allocated later: without it the hole would be part of the free memory behind it.
 *   - jemalloc's small blocks lie in slabs of one size class; a slab returns when its last block goes (jemalloc, src/sc.c: a
 *     slab is the least number of pages that the class divides). Its free regions belong to its blocks in equal parts.
 *   - Of other allocators only this is assumed: a page with a live block stays. A lower bound.
 *
 * Young blocks (of the step that goes on or, without steps, of the last 1/64 of the run so far) do not bound a hole: most are
 * about to go. Their bytes are not part of the hole.
 */
#ifndef TPROF_MODEL_HEAP_HOLES_H
#define TPROF_MODEL_HEAP_HOLES_H

#include "model/heap/live.h"

enum tpa_hole_layout {
	TPA_LAYOUT_UNKNOWN, /* not all blocks are known: no search */
	TPA_LAYOUT_CHUNKS,  /* glibc */
	TPA_LAYOUT_SLABS,   /* jemalloc */
	TPA_LAYOUT_PAGES,   /* another one */
};

/* Bytes. */
struct tpa_hole_sum {
	uint64_t holes;	   /* in holes between blocks, as far as resident */
	uint64_t wide;	   /* of that, in holes of TPA_HOLE_WIDE and more */
	uint64_t pages;	   /* of that, whole pages: what malloc_trim(0) of glibc returns */
	uint64_t ends;	   /* free and resident behind the last block of a heap */
	uint64_t rounding; /* of live blocks: usable size beyond the requested one, and the chunk's header */
	uint64_t apart;	   /* of holes and ends, in the arenas of threads */
	uint64_t arenas;   /* number of such arenas */
};
#define TPA_HOLE_WIDE (UINT64_C(128) << 10) /* M_MMAP_THRESHOLD's default */

/* Bytes of holes that a site's blocks keep. */
struct tpa_hole_share {
	uint32_t site;	   /* of the replay */
	uint32_t node, op; /* as struct tpa_site has them; only in results */
	uint64_t bytes;
};

/* A heap of chunks: its addresses, and how much of it is resident. */
struct tpa_hole_heap {
	uint64_t low, high, rss;
	bool arena; /* of a thread; else brk's */
};

/* One search; zeros to begin with. tpa_holes_free() is due. */
struct tpa_holes {
	enum tpa_hole_layout layout;
	uint64_t cutoff; /* event time: blocks that were allocated later are young */
	struct tpa_hole_heap *heaps;
	size_t heap_count, heap_room;
	const struct tpa_block **blocks; /* by address */
	size_t block_count;
	uint64_t *of_site;
	size_t site_count;
	struct tpa_hole_sum sum;
};

void tpa_holes_add_heap(struct tpa_holes *holes, const struct tpa_hole_heap *heap);

/* Fills `sum` and `of_site`, which has an element for each of `site_count` sites. Time: linear in the blocks. */
void tpa_holes_find(struct tpa_holes *holes, const struct tpa_live *live, size_t site_count);
void tpa_holes_free(struct tpa_holes *holes);

/* ---- over time ---- */

struct tpa_hole_reading {
	uint64_t time;	/* event time; in results: time_ns */
	uint64_t steps; /* that had ended */
	struct tpa_hole_sum sum;
	struct tpa_hole_share *list; /* sites with TPA_HOLE_LEAST bytes and more, by number */
	size_t count, room;
};
#define TPA_HOLE_LEAST 256u
#define TPA_HOLE_READINGS 32u

/* Searches in order of time: the last one is always there, of the others every second, fourth, ... */
struct tpa_hole_series {
	struct tpa_hole_reading list[TPA_HOLE_READINGS + 1];
	size_t count; /* the last one included */
	uint64_t searches, mask;
	struct tpa_hole_reading peak; /* at the largest RSS */
};

/* Keeps what a search found. `peak`: RSS was never larger. */
void tpa_hole_series_add(struct tpa_hole_series *series, const struct tpa_holes *holes, uint64_t time, uint64_t steps,
			 bool peak);
void tpa_hole_series_free(struct tpa_hole_series *series);

/* Saves, or loads into a series of zeros. Whoever loads checks the sites. */
void tpa_hole_series_archive(struct tpa_archive *archive, struct tpa_hole_series *series);

#endif
