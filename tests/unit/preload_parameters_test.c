/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of their parameters is on the stack, by symbols that g++ made: never fewer words than it puts there, none where all
 * are in registers, and no answer where a symbol is not understood.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hooks/ops/parameters.h"

#define ADDMM "_ZN2at4_ops5addmm4callERKNS_6TensorES4_S4_RKN3c106ScalarES8_"
#define EMPTY                                                                                                          \
	"_ZN2at4_ops19empty_memory_format4callEN3c108ArrayRefINS2_6SymIntEEENS2_8optionalINS2_10ScalarTypeEEENS6_"     \
	"INS2_6LayoutEEE"                                                                                              \
	"NS6_INS2_6DeviceEEENS6_IbEENS6_INS2_12MemoryFormatEEE"

static int words_of(const char *symbol)
{
	uint8_t words;

	return tp_parameter_words(symbol, &words) ? words : -1;
}

/* Six general registers, of which the result's address may be in one; what was there before stands as a number. */
static void test_all_in_registers(void **state)
{
	(void)state;
	assert_int_equal(words_of("_ZN2at4_ops3foo4callEv"), 0);
	assert_int_equal(words_of(ADDMM), 0);
	assert_int_equal(words_of("_ZN2at4_ops3foo4callElbPKcRiOd"), 0);
	assert_int_equal(words_of("_ZN2at4_ops3foo4callEdddddddd"), 0);
	assert_int_equal(words_of("_ZN2at4_ops3foo4callERKSt6vectorINS_6TensorESaIS3_EES7_S7_lb"), 0);
}

static void test_some_on_the_stack(void **state)
{
	(void)state;
	assert_true(words_of("_ZN2at4_ops3foo4callEllllllll") >= 3); /* at most 5 in registers */
	assert_true(words_of("_ZN2at4_ops3foo4callEddddddddd") >= 1);
	assert_true(words_of("_ZN2at4_ops3foo4callERKNS_6TensorES4_S4_S4_S4_S4_S4_") >= 2);
	/* One by value: 24 bytes, and then what the registers were full for. */
	assert_true(words_of("_ZN2at4_ops3foo4callEN3c108optionalINS2_8ArrayRefIlEEEE") >= 3);
	assert_true(words_of("_ZN2at4_ops3foo4callEN3c108ArrayRefIlEES4_S4_l") >= 3);
	assert_true(words_of("_ZN2at4_ops3foo4callESt5arrayIbLm3EEg") >= 2);
	assert_true(words_of(EMPTY) >= 6 && words_of(EMPTY) <= 32);
}

/* Cut anywhere, it is not read beyond its end; templates, functions and members' pointers as parameters are not understood. */
static void test_what_is_not_understood(void **state)
{
	static const char *const symbols[] = {
		"",
		"call",
		"_Z4callv",
		"_ZN2at4_ops3foo4callIlEEvT_",
		"_ZN2at4_ops3foo4callEPFvvE",
		"_ZN2at4_ops3foo4callEMNS_6TensorEi",
		"_ZN2at4_ops3foo4callEiz",
		"_ZN2at4_ops3foo4callES9_",
		"_ZN2at4_ops3foo4callE99Tensor",
		"_ZN2at4_ops3fooplEv",
	};
	char cut[sizeof(EMPTY)];

	(void)state;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		assert_int_equal(words_of(symbols[i]), -1);
	for (size_t length = 0; length < sizeof(EMPTY) - 1; length++) {
		memcpy(cut, EMPTY, length);
		cut[length] = '\0';
		words_of(cut);
	}
	memset(cut, 'P', sizeof(cut) - 1); /* as deep as it goes */
	memcpy(cut, "_ZN1a4callE", 11);
	cut[sizeof(cut) - 1] = '\0';
	assert_int_equal(words_of(cut), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_in_registers),
		cmocka_unit_test(test_some_on_the_stack),
		cmocka_unit_test(test_what_is_not_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
