/* SPDX-License-Identifier: Apache-2.0 */
/* Items of work: each is done once, and the largest begins first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/workers.h"

static void count_item(void *context, size_t index)
{
	unsigned *counts = context;

	counts[index]++;
}

static void test_each_item_is_done_once(void **state)
{
	static const size_t threads[] = { 0, 1, 2, 7, 300 };
	static const uint64_t sizes[100] = { [30] = 7, [60] = UINT64_MAX };
	unsigned counts[100];

	(void)state;
	for (size_t t = 0; t < sizeof(threads) / sizeof(threads[0]); t++)
		for (size_t count = 0; count <= 100; count += 50) {
			memset(counts, 0, sizeof(counts));
			tpa_workers(threads[t], count, count_item, counts);
			tpa_workers_largest(threads[t], sizes, count, count_item, counts);
			for (size_t i = 0; i < 100; i++)
				assert_int_equal(counts[i], 2 * (i < count));
		}
	assert_true(tpa_processors() >= 1);
}

struct order {
	size_t indexes[6], count;
};

static void note_item(void *context, size_t index)
{
	struct order *order = context;

	order->indexes[order->count++] = index;
}

/* Of equal ones, the first. */
static void test_the_largest_begins_first(void **state)
{
	static const uint64_t sizes[] = { 5, 0, UINT64_MAX, 5, 9, 0 };
	static const size_t expected[] = { 2, 4, 0, 3, 1, 5 };
	struct order order = { .count = 0 };

	(void)state;
	tpa_workers_largest(1, sizes, 6, note_item, &order);
	assert_int_equal(order.count, 6);
	assert_memory_equal(order.indexes, expected, sizeof(expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_item_is_done_once),
		cmocka_unit_test(test_the_largest_begins_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
