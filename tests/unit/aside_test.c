/* SPDX-License-Identifier: Apache-2.0 */
/* Lists that are laid aside: they read, grow and are freed as before, and take no memory meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/aside.h"
#include "base/memory.h"
#include "base/pairs.h"
#include "base/workers.h"

#define LISTS 24u
#define WORDS ((size_t)4 << 20) /* of each: 32 MiB */

static size_t resident(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	size_t all = 0, pages = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%zu %zu", &all, &pages), 2);
	fclose(file);
	return pages * 4096;
}

static void fill_one(void *context, size_t index)
{
	uint64_t **lists = context;

	lists[index] = tpa_resize(NULL, WORDS + 512 * index, sizeof(**lists));
	for (size_t i = 0; i < WORDS; i++)
		lists[index][i] = (index << 40 | i) * UINT64_C(0x9e3779b97f4a7c15);
	tpa_lay_aside(&lists[index], WORDS * sizeof(**lists));
}

static void check_one(uint64_t *const *lists, size_t index)
{
	for (size_t i = 0; i < WORDS; i++)
		if (lists[index][i] != (index << 40 | i) * UINT64_C(0x9e3779b97f4a7c15))
			fail_msg("list %zu, word %zu", index, i);
}

static void test_lists_are_as_before(void **state)
{
	uint64_t *lists[LISTS];
	size_t before = resident(), after, room;

	(void)state;
	tpa_workers(3, LISTS, fill_one, lists);
	after = resident();
	for (size_t i = 0; i < LISTS; i++) {
		check_one(lists, i);
		tpa_aside_rest();
	}
	if (after - before > LISTS * WORDS * sizeof(**lists) / 4 * 3)
		skip(); /* no jemalloc, or no room for a file */
	/* What stays, and the blocks that the threads had last. */
	assert_true(after - before < TPA_ASIDE_KEPT + 4 * WORDS * sizeof(**lists));
	assert_true(resident() - before < TPA_ASIDE_KEPT + 4 * WORDS * sizeof(**lists));
	room = WORDS;
	tpa_grow(&lists[LISTS - 1], &room, WORDS + 1, sizeof(**lists));
	memset(lists[LISTS - 1] + WORDS, 1, (room - WORDS) * sizeof(**lists));
	check_one(lists, LISTS - 1);
	for (size_t i = 0; i < LISTS; i++)
		free(lists[i]);
}

static void test_a_table_is_as_before(void **state)
{
	struct tpa_pairs narrow = { 0 }, wide = { 0 };

	(void)state;
	for (uint32_t i = 1; i < 200000; i++) {
		tpa_pairs_set(&narrow, i, i * 3, i);
		tpa_pairs_set(&wide, (uint64_t)i << 33, i, i);
	}
	tpa_pairs_lay_aside(&narrow);
	tpa_pairs_lay_aside(&wide);
	for (uint32_t i = 200000; i < 400000; i++) {
		tpa_pairs_set(&narrow, i, i * 3, i);
		tpa_pairs_set(&wide, (uint64_t)i << 33, i, i);
	}
	for (uint32_t i = 1; i < 400000; i++) {
		assert_int_equal(tpa_pairs_find(&narrow, i, i * 3), i);
		assert_int_equal(tpa_pairs_find(&wide, (uint64_t)i << 33, i), i);
	}
	tpa_pairs_free(&narrow);
	tpa_pairs_free(&wide);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists_are_as_before),
		cmocka_unit_test(test_a_table_is_as_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
