/* SPDX-License-Identifier: Apache-2.0 */
/* What comes next, foretold from what came before: of steps that repeat, with calls left out and put in, and of no order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/predictor.h"

#define STEP 700u
#define SEARCHED 20u /* things until the place is found again */

static struct tpc_predictor order;
static uint32_t ops_log[TPC_PREDICTOR_LOG];

static int begin(void **state)
{
	(void)state;
	order = (struct tpc_predictor){ 0 };
	memset(ops_log, 0, sizeof(ops_log));
	return 0;
}

/* One thing is done. Was it expected? */
static bool was_expected(uint32_t thing)
{
	bool was = order.next == thing;

	tpc_predictor_go_on(&order, ops_log, thing);
	return was;
}

/* The i-th thing of a step: few are there once only. */
static uint32_t thing_of(uint32_t i)
{
	return 1 + (i * 0x9e3779b9 >> 7) % 40;
}

/* How many of a step's things are expected; `left_out`, `put_in`: one that is missing, and one after which there is another. */
static uint32_t step(uint32_t left_out, uint32_t put_in)
{
	uint32_t expected = 0;

	for (uint32_t i = 0; i < STEP; i++) {
		if (i != left_out)
			expected += was_expected(thing_of(i));
		if (i == put_in)
			was_expected(12345);
	}
	return expected;
}

/* The first ones are new, and what was searched in vain is to be paid for. */
static void steps_are_known(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		step(STEP, STEP);
	for (uint32_t i = 0; i < 100; i++) /* round the log and round again */
		assert_true(step(STEP, STEP) > STEP - SEARCHED);
}

static void one_that_is_left_out_costs_few(void **state)
{
	(void)state;
	step(STEP, STEP);
	step(STEP, STEP);
	assert_true(step(300, STEP) > STEP - SEARCHED);
}

static void one_that_is_put_in_costs_none_of_the_others(void **state)
{
	uint32_t as_ever;

	(void)state;
	step(STEP, STEP);
	as_ever = step(STEP, STEP);
	assert_true(step(STEP, 300) >= as_ever - 9);
}

/* Things of no order, each another: of those that are looked at, so many fall to each. */
static void no_order_is_cheap(void **state)
{
	uint32_t searches = 0, at;

	(void)state;
	for (uint32_t i = 1; i <= 10 * TPC_PREDICTOR_LOG; i++) {
		at = order.paid;
		assert_false(was_expected(i));
		searches += order.paid != at;
	}
	assert_in_range(searches, 1, 10 * TPC_PREDICTOR_SEARCHED + TPC_PREDICTOR_SEARCHED);
}

/* `done` has 32 bits, and a program may run for months. */
static void numbers_begin_anew(void **state)
{
	(void)state;
	order.done = order.at = order.paid = UINT32_MAX - 3 * STEP;
	for (uint32_t i = 0; i < 3; i++)
		step(STEP, STEP);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(step(STEP, STEP) > STEP - SEARCHED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(steps_are_known, begin),
		cmocka_unit_test_setup(one_that_is_left_out_costs_few, begin),
		cmocka_unit_test_setup(one_that_is_put_in_costs_none_of_the_others, begin),
		cmocka_unit_test_setup(no_order_is_cheap, begin),
		cmocka_unit_test_setup(numbers_begin_anew, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
