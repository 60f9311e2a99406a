/* SPDX-License-Identifier: Apache-2.0 */
/* What to look at first, and what rounding shapes up would give: by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/ops/buckets.h"
#include "model/result/priorities.h"

static void test_priorities(void **state)
{
	struct tpa_op_stats ops[] = {
		{ .name = "a", .self_ns = 100 }, { .name = "b", .self_ns = 500 }, { .name = "c", .self_ns = 50 },
		{ .name = "d", .self_ns = 300 }, { .name = "e", .self_ns = 50 },
	};
	struct tpa_process process = { .ops = ops, .op_count = 5, .duration_ns = 2000 };
	struct tpa_priority list[5];

	(void)state;
	assert_int_equal(tpa_priorities(&process, 0.8, list), 2); /* 500 and 300 of 1000 are 80% */
	assert_string_equal(list[0].op->name, "b");
	assert_true(fabs(list[0].of_ops - 0.5) < 1e-12);
	assert_true(fabs(list[0].of_run - 0.25) < 1e-12);
	assert_true(fabs(list[0].speedup - 4.0 / 3) < 1e-12);
	assert_int_equal(list[0].saved_ns, 500);
	assert_string_equal(list[1].op->name, "d");
	assert_int_equal(tpa_priorities(&process, 0.81, list), 3);
	assert_int_equal(tpa_priorities(&process, 1, list), 5);
	process.duration_ns = 400; /* two threads were at it: the run can't be shorter than nothing */
	assert_int_equal(tpa_priorities(&process, 0.8, list), 2);
	assert_int_equal(list[0].saved_ns, 400);
	assert_true(isinf(list[0].speedup));
	process.op_count = 0;
	assert_int_equal(tpa_priorities(&process, 0.8, list), 0);
}

static void test_shape_work(void **state)
{
	char rounded[200];
	double up;

	(void)state;
	assert_true(fabs(tpa_shape_work("m=50 n=64 k=10 NT f32", rounded, &up) - 32000) < 1e-9);
	assert_string_equal(rounded, "m=64 n=64 k=16 NT f32");
	assert_true(fabs(up - 65536) < 1e-9);
	assert_true(fabs(tpa_shape_work("3x5,5x7", rounded, &up) - (15 + 35)) < 1e-9);
	assert_string_equal(rounded, "4x8,8x8");
	assert_true(fabs(up - (32 + 64)) < 1e-9);
	assert_true(tpa_shape_work("NT f32", rounded, &up) < 1e-9);
	assert_true(fabs(tpa_shape_work("1", rounded, &up) - 1) < 1e-9);
	assert_string_equal(rounded, "1");
}

/*
 * Lengths 9, 12 and 16 are one bucket, 20 another. First calls of 100 against 10, 130 against 20, 95 against 5; 20 came
 * once. Excess: (90 + 110 + 90) / 3. Two first calls less. Padding: 11 calls of 9 grow by 7/9, 5 of 12 by 4/12.
 */
static void test_buckets(void **state)
{
	struct tpa_shape_stats shapes[] = {
		{ .text = (char *)"9", .calls = 11, .first_ns = 100, .calls_ns = 100 + 10 * 10 },
		{ .text = (char *)"12", .calls = 5, .first_ns = 130, .calls_ns = 130 + 4 * 20 },
		{ .text = (char *)"16", .calls = 2, .first_ns = 95, .calls_ns = 95 + 5 },
		{ .text = (char *)"20", .calls = 1, .first_ns = 1000, .calls_ns = 1000 },
		{ .text = NULL, .calls = 7, .first_ns = 1, .calls_ns = 7 },
		{ .text = (char *)"scalar", .calls = 7, .first_ns = 1, .calls_ns = 7 },
	};
	struct tpa_op_stats op = { .shapes = shapes, .shape_count = 6 };
	struct tpa_buckets buckets;

	(void)state;
	buckets = tpa_buckets_of(&op);
	assert_int_equal(buckets.shapes, 4);
	assert_int_equal(buckets.buckets, 2);
	assert_true(fabs(buckets.excess_ns - 290.0 / 3) < 1e-9);
	assert_true(fabs(buckets.saved_ns - 2 * 290.0 / 3) < 1e-9);
	assert_true(fabs(buckets.padding_ns - (11 * 10 * 7.0 / 9 + 5 * 20 / 3.0)) < 1e-9);
	op.shape_count = 0;
	buckets = tpa_buckets_of(&op);
	assert_int_equal(buckets.shapes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_priorities),
		cmocka_unit_test(test_shape_work),
		cmocka_unit_test(test_buckets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
