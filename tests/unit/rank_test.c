/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of differences: their level where nothing differs, their power where 3% does, small cases done by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/stats/rank.h"

#include "normal.h"

#define PAIRS 400

static void fill(struct tpa_histogram *histogram, int count, double scale)
{
	memset(histogram, 0, sizeof(*histogram));
	for (int i = 0; i < count; i++)
		tpa_histogram_add(histogram, (uint64_t)(scale * 20000 * exp(0.1 * normal())));
}

static struct tpa_rank_test pair(int a_calls, int b_calls, double slower)
{
	struct tpa_histogram a, b;
	struct tpa_rank_test test;

	fill(&a, a_calls, 1);
	fill(&b, b_calls, slower);
	test = tpa_rank_test(&a, &b);
	tpa_histogram_free(&a);
	tpa_histogram_free(&b);
	return test;
}

/* Of 400 pairs 20 are expected below 5%, with a deviation of 4.4. */
static void level(int a_calls, int b_calls)
{
	int below = 0;

	for (int i = 0; i < PAIRS; i++)
		below += pair(a_calls, b_calls, 1).p < 0.05;
	assert_in_range(below, 5, 38);
}

static void test_level(void **state)
{
	(void)state;
	level(12, 20);	  /* exact ranks */
	level(40, 300);	  /* one exact, one in buckets */
	level(1000, 700); /* buckets */
}

/* Twenty ops a report: any false one in less than 5% of the reports, that is 10 of 200, deviation 3.1. */
static void test_family(void **state)
{
	int reports = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		double p[20], least = 1;

		for (int op = 0; op < 20; op++)
			p[op] = pair(100, 100, 1).p;
		tpa_holm(p, 20);
		for (int op = 0; op < 20; op++)
			least = fmin(least, p[op]);
		reports += least < 0.05;
	}
	assert_in_range(reports, 0, 22);
}

static void test_slower(void **state)
{
	struct tpa_rank_test test = pair(2000, 2000, 1.03);

	(void)state;
	assert_true(test.p < 1e-6 && test.later > 0.5);
	test = pair(2000, 2000, 1 / 1.03);
	assert_true(test.p < 1e-6 && test.later < 0.5);
}

/* 1..8 against 5..12: 64 pairs, of which b is less in 6, the same in 4, and more in 54. */
static void test_by_hand(void **state)
{
	struct tpa_histogram a = { 0 }, b = { 0 };
	struct tpa_rank_test test;
	double variance = 64.0 / 12 * (17 - 4 * 6 / (16.0 * 15));

	(void)state;
	for (uint64_t i = 1; i <= 8; i++) {
		tpa_histogram_add(&a, i);
		tpa_histogram_add(&b, i + 4);
	}
	test = tpa_rank_test(&a, &b);
	assert_true(fabs(test.later - 56.0 / 64) < 1e-12);
	assert_true(fabs(test.p - erfc(23.5 / sqrt(2 * variance))) < 1e-12);
	b.count = 7;
	assert_true(isnan(tpa_rank_test(&a, &b).p));
	b.count = 0;
	assert_true(isnan(tpa_rank_test(&a, &b).later));
}

static void test_buckets(void **state)
{
	struct tpa_histogram few, many;
	uint64_t sum = 0;

	(void)state;
	fill(&few, 64, 1);
	fill(&many, 65, 1);
	for (size_t i = 0; i < TPA_HISTOGRAM_BUCKETS; i++)
		sum += tpa_histogram_bucket(&few, i) + 1000 * tpa_histogram_bucket(&many, i);
	assert_int_equal(sum, 65064);
	tpa_histogram_free(&few);
	tpa_histogram_free(&many);
}

static void test_holm(void **state)
{
	double p[] = { 0.04, NAN, 0.01, 0.03 };

	(void)state;
	tpa_holm(p, 4);
	assert_true(fabs(p[2] - 0.03) < 1e-12 && fabs(p[3] - 0.06) < 1e-12 && fabs(p[0] - 0.06) < 1e-12);
	assert_true(isnan(p[1]));
}

static void test_shares(void **state)
{
	(void)state;
	/* 30 of 100 and 50 of 100: pooled 0.4, z = 0.2 / sqrt(0.24 / 50) */
	assert_true(fabs(tpa_share_test(30, 100, 50, 100) - erfc(0.2 / sqrt(2 * 0.24 / 50))) < 1e-12);
	assert_true(fabs(tpa_share_test(30, 100, 60, 200) - 1) < 1e-12);
	assert_true(isnan(tpa_share_test(1, 100, 3, 100)));
	assert_true(isnan(tpa_share_test(0, 0, 3, 100)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_level),	cmocka_unit_test(test_family),	cmocka_unit_test(test_slower),
		cmocka_unit_test(test_by_hand), cmocka_unit_test(test_buckets), cmocka_unit_test(test_holm),
		cmocka_unit_test(test_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
