/* SPDX-License-Identifier: Apache-2.0 */
/* The search for free memory between blocks, against maps of the heap that have an entry for every 16 bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/heap/holes.h"

#define GRANULE 16u
#define GRANULES 20000u
#define BASE UINT64_C(0x555500000000)
#define CUTOFF 1000u
#define SITES 7u

static uint64_t seed;

static uint64_t draw(uint64_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (seed >> 33) % below;
}

static void add(struct tpa_live *live, uint64_t address, uint64_t size, uint64_t usable, uint64_t time, uint32_t site)
{
	*tpa_live_place(live, address) = (struct tpa_block){ .address = address,
							     .size = size & TPA_BLOCK_MOST,
							     .time = time,
							     .site = site,
							     .slack = tpa_slack_pack(size, usable) };
	live->count++;
}

/* A granule of the heap: free, or of a block that was allocated at `time`. */
struct granule {
	uint32_t site; /* 0: free */
	uint64_t time;
};

/* As glibc lays it out: the block begins 16 bytes into its chunk, and has the first 8 bytes of the next one. */
static void fill_heap(struct tpa_live *live, struct granule *map)
{
	uint32_t at = 0;

	while (at < GRANULES - 100) {
		uint32_t granules = 2 + (uint32_t)draw(60), site = 1 + (uint32_t)draw(SITES - 1);
		uint64_t time = draw(10) ? draw(CUTOFF) : CUTOFF + 1 + draw(100);

		if (draw(3)) {
			uint64_t usable = granules * GRANULE - 8;

			add(live, BASE + at * GRANULE + 16, usable - draw(8), usable, time, site);
			for (uint32_t i = 0; i < granules; i++)
				map[at + i] = (struct granule){ site, time };
		}
		at += granules;
	}
}

/* The nearest old block in that direction. */
static const struct granule *neighbour(const struct granule *map, uint32_t at, int step)
{
	for (int64_t i = at; i >= 0 && i < GRANULES; i += step)
		if (map[i].site && map[i].time <= CUTOFF)
			return &map[i];
	return NULL;
}

static void expect_of_map(const struct granule *map, uint64_t *of_site, uint64_t *ends)
{
	for (uint32_t i = 0; i < GRANULES; i++) {
		const struct granule *before = neighbour(map, i, -1), *after = neighbour(map, i, 1);

		if (map[i].site)
			continue;
		if (!after)
			*ends += GRANULE;
		else
			of_site[(before && before->time > after->time ? before : after)->site] += GRANULE;
	}
}

/* Chunks begin 16 bytes before their blocks: the first 8 bytes of a heap and the last ones are nobody's. */
#define SLACK 64u

static void test_chunks(void **state)
{
	for (seed = 1; seed < 60; seed++) {
		uint64_t first = seed, expected[SITES] = { 0 }, ends = 0, all = 0;
		struct granule *map = calloc(GRANULES, sizeof(*map));
		struct tpa_holes holes = { .layout = TPA_LAYOUT_CHUNKS, .cutoff = CUTOFF };
		struct tpa_live live;

		tpa_live_init(&live);
		fill_heap(&live, map);
		expect_of_map(map, expected, &ends);
		tpa_holes_add_heap(&holes, &(struct tpa_hole_heap){ BASE, BASE + GRANULES * GRANULE, GRANULES * GRANULE,
								    first % 2 != 0 });
		tpa_holes_find(&holes, &live, SITES);
		for (uint32_t site = 0; site < SITES; site++) {
			assert_in_range(holes.of_site[site], expected[site] > SLACK ? expected[site] - SLACK : 0,
					expected[site] + SLACK);
			all += holes.of_site[site];
		}
		assert_int_equal(all, holes.sum.holes);
		assert_in_range(holes.sum.ends, ends - SLACK, ends + SLACK);
		assert_int_equal(holes.sum.apart, first % 2 ? holes.sum.holes + holes.sum.ends : 0);
		assert_true(holes.sum.pages <= holes.sum.holes);
		tpa_holes_free(&holes);
		tpa_live_free(&live);
		free(map);
		seed = first;
	}
	(void)state;
}

