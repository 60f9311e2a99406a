/* SPDX-License-Identifier: Apache-2.0 */
/* Suppressions: LeakSanitizer's patterns, bad lines, built-in rules, and the counts of what was suppressed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/rows/suppressions.h"

static void patterns(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} cases[] = {
		{ "foo", "foo", true },
		{ "foo", "a_foo_b", true },
		{ "foo", "fo", false },
		{ "^foo", "foobar", true },
		{ "^foo", "afoo", false },
		{ "foo$", "afoo", true },
		{ "foo$", "foob", false },
		{ "^foo$", "foo", true },
		{ "^foo$", "foofoo", false },
		{ "f*o", "fxyzo", true },
		{ "f*o", "fxyz", false },
		{ "^f*o$", "fo", true },
		{ "^f*o$", "fooo", true },
		{ "^f*o$", "foob", false },
		{ "a*b*c", "xaybzcw", true },
		{ "a*b*c", "acb", false },
		{ "*", "anything", true },
		{ "*", "", true },
		{ "lib*.so", "/lib/libx.so.1", true },
		{ "aa$", "aaa", true },
		{ "^a*a$", "a", false },
		{ "a$b", "xa$by", true },
		{ "a$b$", "xa$b", true },
		{ "a$b$", "xa$by", false },
		{ "a$b$c", "a$b$c", true },
		{ "", "x", true },
		{ "operator new*", "operator new(unsigned long)", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (tpa_pattern_match(cases[i].pattern, cases[i].text) != cases[i].matches)
			fail_msg("%s against %s", cases[i].pattern, cases[i].text);
}

/* A stack of one location a symbol, from the innermost outwards. */
struct made {
	struct tpa_location locations[4];
	struct tpa_symbol symbols[4];
	struct tpa_line lines[4];
	struct tpa_stack stack;
};

static void make(struct made *made, size_t count, const char *const names[][3])
{
	memset(made, 0, sizeof(*made));
	for (size_t i = 0; i < count; i++) {
		made->locations[i].function = names[i][0];
		made->locations[i].file = names[i][1];
		made->symbols[i] = (struct tpa_symbol){ &made->locations[i], 1, strrchr(names[i][2], '/') + 1,
							names[i][2], false };
		made->lines[i].location = &made->locations[i];
		made->lines[i].symbol = &made->symbols[i];
	}
	made->stack = (struct tpa_stack){
		.lines = made->lines, .count = count, .capacity = 4, .last = count, .end = TPROF_NODE_ROOT
	};
}

static const char *write_file(const char *text)
{
	static char name[] = "/tmp/tprof-suppressions-XXXXXX";
	int fd;

	strcpy(name + sizeof(name) - 7, "XXXXXX");
	fd = mkstemp(name);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	return name;
}

static void any_frame_by_function_file_or_module(void **state)
{
	static const char *const names[][3] = { { "inner", "/src/inner.c", "/app/prog" },
						{ "outer", "/src/outer.c", "/lib/libouter.so.1" },
						{ "main", NULL, "/app/prog" } };
	static const char *const rules[] = { "leak:^outer$", "leak:inner.c", "leak:libouter", "leak:/app/*" };
	struct made made;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct tpa_suppressions *suppressions = tpa_suppressions_new();
		const struct tpa_suppression *list;
		const char *file = write_file(rules[i]);
		char *error;
		size_t count;

		make(&made, 3, names);
		assert_false(tpa_suppressions_match(suppressions, &made.stack, 1, 1));
		tpa_suppressions_free(suppressions);
		suppressions = tpa_suppressions_new();
		assert_true(tpa_suppressions_read(suppressions, file, &error));
		assert_true(tpa_suppressions_match(suppressions, &made.stack, 2, 300));
		assert_true(tpa_suppressions_match(suppressions, &made.stack, 1, 30));
		list = tpa_suppressions_list(suppressions, &count);
		assert_string_equal(list[count - 1].pattern, rules[i] + 5);
		assert_string_equal(list[count - 1].source, file);
		assert_int_equal(list[count - 1].blocks, 3);
		assert_int_equal(list[count - 1].bytes, 330);
		assert_int_equal(list[count - 1].sites, 2);
		tpa_suppressions_free(suppressions);
		unlink(file);
	}
}

static void bad_lines_are_named(void **state)
{
	struct tpa_suppressions *suppressions = tpa_suppressions_new();
	const char *file = write_file("# a comment\n\n  leak:fine  \nrace:foo\n");
	char *error, expected[200];

	(void)state;
	assert_false(tpa_suppressions_read(suppressions, file, &error));
	snprintf(expected, sizeof(expected), "%s:4: ", file);
	assert_memory_equal(error, expected, strlen(expected));
	free(error);
	unlink(file);
	file = write_file("leak:\n");
	assert_false(tpa_suppressions_read(suppressions, file, &error));
	snprintf(expected, sizeof(expected), "%s:1: ", file);
	assert_memory_equal(error, expected, strlen(expected));
	free(error);
	unlink(file);
	assert_false(tpa_suppressions_read(suppressions, "/nowhere/at/all", &error));
	assert_string_equal(error, "/nowhere/at/all: can't be read: No such file or directory");
	free(error);
	tpa_suppressions_free(suppressions);
}

/* The loader stands in the stack of every static initialiser: only memory that it asked for itself is its own. */
static void built_in_rules(void **state)
{
	static const char *const loader[][3] = { { "_dl_new_object_x", NULL, "/lib64/ld-linux-x86-64.so.2" },
						 { "main", NULL, "/app/prog" } };
	static const char *const initialiser[][3] = { { "init", NULL, "/app/libx.so" },
						      { "call_init", NULL, "/lib64/ld-linux-x86-64.so.2" } };
	static const char *const runtime[][3] = { { NULL, NULL, "/lib/libstdc++.so.6" },
						  { "call_init", NULL, "/lib64/ld-linux-x86-64.so.2" } };
	static const char *const stdio[][3] = { { "_IO_file_doallocate", NULL, "/lib/libc.so.6" },
						{ "main", NULL, "/app/prog" } };
	struct tpa_suppressions *suppressions = tpa_suppressions_new();
	struct made a, b, c, d;

	(void)state;
	make(&a, 2, loader);
	make(&b, 2, initialiser);
	make(&c, 2, runtime);
	make(&d, 2, stdio);
	assert_true(tpa_suppressions_match(suppressions, &a.stack, 1, 1));
	assert_false(tpa_suppressions_match(suppressions, &b.stack, 1, 1));
	assert_true(tpa_suppressions_match(suppressions, &c.stack, 1, 1));
	c.stack.end = TPROF_NODE_CUT; /* what is missing may have been the program's */
	assert_false(tpa_suppressions_match(suppressions, &c.stack, 1, 1));
	assert_true(tpa_suppressions_match(suppressions, &d.stack, 1, 1));
	tpa_suppressions_free(suppressions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns),
		cmocka_unit_test(any_frame_by_function_file_or_module),
		cmocka_unit_test(bad_lines_are_named),
		cmocka_unit_test(built_in_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
