/* SPDX-License-Identifier: Apache-2.0 */
/* Python's line tables, entry by entry, and tables that are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hooks/python/lines.h"

struct expected {
	int64_t unit;
	int32_t line;
};

/* A code object's number for each table, and one that is new. */
static uint32_t codes;

/* Whatever was looked for before, in front of it or behind. */
static void check(const struct tpc_lines *lines, const struct expected *expected, size_t count)
{
	uint32_t code = ++codes;

	for (size_t i = 0; i < count; i++)
		assert_int_equal(tpc_line_find(lines, ++codes, expected[i].unit), expected[i].line);
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < count; k++) {
			assert_int_equal(tpc_line_find(lines, code, expected[i].unit), expected[i].line);
			assert_int_equal(tpc_line_find(lines, code, expected[k].unit), expected[k].line);
		}
	}
}

/* 3.9: 8 bytes of line 11, 6 of line 13, then back to line 12. */
static void test_lnotab(void **state)
{
	static const uint8_t bytes[] = { 0, 1, 8, 2, 6, 0xff };
	static const struct expected expected[] = { { -1, 10 }, { 0, 11 }, { 3, 11 },	{ 4, 13 },
						    { 6, 13 },	{ 7, 12 }, { 1000, 12 } };

	(void)state;
	check(&(struct tpc_lines){ TPC_LINES_LNOTAB, bytes, sizeof(bytes), 10 }, expected, 7);
}

/* 3.10: as above, with four bytes of no line between, and an end. */
static void test_pairs(void **state)
{
	static const uint8_t bytes[] = { 8, 1, 4, 0x80, 6, 2, 2, 0xff };
	static const struct expected expected[] = { { -1, 10 }, { 0, 11 }, { 3, 11 }, { 4, 0 },
						    { 6, 13 },	{ 8, 13 }, { 9, 12 }, { 10, 0 } };

	(void)state;
	check(&(struct tpc_lines){ TPC_LINES_PAIRS, bytes, sizeof(bytes), 10 }, expected, 8);
}

/* 3.11: one of each form of an entry; the long ones' line deltas are +1, -70 and +300. */
static void test_locations(void **state)
{
	static const uint8_t bytes[] = {
		0x80 | 11 << 3 | 1, 4,	       9,	      /* two units, one line on */
		0x80 | 3 << 3 | 0,  0x25,		      /* one, the same line */
		0x80 | 15 << 3 | 2,			      /* three of no line */
		0x80 | 13 << 3 | 0, 0x40 | 13, 0x02,	      /* one: svarint 141: -70 */
		0x80 | 14 << 3 | 7, 0x40 | 24, 0x09, 1, 2, 3, /* eight: svarint 600: +300 */
		0x80 | 12 << 3 | 0, 1,	       2,	      /* one, two lines on */
	};
	static const struct expected expected[] = { { -1, 100 }, { 0, 101 },  { 1, 101 }, { 2, 101 },
						    { 3, 0 },	 { 5, 0 },    { 6, 31 },  { 7, 331 },
						    { 14, 331 }, { 15, 333 }, { 16, 0 } };
	struct tpc_lines lines = { TPC_LINES_LOCATIONS, bytes, sizeof(bytes), 100 };

	(void)state;
	check(&lines, expected, 11);
	for (lines.length = 0; lines.length < sizeof(bytes); lines.length++) {
		codes++;
		for (int64_t unit = -1; unit < 20; unit++) /* nothing behind the end is read: sanitizers would say */
			assert_true(tpc_line_find(&lines, codes, unit) >= 0);
	}
}

/* Two code objects whose places are remembered in one, by turns; and one that is another's after a fork. */
static void test_turns(void **state)
{
	static const uint8_t bytes[] = { 2, 1, 2, 1, 2, 1, 2, 1 }, others[] = { 8, 100, 2, 1 };
	struct tpc_lines lines = { TPC_LINES_PAIRS, bytes, sizeof(bytes), 10 };
	struct tpc_lines other = { TPC_LINES_PAIRS, others, sizeof(others), 1 };

	(void)state;
	for (int64_t unit = 0; unit < 4; unit++) {
		assert_int_equal(tpc_line_find(&lines, 1000, unit), 11 + unit);
		assert_int_equal(tpc_line_find(&other, 1000 + 65536, unit), 101);
	}
	assert_int_equal(tpc_line_find(&lines, 1000, 3), 14);
	tpc_lines_forget();
	assert_int_equal(tpc_line_find(&other, 1000, 3), 101);
	assert_int_equal(tpc_line_find(&other, 1000, 4), 102);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lnotab),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_locations),
		cmocka_unit_test(test_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
