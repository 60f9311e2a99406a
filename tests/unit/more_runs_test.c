/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many more runs would tell a difference, against simulated ones; and that the word for a difference, its p and its
 * interval never contradict one another.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "model/stats/more_runs.h"
#include "normal.h"
#include "report/rows/diff_words.h"

#define TRIALS 2000

static struct tpa_moments side_of(size_t runs, double mean, double deviation)
{
	struct tpa_moments moments = { 0, 0, 0 };

	for (size_t i = 0; i < runs; i++)
		tpa_moments_add(&moments, mean + deviation * normal());
	return moments;
}

/* In which share of trials so many runs a side tell a difference of 1. */
static double told(const size_t runs[2], size_t more, double deviation, size_t tests)
{
	int found = 0;

	for (int trial = 0; trial < TRIALS; trial++) {
		struct tpa_moments a = side_of(runs[0] + more, 10, deviation);
		struct tpa_moments b = side_of(runs[1] + more, 11, deviation);

		found += tpa_difference_runs(&a, &b, false).p < 0.05 / (double)tests;
	}
	return found / (double)TRIALS;
}

/* With so many more four of five are told, and with clearly fewer they are not. */
static void test_more_runs(void **state)
{
	static const struct {
		size_t runs[2];
		double deviation;
		size_t tests;
	} cases[] = {
		{ { 1, 1 }, 0.1, 1 }, { { 2, 2 }, 0.5, 1 },  { { 3, 3 }, 1, 1 },    { { 3, 3 }, 1, 40 },
		{ { 4, 2 }, 2, 1 },   { { 2, 2 }, 0.3, 40 }, { { 5, 1 }, 0.8, 10 }, { { 3, 3 }, 3, 5 },
	};

	(void)state;
	random_state = 88172645463325252u;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double variance = cases[i].deviation * cases[i].deviation;
		struct tpa_difference difference = { .variances = { variance, variance } };
		size_t more = tpa_more_runs(&difference, cases[i].runs, 1, cases[i].tests);
		double share = told(cases[i].runs, more, cases[i].deviation, cases[i].tests);

		printf("  %zu and %zu runs, deviation %.1f, %zu rows: %zu more tell %.2f\n", cases[i].runs[0],
		       cases[i].runs[1], cases[i].deviation, cases[i].tests, more, share);
		assert_true(more >= 1 && share > 0.75);
		if (more > 4)
			assert_true(told(cases[i].runs, more * 3 / 4, cases[i].deviation, cases[i].tests) < 0.8);
	}
}

static void test_what_no_runs_tell(void **state)
{
	struct tpa_difference wide = { .variances = { 1e6, 1e6 } }, unknown = { .variances = { NAN, NAN } };
	struct tpa_difference still = { .variances = { 0, 0 } };
	const size_t one[2] = { 1, 1 }, none[2] = { 3, 0 };

	(void)state;
	assert_int_equal(tpa_more_runs(&wide, one, 1, 1), 0);
	assert_int_equal(tpa_more_runs(&unknown, one, 1, 1), 0);
	assert_int_equal(tpa_more_runs(&still, none, 1, 1), 0);
	assert_int_equal(tpa_more_runs(&still, one, 1, 1), 1);
}

/* The word says that there is a difference exactly if p does and if the interval leaves out "none". */
static void check(const struct tpa_difference *difference, double larger)
{
	enum tpa_diff_word word = tpa_diff_word(difference, difference->p, larger);
	bool leaves_out = difference->interval.low > 1 || difference->interval.high < 1;

	assert_int_equal(word == TPA_DIFF_SURE, difference->p < 0.05);
	assert_int_equal(leaves_out, difference->p < 0.05);
	/* Among many rows less is sure, but what differs by itself is never called none. */
	word = tpa_diff_word(difference, fmin(difference->p * 1000, 1), larger);
	assert_int_equal(word == TPA_DIFF_SURE || word == TPA_DIFF_LIKELY, leaves_out);
}

static void test_words_agree_with_runs(void **state)
{
	static const double deviations[] = { 0.003, 0.02, 0.1, 0.5 };
	int words[4] = { 0 };

	(void)state;
	random_state = 88172645463325252u;
	for (int trial = 0; trial < 8000; trial++) {
		double deviation = deviations[trial % 4], effect = 1 + 0.1 * normal();
		struct tpa_moments a = side_of(1 + (size_t)trial % 5, 1, deviation);
		struct tpa_moments b = side_of(1 + (size_t)(trial / 5) % 5, effect, deviation);
		struct tpa_difference difference = tpa_difference_runs(&a, &b, false);

		if (isnan(difference.p) || a.mean <= 0 || b.mean < 0)
			continue;
		check(&difference, fmax(a.mean, b.mean));
		words[tpa_diff_word(&difference, difference.p, fmax(a.mean, b.mean))]++;
		difference = tpa_difference_runs(&a, &b, true);
		check(&difference, NAN);
	}
	assert_true(words[TPA_DIFF_SURE] > 100 && words[TPA_DIFF_NONE] > 100 && words[TPA_DIFF_FEW_RUNS] > 100);
}

static void test_words_agree_with_calls(void **state)
{
	int differ = 0;

	(void)state;
	random_state = 88172645463325252u;
	for (int trial = 0; trial < 600; trial++) {
		struct tpa_batches a = { 0 }, b = { 0 };
		double slower = 1 + 0.05 * (trial % 5);
		struct tpa_difference difference;

		for (int i = 0; i < 10 + trial % 300; i++) {
			tpa_batches_add(&a, 1000 * exp(0.2 * normal()), 1);
			tpa_batches_add(&b, 1000 * slower * exp(0.2 * normal()), 1);
		}
		difference = tpa_difference_batches(&a, &b);
		if (difference.doubt != TPA_DOUBT_NONE)
			continue;
		check(&difference, NAN);
		differ += difference.p < 0.05;
	}
	assert_in_range(differ, 100, 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_more_runs),
		cmocka_unit_test(test_what_no_runs_tell),
		cmocka_unit_test(test_words_agree_with_runs),
		cmocka_unit_test(test_words_agree_with_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
