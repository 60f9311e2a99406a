/* SPDX-License-Identifier: Apache-2.0 */
/* The search for pointers, on memory that is made: every word in its place, against answers worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "model/replay/reach.h"

#define BASE UINT64_C(0x10000)

static uint64_t words[1024]; /* the memory, from BASE on */

static size_t read_words(void *context, uint64_t address, void *to, size_t size)
{
	uint64_t end = BASE + sizeof(words);

	(void)context;
	if (address < BASE || address >= end)
		return 0;
	if (size > end - address)
		size = (size_t)(end - address);
	memcpy(to, (const char *)words + (address - BASE), size);
	return size;
}

static uint64_t *at(uint64_t address)
{
	return &words[(address - BASE) / 8];
}

#define BLOCK(n) (BASE + 0x1000 + 0x40 * (uint64_t)(n)) /* of 48 bytes each */
#define ROOT (BASE + 0x100)

static struct tpa_reach_block *blocks(size_t count)
{
	struct tpa_reach_block *list = calloc(count, sizeof(*list));

	assert_non_null(list);
	for (size_t i = 0; i < count; i++) /* in any order */
		list[i] = (struct tpa_reach_block){ .address = BLOCK(count - 1 - i), .size = 48, .time = 7 };
	memset(words, 0, sizeof(words));
	return list;
}

static void search(struct tpa_reach_block *list, size_t count, bool exact_only)
{
	const struct tpa_reach_root ranges[] = { { ROOT, ROOT + 64, false },
						 { ROOT + 0x100, ROOT + 0x140, exact_only } };

	tpa_reach_search(list, count, &(struct tpa_reach_roots){ .ranges = ranges, .range_count = 2 }, read_words,
			 NULL);
}

static void test_words(void **unused)
{
	struct tpa_reach_block *list = blocks(8);

	(void)unused;
	*at(ROOT) = BLOCK(0);
	*at(BLOCK(0) + 16) = BLOCK(1);	/* a chain */
	*at(ROOT + 8) = BLOCK(2) + 40;	/* into its inside */
	*at(BLOCK(2)) = BLOCK(3);	/* ... which makes what it leads to doubtful, too */
	*at(ROOT + 16) = BLOCK(4) + 48; /* behind its end */
	*at(BLOCK(4)) = BLOCK(5);
	*at(BLOCK(6) + 8) = BLOCK(6); /* nothing but itself */
	*at(ROOT + 24) = BLOCK(7) ^ UINT64_C(1) << 60;
	search(list, 8, false);
	assert_int_equal(list[0].reach, TPROF_REACH_STILL);
	assert_int_equal(list[1].reach, TPROF_REACH_STILL);
	assert_int_equal(list[2].reach, TPROF_REACH_POSSIBLE);
	assert_int_equal(list[3].reach, TPROF_REACH_POSSIBLE);
	assert_int_equal(list[4].reach, TPROF_REACH_DEFINITE);
	assert_int_equal(list[5].reach, TPROF_REACH_INDIRECT);
	assert_int_equal(list[6].reach, TPROF_REACH_DEFINITE);
	assert_int_equal(list[7].reach, TPROF_REACH_DEFINITE);
	free(list);
}

/* What is met twice counts by the better way; of a ring one is the first; a later first takes an earlier one with it. */
static void test_order(void **unused)
{
	struct tpa_reach_block *list = blocks(6);

	(void)unused;
	*at(ROOT) = BLOCK(0) + 8;
	*at(ROOT + 8) = BLOCK(0);
	*at(BLOCK(0)) = BLOCK(1);
	*at(BLOCK(2)) = BLOCK(3);
	*at(BLOCK(3)) = BLOCK(2);
	*at(BLOCK(5)) = BLOCK(4);
	search(list, 6, false);
	assert_int_equal(list[0].reach, TPROF_REACH_STILL);
	assert_int_equal(list[1].reach, TPROF_REACH_STILL);
	assert_int_equal(list[2].reach, TPROF_REACH_DEFINITE);
	assert_int_equal(list[3].reach, TPROF_REACH_INDIRECT);
	assert_int_equal(list[4].reach, TPROF_REACH_INDIRECT);
	assert_int_equal(list[5].reach, TPROF_REACH_DEFINITE);
	free(list);
}

