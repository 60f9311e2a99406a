/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes that stand for what they are made of: of things that differ in little, none meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

#include "core/hash.h"

#define MANY (1u << 20)

static uint64_t hashes[MANY];
static size_t count;

static int by_value(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

static int begin(void **state)
{
	(void)state;
	count = 0;
	return 0;
}

static void none_meet(void)
{
	qsort(hashes, count, sizeof(*hashes), by_value);
	for (size_t i = 1; i < count; i++)
		assert_true(hashes[i - 1] != hashes[i]);
}

/* As code objects of Python 3.10 on lines near each other: the first line, and a table of two bytes. */
static void numbers_and_short_texts(void **state)
{
	(void)state;
	for (uint32_t line = 0; line < 512; line++) {
		for (uint32_t length = 0; length < 256; length++) {
			uint8_t table[2] = { (uint8_t)length };

			hashes[count++] = tpc_hash_bytes(tpc_hash_word(0, line), table, sizeof(table));
		}
	}
	none_meet();
}

/* All that can be made of two letters and two texts: what belongs to which is part of it. */
static void where_one_ends(void **state)
{
	char text[10];

	(void)state;
	for (uint32_t length = 0; length < 10; length++) {
		for (uint32_t which = 0; which < 1u << length; which++) {
			for (uint32_t i = 0; i < length; i++)
				text[i] = "ab"[which >> i & 1];
			for (uint32_t first = 0; first <= length; first++)
				hashes[count++] =
					tpc_hash_bytes(tpc_hash_bytes(0, text, first), text + first, length - first);
		}
	}
	none_meet();
}

/* One bit in zeros of any length. */
static void each_bit_counts(void **state)
{
	uint8_t zeros[40] = { 0 };

	(void)state;
	for (size_t length = 0; length <= sizeof(zeros); length++) {
		hashes[count++] = tpc_hash_bytes(0, zeros, length);
		for (size_t bit = 0; bit < length * 8; bit++) {
			zeros[bit / 8] ^= (uint8_t)(1u << bit % 8);
			hashes[count++] = tpc_hash_bytes(0, zeros, length);
			zeros[bit / 8] = 0;
		}
	}
	none_meet();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(numbers_and_short_texts, begin),
		cmocka_unit_test_setup(where_one_ends, begin),
		cmocka_unit_test_setup(each_bit_counts, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
