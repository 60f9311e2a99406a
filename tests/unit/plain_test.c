/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream of text lets through, however its bytes come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/json/json_value.h"
#include "report/text/safe_stream.h"

/* In pieces of so many bytes; to be freed. */
static char *written(const char *text, bool color, size_t piece)
{
	char *result = NULL;
	size_t size = 0, length = strlen(text);
	FILE *memory = open_memstream(&result, &size), *plain = tpa_plain_open(memory, color);

	assert_non_null(plain);
	for (size_t i = 0; i < length; i += piece) {
		size_t count = length - i < piece ? length - i : piece;

		assert_int_equal(fwrite(text + i, 1, count, plain), count);
		assert_int_equal(fflush(plain), 0);
	}
	assert_int_equal(fclose(plain), 0);
	return result;
}

static void becomes(const char *text, bool color, const char *expected)
{
	for (size_t piece = 1; piece <= strlen(text); piece++) {
		char *result = written(text, color, piece);

		assert_string_equal(result, expected);
		free(result);
	}
}

static void text_passes(void **state)
{
	(void)state;
	becomes("plain ~ text,\n\ttabs", false, "plain ~ text,\n\ttabs");
	becomes("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\xa0", false,
		"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\xa0");
}

static void what_steers_does_not(void **state)
{
	(void)state;
	becomes("\001\r\b\177", false, "????");
	becomes("a\xc2\x9b"
		"31mb",
		false, "a?31mb"); /* CSI in one character */
	becomes("a\xe2\x80\xaa\xe2\x80\xae|\xe2\x81\xa6\xe2\x81\xa9|", false,
		"a??|??|"); /* right to left, and the like */
	becomes("\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa", true,
		"\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa");
	becomes("a\033[31mb\033[0m", false, "a?[31mb?[0m");
	becomes("a\033[31mb\033[0;1m", true, "a\033[31mb\033[0;1m");
	becomes("\033[2J\033]0;title\a\033[31", true, "?[2J?]0;title??[31");
	becomes("\033[0000000000000000000m", true, "?[0000000000000000000m");
}

static void what_is_no_utf8_does_not(void **state)
{
	(void)state;
	becomes("\xff\xfe", false, "??");
	becomes("\x9b"
		"2J",
		false, "?2J");
	becomes("\xc3(", false, "?(");
	becomes("\xe2\x82", false, "??");
	becomes("\xc0\xaf\xe0\x80\xaf", false, "?????"); /* overlong */
	becomes("\xed\xa0\x80", false, "???");		 /* a surrogate */
	becomes("\xf4\x90\x80\x80", false, "????");	 /* beyond the last */
	becomes("\xe2\x82\xc3\xa9", false, "??\xc3\xa9");
}

/* Of a name that is no UTF-8 what is stays, at any length. */
static void json_keeps_what_it_can(void **state)
{
	char name[60002];
	json_t *json;

	(void)state;
	memset(name, 'x', sizeof(name));
	memcpy(name, "\xc3\xa9\xff", 3);
	name[sizeof(name) - 2] = (char)0xc3;
	name[sizeof(name) - 1] = '\0';
	json = tpa_json_string(name);
	assert_non_null(json);
	assert_int_equal(json_string_length(json), sizeof(name) - 1);
	assert_memory_equal(json_string_value(json), "\xc3\xa9?xx", 5);
	assert_string_equal(json_string_value(json) + sizeof(name) - 3, "x?");
	json_decref(json);
}

static void errors_are_told(void **state)
{
	FILE *full = fopen("/dev/full", "w"), *plain = tpa_plain_open(full, false);

	(void)state;
	fputs("text", plain);
	assert_int_not_equal(fflush(plain), 0);
	assert_int_not_equal(ferror(plain), 0);
	fclose(plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_passes),
		cmocka_unit_test(what_steers_does_not),
		cmocka_unit_test(what_is_no_utf8_does_not),
		cmocka_unit_test(json_keeps_what_it_can),
		cmocka_unit_test(errors_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