/* An allocator's own words are no pointers into blocks, but to their beginnings. */
static void test_exact_only(void **unused)
{
	struct tpa_reach_block *list = blocks(2);

	(void)unused;
	*at(ROOT + 0x100) = BLOCK(0) + 40;
	*at(ROOT + 0x108) = BLOCK(1);
	search(list, 2, true);
	assert_int_equal(list[0].reach, TPROF_REACH_DEFINITE);
	assert_int_equal(list[1].reach, TPROF_REACH_STILL);
	free(list);
}

static void test_blocks_of_no_bytes(void **unused)
{
	struct tpa_reach_block *list = blocks(2);

	(void)unused;
	list[0].size = list[1].size = 0;
	*at(ROOT) = BLOCK(1);
	*at(ROOT + 8) = BLOCK(0) + 8;
	search(list, 2, false);
	assert_int_equal(list[0].reach, TPROF_REACH_DEFINITE);
	assert_int_equal(list[1].reach, TPROF_REACH_STILL);
	free(list);
}

/* Pointers into the inside that C++ makes by rule are as good as those to the beginning; others are not. */
static void test_interior(void **unused)
{
	const struct tprof_range files[] = { { BASE + 0x800, BASE + 0x900 } };
	const struct tpa_reach_root range = { ROOT, ROOT + 0x80, false };
	struct tpa_reach_block *list = blocks(10);
	const uint64_t table = BASE + 0x810, second = BASE + 0x850;

	(void)unused;
	*at(BLOCK(0)) = 40; /* a length */
	*at(ROOT) = BLOCK(0) + 8;
	*at(BLOCK(1)) = 5; /* elements of eight bytes */
	*at(ROOT + 8) = BLOCK(1) + 8;
	*at(BLOCK(2)) = 7; /* does not divide the rest */
	*at(ROOT + 16) = BLOCK(2) + 8;
	*at(BLOCK(3)) = 20, *at(BLOCK(3) + 8) = 23; /* a text's length and capacity */
	*at(ROOT + 24) = BLOCK(3) + 24;
	*at(BLOCK(4)) = 20, *at(BLOCK(4) + 8) = 22; /* another capacity than the block has */
	*at(ROOT + 32) = BLOCK(4) + 24;
	*at(table - 16) = 0, *at(second - 16) = (uint64_t)-16;
	*at(BLOCK(5)) = table, *at(BLOCK(5) + 16) = second; /* an object, and its second base */
	*at(ROOT + 40) = BLOCK(5) + 16;
	*at(BLOCK(6)) = table, *at(BLOCK(6) + 24) = second; /* not where the table says */
	*at(ROOT + 48) = BLOCK(6) + 24;
	*at(BLOCK(7)) = table, *at(BLOCK(7) + 16) = BASE + 0x910; /* no table of a file's */
	*at(BASE + 0x900) = (uint64_t)-16;
	*at(ROOT + 56) = BLOCK(7) + 16;
	*at(BLOCK(0) + 16) = BLOCK(8); /* what they lead to is reached, too */
	*at(BLOCK(2) + 16) = BLOCK(9);
	tpa_reach_search(
		list, 10,
		&(struct tpa_reach_roots){ .ranges = &range, .range_count = 1, .files = files, .file_count = 1 },
		read_words, NULL);
	for (size_t i = 0; i < 10; i++) {
		bool whole = i == 0 || i == 1 || i == 3 || i == 5 || i == 8;

		assert_int_equal(list[i].reach, whole ? TPROF_REACH_STILL : TPROF_REACH_POSSIBLE);
	}
	free(list);
}

/* Lost in both searches, and the same block: lost. */
static void test_confirmed(void **unused)
{
	struct tpa_reach_block *now = blocks(4), *earlier = blocks(4);

	(void)unused;
	search(now, 4, false);
	*at(ROOT) = BLOCK(1);
	search(earlier, 4, false);
	earlier[2].time = 6; /* another block, at the same address */
	tpa_reach_confirm(now, 4, earlier, 3);
	assert_int_equal(now[0].reach, TPROF_REACH_DEFINITE);
	assert_int_equal(now[1].reach, TPROF_REACH_STILL);
	assert_int_equal(now[2].reach, TPROF_REACH_STILL);
	assert_int_equal(now[3].reach, TPROF_REACH_STILL);
	free(now);
	free(earlier);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),	   cmocka_unit_test(test_order),
		cmocka_unit_test(test_exact_only), cmocka_unit_test(test_blocks_of_no_bytes),
		cmocka_unit_test(test_confirmed),  cmocka_unit_test(test_interior),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
