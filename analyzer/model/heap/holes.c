/* SPDX-License-Identifier: Apache-2.0 */
#include "model/heap/holes.h"

#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/memory.h"

#define PAGE 4096u
#define HEADER 8u /* of a glibc chunk (malloc.c, SIZE_SZ): the next chunk's prev_size field belongs to the block */
#define SLAB_MOST 14336u /* jemalloc's SC_SMALL_MAXCLASS; larger blocks have pages of their own */
#define RADIX_BITS 11	 /* address bits that one pass sorts by */
#define RADIX_PASSES 4	 /* sort by 44 bits: the lowest 4 are the same in all blocks */
#define RADIX_SIZE (1u << RADIX_BITS)
#define AHEAD 16u /* blocks that are fetched before they are looked at */

/* ---- blocks by address ---- */

/* Sorted in place of the blocks, which lie all over the table of live blocks. */
struct key {
	uint64_t address;
	const struct tpa_block *block;
};

static unsigned digit_of(const struct key *key, unsigned pass)
{
	return (unsigned)(key->address >> (4 + pass * RADIX_BITS)) & (RADIX_SIZE - 1);
}

static void sort_by_digit(const struct key *from, struct key *to, size_t count, unsigned pass)
{
	size_t place[RADIX_SIZE] = { 0 }, sum = 0;

	for (size_t i = 0; i < count; i++)
		place[digit_of(&from[i], pass)]++;
	for (unsigned digit = 0; digit < RADIX_SIZE; digit++) {
		size_t here = place[digit];

		place[digit] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		to[place[digit_of(&from[i], pass)]++] = from[i];
}

static void sort_blocks(struct tpa_holes *holes, const struct tpa_live *live)
{
	size_t slots = (size_t)1 << (64 - live->shift), count = 0;
	struct key *keys = tpa_zalloc(2 * live->count, sizeof(*keys)), *half[] = { keys, keys + live->count };

	for (size_t i = 0; i < slots && count < live->count; i++)
		if (live->blocks[i].site)
			keys[count++] = (struct key){ live->blocks[i].address, &live->blocks[i] };
	for (unsigned pass = 0; pass < RADIX_PASSES; pass++)
		sort_by_digit(half[pass % 2], half[1 - pass % 2], count, pass);
	holes->blocks = tpa_zalloc(count, sizeof(*holes->blocks));
	holes->block_count = count;
	for (size_t i = 0; i < count; i++)
		holes->blocks[i] = half[RADIX_PASSES % 2][i].block;
	free(keys);
}

static uint64_t usable_of(const struct tpa_block *block)
{
	return tpa_slack_usable(block->size, block->slack);
}

static bool is_young(const struct tpa_holes *holes, const struct tpa_block *block)
{
	return block->time > holes->cutoff;
}

/* The block at an index. Those that come next are fetched meanwhile: they lie all over the table of live blocks. */
static const struct tpa_block *block_at(const struct tpa_holes *holes, size_t i)
{
	if (i + AHEAD < holes->block_count)
		__builtin_prefetch(holes->blocks[i + AHEAD]);
	return holes->blocks[i];
}

/* Index of the first block at or after the address. */
static size_t block_from(const struct tpa_holes *holes, uint64_t address)
{
	size_t low = 0, high = holes->block_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (holes->blocks[middle]->address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- heaps of chunks ---- */

static uint64_t chunk_end(const struct tpa_block *block)
{
	return block->address + usable_of(block) + HEADER;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Resident fraction of the heap's free memory. All of its blocks are taken to be resident. */
static double resident_part(const struct tpa_hole_heap *heap, uint64_t used)
{
	uint64_t space = heap->high - heap->low, free_space = less(space, used);

	if (!free_space || heap->rss >= space)
		return 1;
	return (double)less(heap->rss, used) / (double)free_space;
}

/* Charges the hole from `start` to `end` to `owner`. `size`: bytes of the hole without the young blocks in it. */
static void add_hole(struct tpa_holes *holes, const struct tpa_block *owner, uint64_t start, uint64_t end,
		     uint64_t size, double resident)
{
	uint64_t bytes = (uint64_t)((double)size * resident);
	uint64_t whole = less(end & ~(uint64_t)(PAGE - 1), (start + PAGE - 1) & ~(uint64_t)(PAGE - 1));

	holes->of_site[owner->site] += bytes;
	holes->sum.holes += bytes;
	if (size >= TPA_HOLE_WIDE)
		holes->sum.wide += bytes;
	whole = whole < size ? whole : size;
	holes->sum.pages += (uint64_t)((double)whole * resident);
}

static const struct tpa_block *later_of(const struct tpa_block *a, const struct tpa_block *b)
{
	return a && a->time > b->time ? a : b;
}

static void search_heap(struct tpa_holes *holes, const struct tpa_hole_heap *heap)
{
	size_t from = block_from(holes, heap->low), to = block_from(holes, heap->high);
	const struct tpa_block *before = NULL;
	uint64_t used = 0, young = 0, start = heap->low, found = holes->sum.holes + holes->sum.ends;
	double resident;

	for (size_t i = from; i < to; i++)
		used += usable_of(block_at(holes, i)) + HEADER;
	resident = resident_part(heap, used);
	for (size_t i = from; i < to; i++) {
		const struct tpa_block *block = block_at(holes, i);

		holes->sum.rounding += usable_of(block) + HEADER - block->size;
		if (is_young(holes, block)) {
			young += usable_of(block) + HEADER;
			continue;
		}
		add_hole(holes, later_of(before, block), start, block->address,
			 less(less(block->address, start), young), resident);
		before = block;
		start = chunk_end(block);
		young = 0;
	}
	holes->sum.ends += (uint64_t)((double)less(less(heap->high, start), young) * resident);
	holes->sum.arenas += heap->arena;
	if (heap->arena)
		holes->sum.apart += holes->sum.holes + holes->sum.ends - found;
}

/* ---- slabs and pages ---- */

struct span {
	uint64_t start, end;
};

/* The inverse of an odd number modulo 2^64, by Newton's method (Warren, Hacker's Delight, 10-16). */
static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;

	for (int i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

/*
 * The slab that holds the block. A slab begins at a page and is as long as the least common multiple of the page size
 * and the class size. Its regions lie at the multiples of the class size. No two regions of a slab start at the same
 * offset in a page, so the block's offset in its page tells which region it is.
 */
static struct span slab_of(const struct tpa_block *block)
{
	uint64_t size = usable_of(block), common, pages, number;

	if (!size || size > SLAB_MOST)
		return (struct span){ block->address, block->address + size };
	common = size & (0 - size);
	common = common < PAGE ? common : PAGE;
	pages = PAGE / common; /* number of regions; the slab has size / common pages */
	number = block->address % PAGE / common * inverse(size / common) % pages;
	return (struct span){ block->address - number * size, block->address - number * size + size * pages };
}

static struct span page_of(const struct tpa_block *block)
{
	uint64_t start = block->address & ~(uint64_t)(PAGE - 1);

	return (struct span){ start, start + PAGE };
}

/* Charges a span's free bytes to the old ones of its blocks, which are [from, to). */
static void share_span(struct tpa_holes *holes, const struct span *span, size_t from, size_t to)
{
	uint64_t size = span->end - span->start, used = 0, old = 0, bytes;

	for (size_t i = from; i < to; i++) {
		uint64_t in = less(span->end, holes->blocks[i]->address), usable = usable_of(holes->blocks[i]);

		used += usable < in ? usable : in;
		old += !is_young(holes, holes->blocks[i]);
		holes->sum.rounding += usable - holes->blocks[i]->size;
	}
	bytes = less(size, used);
	if (!old || size > (SLAB_MOST << 3))
		return;
	holes->sum.holes += bytes;
	for (size_t i = from; i < to; i++)
		if (!is_young(holes, holes->blocks[i]))
			holes->of_site[holes->blocks[i]->site] += bytes / old;
}

static void search_spans(struct tpa_holes *holes, struct span (*span_of)(const struct tpa_block *block))
{
	size_t next;

	for (size_t i = 0; i < holes->block_count; i = next) {
		struct span span = span_of(holes->blocks[i]);

		next = i + 1;
		while (next < holes->block_count && holes->blocks[next]->address < span.end)
			next++;
		share_span(holes, &span, i, next);
	}
}

/* ---- the search ---- */

void tpa_holes_add_heap(struct tpa_holes *holes, const struct tpa_hole_heap *heap)
{
	tpa_grow(&holes->heaps, &holes->heap_room, holes->heap_count + 1, sizeof(*holes->heaps));
	holes->heaps[holes->heap_count++] = *heap;
}

void tpa_holes_find(struct tpa_holes *holes, const struct tpa_live *live, size_t site_count)
{
	holes->of_site = tpa_zalloc(site_count, sizeof(*holes->of_site));
	holes->site_count = site_count;
	sort_blocks(holes, live);
	if (holes->layout == TPA_LAYOUT_SLABS)
		search_spans(holes, slab_of);
	else if (holes->layout == TPA_LAYOUT_PAGES)
		search_spans(holes, page_of);
	for (size_t i = 0; holes->layout == TPA_LAYOUT_CHUNKS && i < holes->heap_count; i++)
		search_heap(holes, &holes->heaps[i]);
}

void tpa_holes_free(struct tpa_holes *holes)
{
	free(holes->heaps);
	free(holes->blocks);
	free(holes->of_site);
}

/* ---- over time ---- */

static void fill(struct tpa_hole_reading *reading, const struct tpa_holes *holes, uint64_t time, uint64_t steps)
{
	reading->time = time;
	reading->steps = steps;
	reading->sum = holes->sum;
	reading->count = 0;
	for (size_t i = 0; i < holes->site_count; i++) {
		if (holes->of_site[i] < TPA_HOLE_LEAST)
			continue;
		tpa_grow(&reading->list, &reading->room, reading->count + 1, sizeof(*reading->list));
		reading->list[reading->count++] =
			(struct tpa_hole_share){ .site = (uint32_t)i, .bytes = holes->of_site[i] };
	}
}

/* Drops every second reading, and reuses the lists of the dropped ones. */
static void halve(struct tpa_hole_series *series)
{
	series->mask = series->mask * 2 + 1;
	for (size_t i = 0; i < series->count; i += 2) {
		struct tpa_hole_reading swap = series->list[i / 2];

		series->list[i / 2] = series->list[i];
		series->list[i] = swap;
	}
	series->count = (series->count + 1) / 2;
}

void tpa_hole_series_add(struct tpa_hole_series *series, const struct tpa_holes *holes, uint64_t time, uint64_t steps,
			 bool peak)
{
	/* Keep the last reading only if its number has none of the mask's bits. */
	if (series->count && (series->searches - 1) & series->mask)
		series->count--;
	if (series->count > TPA_HOLE_READINGS)
		halve(series);
	fill(&series->list[series->count++], holes, time, steps);
	series->searches++;
	if (peak)
		fill(&series->peak, holes, time, steps);
}

void tpa_hole_series_free(struct tpa_hole_series *series)
{
	for (size_t i = 0; i <= TPA_HOLE_READINGS; i++)
		free(series->list[i].list);
	free(series->peak.list);
}

static void archive_reading(struct tpa_archive *archive, struct tpa_hole_reading *reading)
{
	TPA_ARCHIVE(archive, reading->time);
	TPA_ARCHIVE(archive, reading->steps);
	TPA_ARCHIVE(archive, reading->sum);
	tpa_archive_array(archive, &reading->list, &reading->count, &reading->room, sizeof(*reading->list));
}

void tpa_hole_series_archive(struct tpa_archive *archive, struct tpa_hole_series *series)
{
	TPA_ARCHIVE(archive, series->count);
	TPA_ARCHIVE(archive, series->searches);
	TPA_ARCHIVE(archive, series->mask);
	if (!tpa_archive_check(archive, series->count <= TPA_HOLE_READINGS + 1, "too many searches for holes"))
		series->count = 0;
	for (size_t i = 0; i < series->count; i++)
		archive_reading(archive, &series->list[i]);
	archive_reading(archive, &series->peak);
}
