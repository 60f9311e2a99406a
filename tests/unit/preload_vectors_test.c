/* SPDX-License-Identifier: Apache-2.0 */
/* Vector registers outlast what runs in between, on processors with XSAVE and on those without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "arch/arch.h"

/* Eight of sixteen are looked at, and x87's control word. */
static void load_all(const uint64_t *values)
{
	__asm__ volatile("movq 0(%0), %%xmm0\n\tmovq 8(%0), %%xmm1\n\tmovq 16(%0), %%xmm2\n\tmovq 24(%0), %%xmm3\n\t"
			 "movq 32(%0), %%xmm7\n\tmovq 40(%0), %%xmm8\n\tmovq 48(%0), %%xmm14\n\tmovq 56(%0), %%xmm15"
			 :
			 : "r"(values)
			 : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm7", "xmm8", "xmm14", "xmm15");
}

static void store_all(uint64_t *values)
{
	__asm__ volatile("movq %%xmm0, 0(%0)\n\tmovq %%xmm1, 8(%0)\n\tmovq %%xmm2, 16(%0)\n\tmovq %%xmm3, 24(%0)\n\t"
			 "movq %%xmm7, 32(%0)\n\tmovq %%xmm8, 40(%0)\n\tmovq %%xmm14, 48(%0)\n\tmovq %%xmm15, 56(%0)"
			 :
			 : "r"(values)
			 : "memory");
}

static int runs;

static void clobber(void *context)
{
	static const uint64_t others[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	uint16_t control = 0x027f; /* double precision */

	(void)context;
	runs++;
	load_all(others);
	__asm__ volatile("fldcw %0" : : "m"(control));
}

static void check(uint32_t by)
{
	static const uint64_t before[8] = { 10, 20, 30, 40, 50, 60, 70, 80 };
	uint64_t after[8] = { 0 };
	uint16_t control = 0, control_before;

	runs = 0;
	tpc_vectors_kept_by = by;
	__asm__ volatile("fnstcw %0" : "=m"(control_before));
	load_all(before);
	tpc_with_vectors_kept(clobber, NULL);
	store_all(after);
	__asm__ volatile("fnstcw %0" : "=m"(control));
	assert_int_equal(runs, 1);
	assert_memory_equal(after, before, sizeof(before));
	assert_int_equal(control, control_before);
}

static void by_what_there_is(void **state)
{
	(void)state;
	check(TPC_VECTORS_UNKNOWN);
	assert_int_not_equal(tpc_vectors_kept_by, TPC_VECTORS_UNKNOWN);
}

static void without_xsave(void **state)
{
	(void)state;
	check(TPC_VECTORS_FXSAVE);
	assert_int_equal(tpc_vectors_kept_by, TPC_VECTORS_FXSAVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_what_there_is),
		cmocka_unit_test(without_xsave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
