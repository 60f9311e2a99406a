/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holes: free memory between live blocks, and the blocks that keep it. While these blocks live, the allocator can
 * neither join a hole with the next one nor return it to the kernel. So small blocks that remain between large freed
 * ones can hold many times their own size.
 *
 * What a hole is depends on the allocator:
 *   - glibc's heaps (brk and the threads' arenas) are rows of chunks. A hole reaches from one block to the next. It is
 *     charged to the one of the two that was allocated later: without that block, the hole would be part of the free
 *     memory behind it.
 *   - jemalloc's small blocks lie in slabs of one size class. A slab is returned when its last block is freed
 *     (jemalloc, src/sc.c: a slab is the smallest number of pages that the class size divides). Its free regions are
 *     charged to its blocks in equal parts.
 *   - For other allocators, the only assumption is that a page with a live block stays. The result is a lower bound.
 *
 * Young blocks do not bound a hole, because most of them are about to be freed. A block is young if it was allocated in
 * the current step or, without steps, in the last 1/64 of the run so far. Its bytes are not part of the hole.
 */
#ifndef TPROF_MODEL_HEAP_HOLES_H
#define TPROF_MODEL_HEAP_HOLES_H

#include "model/heap/live.h"

enum tpa_hole_layout {
	TPA_LAYOUT_UNKNOWN, /* not all blocks are known: no search */
	TPA_LAYOUT_CHUNKS,  /* glibc */
	TPA_LAYOUT_SLABS,   /* jemalloc */
	TPA_LAYOUT_PAGES,   /* any other allocator */
};

/* Bytes, unless the comment says otherwise. */
struct tpa_hole_sum {
	uint64_t holes;	   /* resident bytes in holes between blocks */
	uint64_t wide;	   /* part of `holes`: in holes of TPA_HOLE_WIDE and more */
	uint64_t pages;	   /* part of `holes`: whole pages, which glibc's malloc_trim(0) returns */
	uint64_t ends;	   /* free and resident bytes behind the last block of a heap */
	uint64_t rounding; /* of live blocks: usable size beyond the requested size, and chunk headers */
	uint64_t apart;	   /* part of `holes` and `ends`: in threads' arenas */
	uint64_t arenas;   /* number of threads' arenas */
};
#define TPA_HOLE_WIDE (UINT64_C(128) << 10) /* default of M_MMAP_THRESHOLD */

/* Bytes of holes that are charged to a site's blocks. */
struct tpa_hole_share {
	uint32_t site;	   /* site number in the replay */
	uint32_t node, op; /* as in struct tpa_site; set only in results */
	uint64_t bytes;
};

/* A heap of chunks: its address range [low, high), and its resident bytes. */
struct tpa_hole_heap {
	uint64_t low, high, rss;
	bool arena; /* a thread's arena; else the brk heap */
};

/* One search. Start from zeros and set the layout, the cutoff and the heaps. Release with tpa_holes_free(). */
struct tpa_holes {
	enum tpa_hole_layout layout;
	uint64_t cutoff; /* event time: blocks allocated later are young */
	struct tpa_hole_heap *heaps;
	size_t heap_count, heap_room;
	const struct tpa_block **blocks; /* sorted by address; they point into the table of live blocks */
	size_t block_count;
	uint64_t *of_site;
	size_t site_count;
	struct tpa_hole_sum sum;
};

void tpa_holes_add_heap(struct tpa_holes *holes, const struct tpa_hole_heap *heap);

/*
 * Fills `sum` and `of_site` (bytes by site number, `site_count` elements). Takes time linear in the number of blocks.
 */
void tpa_holes_find(struct tpa_holes *holes, const struct tpa_live *live, size_t site_count);
void tpa_holes_free(struct tpa_holes *holes);

/* ---- over time ---- */

struct tpa_hole_reading {
	uint64_t time;	/* event time; in results, time_ns */
	uint64_t steps; /* number of steps that had ended */
	struct tpa_hole_sum sum;
	struct tpa_hole_share *list; /* sites with at least TPA_HOLE_LEAST bytes, by site number */
	size_t count, room;
};
#define TPA_HOLE_LEAST 256u
#define TPA_HOLE_READINGS 32u

/* Searches in order of time. The last one is always kept; of the others, every second, fourth, ... */
struct tpa_hole_series {
	struct tpa_hole_reading list[TPA_HOLE_READINGS + 1];
	size_t count; /* including the last one */
	uint64_t searches, mask;
	struct tpa_hole_reading peak; /* at the largest RSS */
};

/* Keeps the result of a search. `peak`: RSS has never been larger. */
void tpa_hole_series_add(struct tpa_hole_series *series, const struct tpa_holes *holes, uint64_t time, uint64_t steps,
			 bool peak);
void tpa_hole_series_free(struct tpa_hole_series *series);

/* Saves, or loads into a zeroed series. The caller checks the site numbers after loading. */
void tpa_hole_series_archive(struct tpa_archive *archive, struct tpa_hole_series *series);

#endif
