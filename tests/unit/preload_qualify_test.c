/* SPDX-License-Identifier: Apache-2.0 */
/* What functions are called, by symbols that g++ made, against libiberty's demangler; and what is not understood is the symbol. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libiberty/demangle.h>

#include "hooks/ops/qualify.h"

static const char *called(const char *symbol)
{
	static char name[512];
	struct tpc_text to = tpc_text_in(name, sizeof(name));

	tpc_qualify(symbol, &to);
	return name;
}

/* Takes out what stands in <>, and tags of ABIs. No operator is in what it is asked about. */
static void cut_arguments(char *name)
{
	char *to = name;
	int depth = 0;

	for (const char *at = name; *at; at++) {
		depth += *at == '<' || *at == '[';
		if (!depth)
			*to++ = *at;
		depth -= *at == '>' || *at == ']';
	}
	*to = '\0';
}

static void test_as_demangled(void **state)
{
	static const char *const symbols[] = {
		"_ZN2ns5plainEi",
		"_ZN2ns4tmplIiEET_S1_",
		"_ZN3BoxIiE3barEi",
		"_ZN3BoxIN2ns1CEE3bazES1_",
		"_ZNK2ns1C1mEi",
		"_ZN2ns1CC2Ei",
		"_ZN2ns1CD0Ev",
		"_ZNSt6vectorIN2ns1CESaIS1_EE7reserveEm",
		"_ZSt4swapIiENSt9enable_ifIXsrSt6__and_IJSt6__not_ISt15__is_tuple_likeIT_EEEE5valueEvE4typeERS4_S5_",
		"_ZN12_GLOBAL__N_13fooEv",
		"_ZL3barv",
		"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc",
		"_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5rfindEcm",
		"_ZN2at4_ops5addmm4callERKNS_6TensorES4_S4_RKN3c106ScalarES8_",
		"_ZNSt5arrayIbLm3EE4fillERKb",
		"_ZN1AIXadL_Z1fvEEE1gEv",
		"_ZN2ns1f4testB5cxx11Ei",
		"_ZN1AIFvilEE1gEv",
		"_ZN1AIJilN1BE1CIdEEE1gEv",
		"_ZN1AIDnLin5EE1gEv",
	};
	size_t own = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		char *expected = cplus_demangle(symbols[i], DMGL_ANSI);

		assert_non_null(expected);
		cut_arguments(expected);
		if (strcmp(called(symbols[i]), symbols[i]) == 0)
			own++;
		else
			assert_string_equal(called(symbols[i]), expected);
		free(expected);
	}
	assert_int_equal(own, 1); /* an expression as an argument */
}

static void test_operators(void **state)
{
	(void)state;
	assert_string_equal(called("_ZplRKN2ns1CES2_"), "operator+");
	assert_string_equal(called("_ZN2ns1CclEi"), "ns::C::operator()");
	assert_string_equal(called("_ZlsRSoRKN2ns1CE"), "operator<<");
	assert_string_equal(called("_ZNKSt4lessIiEclERKiS2_"), "std::less::operator()");
	assert_string_equal(called("_Znwm"), "operator new");
	assert_string_equal(called("_ZNSolsEi"), "std::basic_ostream::operator<<");
}

static void test_not_understood(void **state)
{
	static const char *const symbols[] = {
		"cblas_sgemm",	   "_",	       "_Z",	   "_ZN",	  "_ZNE",	   "_ZN3",
		"_ZN9short",	   "_ZN3fooI", "_ZTV3foo", "_ZZ3foovE1x", "_ZN2ns1CcvbEv", "_ZN3fooIXT_EE1fEv",
		"_ZN4294967295foo"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		assert_string_equal(called(symbols[i]), symbols[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_demangled),
		cmocka_unit_test(test_operators),
		cmocka_unit_test(test_not_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
