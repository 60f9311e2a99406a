/* SPDX-License-Identifier: Apache-2.0 */
/* The table of pairs against a list that is searched from end to end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/pairs.h"
#include "random_numbers.h"

#define PAIRS 3000u

/* Numbers around the bound between the two forms of slots are as frequent as small and large ones. */
static uint64_t some_number(uint64_t *seed, bool wide)
{
	uint64_t small = (uint64_t)(random_uniform(seed) * 60), kind = (uint64_t)(random_uniform(seed) * 4);

	if (kind == 0)
		return UINT32_MAX - 60 + small; /* below 2^32 - 1 */
	if (kind == 1 && wide)
		return (uint64_t)UINT32_MAX - 30 + small;
	if (kind == 2 && wide)
		return UINT64_MAX - small;
	return small;
}

struct list {
	uint64_t a[PAIRS], b[PAIRS];
	uint32_t number[PAIRS];
	size_t count;
};

static size_t place_in(const struct list *list, uint64_t a, uint64_t b)
{
	size_t i = 0;

	while (i < list->count && (list->a[i] != a || list->b[i] != b))
		i++;
	return i;
}

/* Adds pairs; from the pair `wide_from` on, also large ones. */
static void check(uint64_t seed, size_t wide_from)
{
	static struct list list;
	struct tpa_pairs pairs = { 0 };

	list.count = 0;
	for (size_t i = 0; i < PAIRS; i++) {
		uint64_t a = some_number(&seed, i >= wide_from), b = some_number(&seed, i >= wide_from);
		size_t place = place_in(&list, a, b);
		bool found;
		uint32_t *number;

		assert_int_equal(tpa_pairs_find(&pairs, a, b), place < list.count ? list.number[place] : 0);
		number = tpa_pairs_at(&pairs, a, b, &found);
		assert_int_equal(found, place < list.count);
		assert_int_equal(*number, found ? list.number[place] : 0);
		list.a[place] = a;
		list.b[place] = b;
		list.count += !found;
		list.number[place] = *number = (uint32_t)(random_uniform(&seed) * 5); /* 0 as well */
	}
	assert_int_equal(pairs.count, list.count);
	for (size_t i = 0; i < list.count; i++)
		assert_int_equal(tpa_pairs_find(&pairs, list.a[i], list.b[i]), list.number[i]);
	tpa_pairs_free(&pairs);
	assert_int_equal(tpa_pairs_find(&pairs, 1, 1), 0);
}

static void test_small_numbers(void **state)
{
	(void)state;
	check(1, PAIRS);
}

static void test_large_numbers(void **state)
{
	(void)state;
	check(2, 0);
}

/* The first large number comes when there are none, few and many small ones, and just before and after the table grows. */
static void test_large_numbers_later(void **state)
{
	static const size_t from[] = { 1, 100, 127, 128, 129, 130, 255, 256, 257, 2000 };

	(void)state;
	for (size_t i = 0; i < sizeof(from) / sizeof(*from); i++)
		check(3 + i, from[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_numbers),
		cmocka_unit_test(test_large_numbers),
		cmocka_unit_test(test_large_numbers_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
