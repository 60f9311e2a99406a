/* SPDX-License-Identifier: Apache-2.0 */
/* Units, widths, names, tables: what a reader sees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "commands/line/values.h"
#include "report/text/bar.h"
#include "report/text/markdown.h"
#include "report/text/name.h"
#include "report/text/text.h"

static const struct tpa_page utf8 = { .utf8 = true, .width = 80 };
static const struct tpa_page ascii = { .utf8 = false, .width = 80 };

static void bytes_have_three_digits(void **state)
{
	(void)state;
	assert_string_equal(tpa_bytes(0, false).text, "0 B");
	assert_string_equal(tpa_bytes(1023, false).text, "1,023 B");
	assert_string_equal(tpa_bytes(1024, false).text, "1.00 KiB");
	assert_string_equal(tpa_bytes(1536, false).text, "1.50 KiB");
	assert_string_equal(tpa_bytes(1048576 - 1, false).text, "1.00 MiB"); /* not 1024 KiB */
	assert_string_equal(tpa_bytes(158 * 1048576ull, false).text, "158 MiB");
	assert_string_equal(tpa_bytes(UINT64_MAX, false).text, "16.0 EiB");
	assert_string_equal(tpa_bytes(1234567, true).text, "1,234,567 B");
	assert_string_equal(tpa_bytes(UINT64_MAX, true).text, "18,446,744,073,709,551,615 B");
}

static void counts_have_commas(void **state)
{
	(void)state;
	assert_string_equal(tpa_count(0).text, "0");
	assert_string_equal(tpa_count(999).text, "999");
	assert_string_equal(tpa_count(1000).text, "1,000");
	assert_string_equal(tpa_count(1234567).text, "1,234,567");
}

static void times_have_fitting_units(void **state)
{
	(void)state;
	assert_string_equal(tpa_time(0).text, "0 s");
	assert_string_equal(tpa_time(999).text, "999 ns");
	assert_string_equal(tpa_time(1500).text, "1.50 us");
	assert_string_equal(tpa_time(999600).text, "1.00 ms");
	assert_string_equal(tpa_time(12345678).text, "12.3 ms");
	assert_string_equal(tpa_time(1500000000).text, "1.50 s");
	assert_string_equal(tpa_time(125000000000).text, "2 min 05 s");
	assert_string_equal(tpa_time(11520000000000).text, "3 h 12 min");
}

static void shares_are_never_a_false_zero(void **state)
{
	(void)state;
	assert_string_equal(tpa_percent(1, 8).text, "12.5%");
	assert_string_equal(tpa_percent(0, 8).text, "0.0%");
	assert_string_equal(tpa_percent(1, 1000000).text, "<0.1%");
	assert_string_equal(tpa_percent(1, 0).text, "-");
}

static void long_text_loses_its_middle(void **state)
{
	char buffer[200];

	(void)state;
	assert_string_equal(tpa_shorten(&ascii, "short", 10, buffer, sizeof(buffer)), "short");
	assert_string_equal(tpa_shorten(&ascii, "abcdefghijklmnopqrstuvwxyz", 12, buffer, sizeof(buffer)),
			    "abcdef...xyz");
	assert_int_equal(tpa_text_columns(&utf8, tpa_shorten(&utf8,
							     "a\xc3\xa4"
							     "bcdefghijklmnop",
							     9, buffer, sizeof(buffer))),
			 9);
	assert_string_equal(tpa_shorten_front(&ascii, "/usr/include/c++/12/bits/x.h", 10, buffer, sizeof(buffer)),
			    "...its/x.h");
	assert_string_equal(tpa_shorten_front(&ascii, "x.h", 10, buffer, sizeof(buffer)), "x.h");
	assert_string_equal(tpa_shorten_end(&ascii, "short", 5, buffer, sizeof(buffer)), "short");
	assert_string_equal(tpa_shorten_end(&ascii, "for x in range(10):", 12, buffer, sizeof(buffer)), "for x in ...");
	assert_string_equal(tpa_shorten_end(&utf8,
					    "abc\xc3\xa4"
					    "fgh",
					    5, buffer, sizeof(buffer)),
			    "abc\xc3\xa4\xe2\x80\xa6");
	/* What is no UTF-8 is taken byte by byte. */
	assert_int_equal(tpa_text_columns(&utf8, "\xff\xc3"), 2);
}

