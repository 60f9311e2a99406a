/* SPDX-License-Identifier: Apache-2.0 */
/* The period finder: ten programs of different kinds whose step is known, and some that have none. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/steps/period.h"

static uint32_t calls[TPA_PERIOD_CALLS];
static size_t count;
static uint64_t seed;

static void begin(void)
{
	count = 0;
	seed = 1;
}

static uint32_t chance(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % n;
}

static void call(uint32_t op)
{
	if (count < TPA_PERIOD_CALLS)
		calls[count++] = op;
}

static void run(uint32_t first, uint32_t ops)
{
	for (uint32_t i = 0; i < ops; i++)
		call(first + i);
}

/* A step of so many calls, within 2%, so many times. */
static void expect(double ops, uint64_t repeats)
{
	struct tpa_period period;

	period = tpa_period_find(calls, count);
	assert_true(period.found);
	assert_true(fabs(period.calls - ops) <= 0.02 * ops);
	assert_in_range(period.repeats, repeats - 2, repeats);
	assert_true(period.confidence >= TPA_PERIOD_ALIKE && period.confidence <= 1);
}

static void expect_none(void)
{
	struct tpa_period period;

	period = tpa_period_find(calls, count);
	assert_false(period.found);
}

static void perceptron(void)
{
	for (int step = 0; step < 100; step++)
		run(10, 14);
	expect(14, 100);
}

/* Setting up before, an evaluation behind. */
static void with_a_start_and_an_end(void)
{
	for (uint32_t i = 0; i < 400; i++)
		call(1000 + chance(50));
	for (int step = 0; step < 60; step++)
		run(10, 25);
	for (int i = 0; i < 40; i++)
		run(10, 6);
	expect(25, 60);
}

/* Forward, backward, and an optimizer that does ten things for each of 20 parameters. */
static void optimizer_loop(void)
{
	for (int step = 0; step < 80; step++) {
		run(10, 60);
		for (int parameter = 0; parameter < 20; parameter++)
			run(200, 10);
	}
	expect(260, 80);
}

/* Twelve layers that are alike, then the head; backwards too. */
static void transformer(void)
{
	for (int step = 0; step < 50; step++) {
		run(10, 3);
		for (int layer = 0; layer < 12; layer++)
			run(20, 40);
		run(100, 20);
		for (int layer = 0; layer < 12; layer++)
			run(200, 30);
	}
	expect(3 + 480 + 20 + 360, 50);
}

/* Twelve layers and a short head: a token of a language model. */
static void tokens(void)
{
	for (int token = 0; token < 90; token++) {
		for (int layer = 0; layer < 12; layer++)
			run(20, 40);
		run(100, 10);
	}
	expect(490, 90);
}

/* A trainer on BLAS: one function, told apart by its shapes alone. */
static void shapes(void)
{
	for (int step = 0; step < 1000; step++) {
		call(1);
		call(2);
		call(3);
		call(2);
		call(4);
	}
	expect(5, 1000);
}

/* What a step does depends on its data. */
static void varying(void)
{
	for (int step = 0; step < 100; step++) {
		run(10, 40);
		for (uint32_t i = chance(5); i > 0; i--)
			call(90);
		run(50, 30);
	}
	expect(72, 100);
}

/* An evaluation now and then. */
static void epochs(void)
{
	for (int step = 0; step < 200; step++) {
		run(10, 30);
		if (chance(15) == 0)
			run(100, 20);
	}
	expect(31.3, 200);
}

/* Two networks in turn: a step is one of each. */
static void in_turn(void)
{
	for (int step = 0; step < 70; step++) {
		run(10, 30);
		run(50, 20);
		run(10, 10);
		run(80, 45);
	}
	expect(105, 70);
}

/* Few long steps. */
static void long_steps(void)
{
	for (int step = 0; step < 9; step++)
		for (uint32_t i = 0; i < 6000; i++)
			call(1 + i * 7 % 501 + i % 13);
	expect(6000, 9);
}

/* More calls than are kept: the last ones say the same. */
static void through_the_ring(void)
{
	struct tpa_sequence sequence = { 0 };
	struct tpa_period period;
	uint32_t *list;
	size_t kept;

	for (uint32_t i = 0; i < 300000; i++)
		tpa_sequence_add(&sequence, i % 37);
	list = tpa_sequence_list(&sequence, &kept);
	assert_non_null(list);
	assert_int_equal(kept, TPA_PERIOD_CALLS);
	for (size_t i = 0; i < kept; i++)
		assert_int_equal(list[i], (300000 - kept + i) % 37);
	period = tpa_period_find(list, kept);
	assert_true(period.found);
	assert_int_equal((int)period.calls, 37);
	assert_true(period.confidence > 0.999);
	free(list);
	free(sequence.ring);
}

static void random_calls(void)
{
	for (uint32_t i = 0; i < 20000; i++)
		call(chance(30));
	expect_none();
}

static void one_call_for_ever(void)
{
	for (uint32_t i = 0; i < 20000; i++)
		call(7);
	expect_none();
}

static void nothing_twice(void)
{
	for (uint32_t i = 0; i < 20000; i++)
		call(i);
	expect_none();
}

/* Requests of random kinds and lengths: a server. */
static void requests(void)
{
	for (uint32_t i = 0; i < 800; i++) {
		call(1);
		for (uint32_t k = chance(40); k > 0; k--)
			call(10 + chance(60));
	}
	expect_none();
}

static void too_few(void)
{
	for (int step = 0; step < 4; step++)
		run(10, 30);
	expect_none();
	count = 0;
	expect_none();
}

#define TEST(name)                                                                                                     \
	static void test_##name(void **state)                                                                          \
	{                                                                                                              \
		(void)state;                                                                                           \
		begin();                                                                                               \
		name();                                                                                                \
	}
TEST(perceptron)
TEST(with_a_start_and_an_end)
TEST(optimizer_loop)
TEST(transformer)
TEST(tokens)
TEST(shapes)
TEST(varying)
TEST(epochs)
TEST(in_turn)
TEST(long_steps)
TEST(through_the_ring)
TEST(random_calls)
TEST(one_call_for_ever)
TEST(nothing_twice)
TEST(requests)
TEST(too_few)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perceptron),
		cmocka_unit_test(test_with_a_start_and_an_end),
		cmocka_unit_test(test_optimizer_loop),
		cmocka_unit_test(test_transformer),
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_varying),
		cmocka_unit_test(test_epochs),
		cmocka_unit_test(test_in_turn),
		cmocka_unit_test(test_long_steps),
		cmocka_unit_test(test_through_the_ring),
		cmocka_unit_test(test_random_calls),
		cmocka_unit_test(test_one_call_for_ever),
		cmocka_unit_test(test_nothing_twice),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_too_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
