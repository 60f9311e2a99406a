/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of records in a temporary file, beside the same lists in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "export/spool.h"

#define LISTS 7
#define MOST 20000

struct record {
	uint64_t number;
	uint8_t more[20]; /* a record does not divide a block evenly */
};

struct lists {
	uint64_t numbers[LISTS][MOST];
	size_t counts[LISTS];
};

struct reading {
	const uint64_t *expected;
	size_t count;
};

static void compare(void *to, const void *record)
{
	struct reading *reading = to;
	const struct record *read = record;

	assert_int_equal(read->number, reading->expected[reading->count++]);
	assert_int_equal(read->more[19], (uint8_t)read->number);
}

static void compare_all(struct tpa_spool *spool, const struct lists *lists)
{
	for (uint32_t i = 0; i < LISTS; i++) {
		struct reading reading = { .expected = lists->numbers[i] };

		assert_int_equal(tpa_spool_count(spool, i), lists->counts[i]);
		assert_true(tpa_spool_each(spool, i, compare, &reading));
		assert_int_equal(reading.count, lists->counts[i]);
	}
}

/* List 0 gets most records, and the last one few or none. */
static void fill(struct tpa_spool *spool, struct lists *lists, uint64_t seed, size_t records)
{
	for (size_t i = 0; i < records; i++) {
		struct record record = { .number = seed + i };
		uint32_t list;

		seed = seed * UINT64_C(6364136223846793005) + 1;
		list = (uint32_t)((seed >> 33) % LISTS * ((seed >> 50) % LISTS) / LISTS);
		record.number = seed;
		record.more[19] = (uint8_t)seed;
		assert_true(tpa_spool_add(spool, list, &record));
		lists->numbers[list][lists->counts[list]++] = seed;
	}
}

static void test_lists(void **state)
{
	struct tpa_spool *spool = tpa_spool_new(sizeof(struct record));

	(void)state;
	assert_non_null(spool);
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct lists *lists = calloc(1, sizeof(*lists));

		assert_non_null(lists);
		compare_all(spool, lists);
		fill(spool, lists, seed, MOST / 2);
		compare_all(spool, lists);
		fill(spool, lists, seed + 100, MOST / 2); /* after it was read */
		compare_all(spool, lists);
		assert_int_equal(tpa_spool_count(spool, LISTS + 5), 0);
		tpa_spool_clear(spool);
		assert_int_equal(tpa_spool_lists(spool), 0);
		free(lists);
	}
	tpa_spool_free(spool);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_lists) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