static const char *short_name(const char *name, int columns)
{
	static char buffer[500];

	return tpa_short_name(&ascii, name, columns, buffer, sizeof(buffer));
}

static void names_lose_their_parameters(void **state)
{
	(void)state;
	assert_string_equal(short_name("main", 40), "main");
	assert_string_equal(short_name("a::b(int, std::vector<int>&)", 40), "a::b");
	assert_string_equal(short_name("a::b(int) const", 40), "a::b");
	assert_string_equal(short_name("encoder.0 (backward)", 40), "encoder.0 (backward)");
	assert_string_equal(short_name("a::b(int) [clone .part.0]", 40), "a::b");
	assert_string_equal(short_name("(anonymous namespace)::f(int)", 40), "(anonymous namespace)::f");
	assert_string_equal(short_name("f::operator()(int) const", 40), "f::operator()");
	assert_string_equal(short_name("operator()", 40), "operator()");
	assert_string_equal(short_name("f(void (*)(int))", 40), "f");
	assert_string_equal(short_name("core::ops::FnOnce::call_once", 40), "core::ops::FnOnce::call_once");
	assert_string_equal(short_name("std::map<int, std::pair<a, b> >::operator[](int const&)", 30),
			    "std::map<..>::operator[]");
	assert_string_equal(short_name("operator< <a>(b)", 40), "operator< <a>");
	assert_string_equal(short_name("", 40), "");
	assert_string_equal(short_name(")", 40), ")");
	assert_string_equal(short_name("((((", 40), "((((");
}

static char *print_table(struct tpa_table *table, int width)
{
	struct tpa_page page = { .width = width };
	char *text = NULL;
	size_t size;

	page.out = open_memstream(&text, &size);
	tpa_table_end(table, &page);
	fclose(page.out);
	return text;
}

static void tables_are_aligned(void **state)
{
	struct tpa_table *table = tpa_table_new(">bytes|*name|end");
	char *text;

	(void)state;
	tpa_table_add(table, TPA_STYLE_PLAIN, "1");
	tpa_table_add(table, TPA_STYLE_PLAIN, "one");
	tpa_table_add(table, TPA_STYLE_PLAIN, "x");
	tpa_table_add(table, TPA_STYLE_PLAIN, "1,000,000");
	tpa_table_add(table, TPA_STYLE_PLAIN, "a million");
	tpa_table_add(table, TPA_STYLE_PLAIN, "y");
	text = print_table(table, 80);
	assert_string_equal(text, "      bytes  name       end\n"
				  "          1  one        x\n"
				  "  1,000,000  a million  y\n");
	free(text);
}

static void times_on_the_command_line(void **state)
{
	uint64_t ns = 7;

	(void)state;
	assert_true(tpa_parse_time("1.5s", &ns) && ns == 1500000000);
	assert_true(tpa_parse_time("2", &ns) && ns == 2000000000);
	assert_true(tpa_parse_time("300ms", &ns) && ns == 300000000);
	assert_true(tpa_parse_time("20us", &ns) && ns == 20000);
	assert_true(tpa_parse_time("7ns", &ns) && ns == 7);
	assert_true(tpa_parse_time("2m", &ns) && ns == 120000000000);
	assert_true(tpa_parse_time("1h", &ns) && ns == 3600000000000);
	assert_false(tpa_parse_time("", &ns));
	assert_false(tpa_parse_time("-1s", &ns));
	assert_false(tpa_parse_time("1 day", &ns));
	assert_false(tpa_parse_time("1e30", &ns));
	assert_false(tpa_parse_time("nan", &ns));
	assert_false(tpa_parse_time("inf", &ns));
}

/* An empty cell at the end, or a title that is none, leaves no blanks there; those before it stay under their titles. */
static void lines_do_not_end_with_blanks(void **state)
{
	static const char *const cells[] = { "1", "one", "", "2", "second", "note", "", "", "" };
	struct tpa_table *table = tpa_table_new(">n|*op|");
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		tpa_table_add(table, i % 3 == 2 ? TPA_STYLE_DIM : TPA_STYLE_PLAIN, cells[i]);
	text = print_table(table, 80);
	assert_string_equal(text, "  n  op\n  1  one\n  2  second  note\n\n");
	free(text);
}