/* Of a heap that is resident in part, holes are so in the same part as all of its free memory. */
static void test_resident_part(void **state)
{
	const struct tpa_hole_heap heap = { BASE, BASE + 0x100000, 0x20000, false };
	struct tpa_holes holes = { .layout = TPA_LAYOUT_CHUNKS, .cutoff = CUTOFF };
	struct tpa_live live;

	tpa_live_init(&live);
	add(&live, BASE + 16, 0x10000 - 8, 0x10000 - 8, 1, 1);
	add(&live, BASE + 0x80000 + 16, 0x10000 - 8, 0x10000 - 8, 2, 2);
	tpa_holes_add_heap(&holes, &heap);
	tpa_holes_find(&holes, &live, SITES);
	assert_int_equal(holes.sum.holes, 0); /* the blocks alone are as large as what is resident */
	tpa_holes_free(&holes);
	holes = (struct tpa_holes){ .layout = TPA_LAYOUT_CHUNKS, .cutoff = CUTOFF };
	tpa_holes_add_heap(&holes, &(struct tpa_hole_heap){ heap.low, heap.high, 0x20000 + 0xe0000 / 2, false });
	tpa_holes_find(&holes, &live, SITES);
	assert_in_range(holes.of_site[2], 0x70000 / 2 - SLACK, 0x70000 / 2 + SLACK);
	assert_in_range(holes.of_site[1], 0, SLACK);
	assert_int_equal(holes.sum.wide, holes.of_site[2]);
	tpa_holes_free(&holes);
	tpa_live_free(&live);
	(void)state;
}

/* Slabs as jemalloc makes them, of classes whose sizes have no common place in a page. */
static void test_slabs(void **state)
{
	static const struct {
		uint64_t size, slab; /* slab: from jemalloc's table of size classes */
	} classes[] = { { 16, 4096 },	{ 48, 12288 },	{ 80, 20480 },	 { 160, 20480 },  { 256, 4096 },
			{ 320, 20480 }, { 448, 28672 }, { 1280, 20480 }, { 3584, 28672 }, { 14336, 28672 } };
	uint64_t expected[SITES] = { 0 }, start = BASE;
	struct tpa_holes holes = { .layout = TPA_LAYOUT_SLABS, .cutoff = CUTOFF };
	struct tpa_live live;

	seed = 7;
	tpa_live_init(&live);
	for (int round = 0; round < 400; round++) {
		uint64_t size = classes[draw(10)].size, slab = 0, used = 0, old = 0, owners[SITES] = { 0 };

		for (size_t i = 0; i < 10; i++)
			slab = classes[i].size == size ? classes[i].slab : slab;
		for (uint64_t i = 0; i < slab / size; i++) {
			uint64_t time = draw(4) ? draw(CUTOFF) : CUTOFF + 1;
			uint32_t site = 1 + (uint32_t)draw(SITES - 1);

			if (draw(8))
				continue;
			add(&live, start + i * size, size - draw(8), size, time, site);
			used += size;
			old += time <= CUTOFF;
			owners[site] += time <= CUTOFF;
		}
		for (uint32_t i = 0; old && i < SITES; i++)
			expected[i] += owners[i] * ((slab - used) / old);
		start += slab + 4096 * draw(3);
	}
	tpa_holes_find(&holes, &live, SITES);
	assert_memory_equal(holes.of_site, expected, sizeof(expected));
	tpa_holes_free(&holes);
	tpa_live_free(&live);
	(void)state;
}

/* Of many searches some 32 stay, spread over all, with the last one and the peak. */
static void test_series(void **state)
{
	struct tpa_hole_series series = { .count = 0 };
	uint64_t of_site[2] = { 0, TPA_HOLE_LEAST };

	for (uint64_t i = 0; i < 1000; i++) {
		struct tpa_holes holes = { .of_site = of_site, .site_count = 2 };

		of_site[1] = TPA_HOLE_LEAST + i;
		tpa_hole_series_add(&series, &holes, i, 2 * i, i <= 500);
		assert_true(series.count <= TPA_HOLE_READINGS + 1);
		assert_int_equal(series.list[series.count - 1].time, i);
		for (size_t k = 0; k < series.count; k++)
			assert_int_equal(series.list[k].list[0].bytes, TPA_HOLE_LEAST + series.list[k].time);
		for (size_t k = 1; k < series.count; k++)
			assert_true(series.list[k].time > series.list[k - 1].time &&
				    series.list[k].time - series.list[k - 1].time <= i / 8 + 1);
	}
	assert_int_equal(series.list[0].time, 0);
	assert_int_equal(series.peak.time, 500);
	assert_int_equal(series.peak.steps, 1000);
	tpa_hole_series_free(&series);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_resident_part),
		cmocka_unit_test(test_slabs),
		cmocka_unit_test(test_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
