/* SPDX-License-Identifier: Apache-2.0 */
/* The search for pointers, on memory that is made: every word in its place, against answers worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "model/reach.h"

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

static struct tp_reach_block *blocks(size_t count)
{
	struct tp_reach_block *list = calloc(count, sizeof(*list));

	assert_non_null(list);
	for (size_t i = 0; i < count; i++) /* in any order */
		list[i] = (struct tp_reach_block){ .address = BLOCK(count - 1 - i), .size = 48, .time = 7 };
	memset(words, 0, sizeof(words));
	return list;
}

static void search(struct tp_reach_block *list, size_t count, bool exact_only)
{
	const struct tp_reach_root ranges[] = { { ROOT, ROOT + 64, false },
						{ ROOT + 0x100, ROOT + 0x140, exact_only } };

	assert_true(tp_reach_search(list, count, &(struct tp_reach_roots){ ranges, 2, NULL, 0 }, read_words, NULL));
}

static void test_words(void **unused)
{
	struct tp_reach_block *list = blocks(8);

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
	struct tp_reach_block *list = blocks(6);

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
	struct tp_reach_block *list = blocks(2);

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
	struct tp_reach_block *list = blocks(2);

	(void)unused;
	list[0].size = list[1].size = 0;
	*at(ROOT) = BLOCK(1);
	*at(ROOT + 8) = BLOCK(0) + 8;
	search(list, 2, false);
	assert_int_equal(list[0].reach, TPROF_REACH_DEFINITE);
	assert_int_equal(list[1].reach, TPROF_REACH_STILL);
	free(list);
}

/* Lost in both searches, and the same block: lost. */
static void test_confirmed(void **unused)
{
	struct tp_reach_block *now = blocks(4), *earlier = blocks(4);

	(void)unused;
	search(now, 4, false);
	*at(ROOT) = BLOCK(1);
	search(earlier, 4, false);
	earlier[2].time = 6; /* another block, at the same address */
	tp_reach_confirm(now, 4, earlier, 3);
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
		cmocka_unit_test(test_confirmed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