static void bars_are_as_long_as_shares(void **state)
{
	(void)state;
	assert_string_equal(tpa_bar(&utf8, 0).text, "");
	assert_string_equal(tpa_bar(&utf8, 1).text, "████████");
	assert_string_equal(tpa_bar(&utf8, 2).text, "████████");
	assert_string_equal(tpa_bar(&utf8, -1).text, "");
	assert_string_equal(tpa_bar(&utf8, 1.0 / 64).text, "▏");
	assert_string_equal(tpa_bar(&utf8, 11.0 / 64).text, "█▍");
	assert_string_equal(tpa_bar(&ascii, 0.5).text, "####");
	assert_string_equal(tpa_bar(&ascii, 0.05).text, "");
}

static void curves_go_from_zero_to_the_most(void **state)
{
	const double values[] = { 0, 1, 2, 3, 4, 5, 6, 7 }, few[] = { 5, 10 }, none[] = { 0, 0, 0 };
	double many[800];

	(void)state;
	for (size_t i = 0; i < 800; i++)
		many[i] = (double)(i / 100); /* each column shows the last of its hundred */
	assert_string_equal(tpa_curve(&utf8, values, 8).text, "▁▂▃▄▅▆▇█");
	assert_string_equal(tpa_curve(&ascii, values, 8).text, "_.:-=+*#");
	assert_string_equal(tpa_curve(&ascii, many, 800).text, "_.:-=+*#");
	assert_string_equal(tpa_curve(&ascii, few, 2).text, "=#");
	assert_string_equal(tpa_curve(&ascii, none, 3).text, "___");
	assert_string_equal(tpa_curve(&ascii, NULL, 0).text, "");
}

/* The text as Markdown; the caller frees it. */
static char *as_markdown(const char *text)
{
	struct tpa_markdown *markdown;
	char *made = NULL;
	size_t size;
	FILE *out = tpa_markdown_open(open_memstream(&made, &size), &markdown);

	fputs(text, out);
	fclose(out);
	return made;
}

static void markdown_has_no_markup_of_names(void **state)
{
	static const char *const pairs[][2] = {
		{ "", "" },
		{ "plain", "plain\n" },
		{ "one\ntwo\n\n\nthree\n", "one\n\ntwo\n\nthree\n" },
		{ "a <b> *c* [d](e) snake_case _x_ 1|2\n", "a \\<b\\> \\*c\\* \\[d\\](e) snake_case \\_x\\_ 1\\|2\n" },
		{ "1. first\n2) second\n- third\n# fourth\n1.5 is a number\n",
		  "1\\. first\n\n2\\) second\n\n\\- third\n\n\\# fourth\n\n1.5 is a number\n" },
		{ "by @me\nof #12\n::lock::\nhttp://x\n", "`by @me`\n\n`of #12`\n\n`::lock::`\n\n`http://x`\n" },
		{ "@a `b`` c\n", "``` @a `b`` c ```\n" },
		{ "    indented\n\n    again\ntext\n", "```text\n    indented\n\n    again\n```\n\ntext\n" },
		{ "   one\n   ```\n   two\n", "```text\n   one\n       ```\n   two\n```\n" },
		{ "in  columns\n", "```text\nin  columns\n```\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char *made = as_markdown(pairs[i][0]);

		assert_string_equal(made, pairs[i][1]);
		free(made);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_have_three_digits),
		cmocka_unit_test(counts_have_commas),
		cmocka_unit_test(times_have_fitting_units),
		cmocka_unit_test(shares_are_never_a_false_zero),
		cmocka_unit_test(long_text_loses_its_middle),
		cmocka_unit_test(names_lose_their_parameters),
		cmocka_unit_test(tables_are_aligned),
		cmocka_unit_test(times_on_the_command_line),
		cmocka_unit_test(lines_do_not_end_with_blanks),
		cmocka_unit_test(bars_are_as_long_as_shares),
		cmocka_unit_test(curves_go_from_zero_to_the_most),
		cmocka_unit_test(markdown_has_no_markup_of_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
