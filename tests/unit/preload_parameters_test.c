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

	return tpc_parameter_words(symbol, &words) ? words : -1;
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

static void tensors_are(const char *symbol, bool in_place, int count, const int8_t *parts)
{
	struct tpc_tensor_parts found;

	assert_true(tpc_parameter_tensors(symbol, in_place, &found));
	assert_int_equal(found.count, count);
	for (int i = 0; i < count; i++) {
		assert_int_equal(found.part[i], parts[2 * i]);
		assert_int_equal(found.offset[i], parts[2 * i + 1]);
	}
}
#define TENSORS_ARE(symbol, in_place, ...)                                                                             \
	tensors_are(symbol, in_place, sizeof((const int8_t[]){ __VA_ARGS__ }) / 2, (const int8_t[]){ __VA_ARGS__ })

/* By the System V ABI: rdi (-1) is the result's address, unless what is written to is returned; then rsi (-2), ... */
static void test_where_tensors_are(void **state)
{
	(void)state;
	TENSORS_ARE(ADDMM, false, TPC_TENSOR_IN, -2, TPC_TENSOR_IN, -3, TPC_TENSOR_IN, -4);
	TENSORS_ARE("_ZN2at4_ops11add__Tensor4callERNS_6TensorERKS2_RKN3c106ScalarE", true, TPC_TENSOR_OUT, -1,
		    TPC_TENSOR_IN, -2);
	TENSORS_ARE("_ZN2at4_ops7resize_4callERKNS_6TensorEN3c108ArrayRefIlEE", true, TPC_TENSOR_OUT, -1);
	/* A list of sizes takes two registers; a floating-point number none. */
	TENSORS_ARE("_ZN2at4_ops17native_layer_norm4callERKNS_6TensorEN3c108ArrayRefINS5_6SymIntEEERKNS5_8optionalIS2_"
		    "EESC_d",
		    false, TPC_TENSOR_IN, -2, TPC_TENSOR_OPTIONAL, -5, TPC_TENSOR_OPTIONAL, -6);
	TENSORS_ARE(
		"_ZN2at4_ops17native_layer_norm4callERKNS_6TensorEN3c108ArrayRefINS5_6SymIntEEERKSt8optionalIS2_ESC_d",
		false, TPC_TENSOR_IN, -2, TPC_TENSOR_OPTIONAL, -5, TPC_TENSOR_OPTIONAL, -6);
	/* Two words that do not fit go to the stack, and what comes after them has the register that is left. */
	TENSORS_ARE("_ZN2at4_ops3foo4callEdllllN3c108ArrayRefINS_6TensorEEERKS4_S7_", false, TPC_TENSOR_LIST, 2,
		    TPC_TENSOR_IN, -6, TPC_TENSOR_IN, 4);
	TENSORS_ARE("_ZN2at4_ops3cat4callERKN3c108IListRefINS_6TensorEEEl", false, TPC_TENSOR_LIST_REF, -2);
}

static void test_where_tensors_cannot_be_told(void **state)
{
	struct tpc_tensor_parts parts;

	(void)state;
	assert_true(tpc_parameter_tensors(EMPTY, false, &parts) && parts.sizes_first && !parts.count);
	/* Behind what may be on the stack or not. */
	assert_false(
		tpc_parameter_tensors("_ZN2at4_ops3foo4callEN3c1016OptionalArrayRefIlEERKNS_6TensorE", false, &parts));
	assert_true(
		tpc_parameter_tensors("_ZN2at4_ops3foo4callERKNS_6TensorEN3c1016OptionalArrayRefIlEE", false, &parts));
	assert_false(tpc_parameter_tensors("_ZN2at4_ops3foo4callERKNS_6TensorES4_S4_S4_S4_S4_S4_S4_", false, &parts));
	assert_false(tpc_parameter_tensors("_ZN2at4_ops3foo4callEPFvvE", false, &parts));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_in_registers),
		cmocka_unit_test(test_some_on_the_stack),
		cmocka_unit_test(test_what_is_not_understood),
		cmocka_unit_test(test_where_tensors_are),
		cmocka_unit_test(test_where_tensors_cannot_be_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
