/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's own text functions: what TPROF_* values are read with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/text.h"

#include <tprof/size.h>

/* All patterns and texts over {a, b, *, ?} up to a length: as fnmatch. */
static void globs_match_as_the_shell_does(void **state)
{
	static const char letters[] = "ab*?";
	char pattern[7], text[6];

	(void)state;
	for (unsigned int p = 0; p < 4096; p++) {
		unsigned int length = p % 7;

		for (unsigned int i = 0; i < length; i++)
			pattern[i] = letters[p >> 2 * (i % 6) & 3];
		pattern[length] = 0;
		for (unsigned int t = 0; t < 64; t++) {
			for (unsigned int i = 0; i < t % 6; i++)
				text[i] = letters[t >> i & 1];
			text[t % 6] = 0;
			assert_int_equal(tpc_text_glob(pattern, text), fnmatch(pattern, text, 0) == 0);
		}
	}
}

static void sizes(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t bytes;
	} cases[] = {
		{ "0", true, 0 },
		{ "512", true, 512 },
		{ "512k", true, 524288 },
		{ "3M", true, 3145728 },
		{ "2g", true, UINT64_C(2) << 30 },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 },
		{ "17179869184g", false, 0 },
		{ "17179869183G", true, UINT64_C(17179869183) << 30 },
		{ "", false, 0 },
		{ "k", false, 0 },
		{ "1kb", false, 0 },
		{ "-1", false, 0 },
		{ ".5k", false, 0 },
		{ "1x", false, 0 },
		{ "1 ki", false, 0 },
		{ "1kib ", false, 0 },
		{ "1 k", true, 1024 },
		{ "1t", true, UINT64_C(1) << 40 },
		{ "2P", true, UINT64_C(2) << 50 },
		{ "4096B", true, 4096 },
		{ "8GiB", true, UINT64_C(8) << 30 },
		{ "512 MiB", true, 512u << 20 },
		{ "1.5g", true, UINT64_C(3) << 29 },
		{ "0.125kib", true, 128 },
		{ "1.9", true, 1 },
		{ "1.999999999999999999999k", true, 2047 },
	};

	(void)state;
	for (size_t i = 0; i < TPC_LENGTH(cases); i++) {
		uint64_t bytes = 1;

		assert_int_equal(tprof_parse_size(cases[i].text, &bytes), cases[i].good);
		if (cases[i].good)
			assert_int_equal(bytes, cases[i].bytes);
	}
}

static void numbers(void **state)
{
	const char *s = "123abc";
	uint64_t n;

	(void)state;
	assert_true(tpc_text_number(&s, &n));
	assert_int_equal(n, 123);
	assert_string_equal(s, "abc");
	assert_false(tpc_text_number(&s, &n));
	for (uint64_t value = 1; value < UINT64_MAX / 3; value = value * 3 + 1) {
		char ours[32], theirs[32];
		struct tpc_text text = tpc_text_in(ours, sizeof(ours));

		tpc_text_add_number(&text, value);
		snprintf(theirs, sizeof(theirs), "%llu", (unsigned long long)value);
		assert_string_equal(ours, theirs);
		s = ours;
		assert_true(tpc_text_number(&s, &n));
		assert_int_equal(n, value);
	}
}

static void what_does_not_fit_is_cut(void **state)
{
	char buffer[8];
	struct tpc_text text = tpc_text_in(buffer, sizeof(buffer));

	(void)state;
	tpc_text_add(&text, "1234567");
	assert_false(text.cut);
	tpc_text_add(&text, "8");
	assert_true(text.cut);
	assert_string_equal(buffer, "1234567");
	assert_int_equal(text.length, 7);
}

static void base_names(void **state)
{
	(void)state;
	assert_string_equal(tpc_text_base("/usr/bin/python3"), "python3");
	assert_string_equal(tpc_text_base("python3"), "python3");
	assert_string_equal(tpc_text_base("/"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(globs_match_as_the_shell_does),
		cmocka_unit_test(sizes),
		cmocka_unit_test(numbers),
		cmocka_unit_test(what_does_not_fit_is_cut),
		cmocka_unit_test(base_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
