/* SPDX-License-Identifier: Apache-2.0 */
/* SHAPE records as text: by hand, and cut anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tprof/format.h>

#include "trace/shapes.h"

#define F32 (TPROF_TENSOR_TYPE + 6)
#define S64 (TPROF_TENSOR_TYPE + 4)

static void is(const char *expected, const uint8_t *bytes, size_t length)
{
	char *text = tpa_shape_text(bytes, bytes + length);

	if (!expected)
		assert_null(text);
	else
		assert_string_equal(text, expected);
	free(text);
}
#define IS(expected, ...) is(expected, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void sizes_and_types(void **state)
{
	(void)state;
	IS("64x3 f32", F32, 2, 64, 3);
	IS("4, 64x3, 200 f32", F32, 1, 4, F32, 2, 64, 3, F32, 1, 0xc8, 1);
	IS("2x0 f32, 5 s64", F32, 2, 2, 0, S64, 1, 5);
	IS("() f32", F32, 0);
	IS("-", TPROF_TENSOR_NONE);
	IS("7, -, () s64", S64, 1, 7, TPROF_TENSOR_NONE, S64, 0);
	IS("1 type99", TPROF_TENSOR_TYPE + 99, 1, 1);
	is("", (const uint8_t *)"", 0);
}

static void lists(void **state)
{
	(void)state;
	IS("(2, 3x4) f32", TPROF_TENSOR_LIST, 2, F32, 1, 2, F32, 2, 3, 4);
	IS("(), 2 f32", TPROF_TENSOR_LIST, 0, F32, 1, 2);
	IS("(2 f32, 3 s64), -", TPROF_TENSOR_LIST, 2, F32, 1, 2, S64, 1, 3, TPROF_TENSOR_NONE);
}

static void damaged(void **state)
{
	const uint8_t whole[] = { TPROF_TENSOR_LIST, 2, F32, 1, 2, S64, 1, 0xc8, 1 };

	(void)state;
	is("(2 f32, 200 s64)", whole, sizeof(whole));
	for (size_t length = 1; length < sizeof(whole); length++)
		is(NULL, whole, length);
	IS(NULL, TPROF_TENSOR_LIST, 1, TPROF_TENSOR_LIST, 0);
	IS(NULL, TPROF_TENSOR_LIST, 0xff, 0xff, 0xff, 0xff, 0x7f);
	IS(NULL, F32, 0xff, 0xff, 0xff, 0xff, 0x7f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_and_types),
		cmocka_unit_test(lists),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
