/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences between runs: how often one is seen where there is none, though calls depend on each other, and how surely
 * where there is one; Student's distribution by its tables; batches by what they are means of.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/stats/difference.h"
#include "model/stats/student.h"

#include "normal.h"

#define SEEDS 400

/* A run's calls: each varies by 10% on its own, and with the machine, which drifts by 5%: an AR(1) process. */
struct machine {
	int calls;
	double memory; /* 0: each call is on its own */
	double drift;
};

/* The mean of all logarithms, as the batches have it: full ones, and the open one. */
static double mean_of(const struct tpa_batches *batches)
{
	double sum = batches->series.open_sum;

	for (size_t i = 0; i < batches->series.count; i++)
		sum += batches->means[i] * (double)batches->series.size;
	assert_int_equal(batches->series.count * batches->series.size + batches->series.open, batches->calls);
	return sum / (double)batches->calls;
}

static struct tpa_batches run_of(const struct machine *machine, double slower)
{
	double state = normal(), fresh = sqrt(1 - machine->memory * machine->memory);
	struct tpa_batches batches = { 0 };

	for (int i = 0; i < machine->calls; i++) {
		state = machine->memory * state + fresh * normal();
		tpa_batches_add(&batches, slower * 20000 * exp(0.1 * normal() + machine->drift * state), 1);
	}
	return batches;
}

/* In how many of SEEDS pairs of runs a difference is seen at 5%; *held: in how many the interval holds the truth. */
static int seen(const struct machine *old_runs, const struct machine *new_runs, double slower, int *held)
{
	int found = 0;

	*held = 0;
	for (int seed = 0; seed < SEEDS; seed++) {
		struct tpa_difference difference;
		struct tpa_batches a, b;

		random_state = 88172645463325252u + (uint64_t)seed * 2654435761u;
		a = run_of(old_runs, 1);
		b = run_of(new_runs, slower);
		difference = tpa_difference_batches(&a, &b);
		found += difference.p < 0.05;
		*held += !(difference.interval.low > slower) && !(difference.interval.high < slower);
	}
	return found;
}

/* 20 of 400 are expected at most; 34 would be seen once in a thousand times. */
static void test_level(void **state)
{
	static const struct machine machines[][2] = {
		{ { 20, 0, 0 }, { 20, 0, 0 } },
		{ { 100, 0, 0 }, { 100, 0, 0 } },
		{ { 100, 0.5, 0.05 }, { 100, 0.5, 0.05 } },
		{ { 1000, 0, 0 }, { 700, 0, 0 } },
		{ { 1000, 0.9, 0.05 }, { 700, 0.9, 0.05 } },
		{ { 3000, 0.99, 0.05 }, { 3000, 0.99, 0.05 } },
		{ { 20000, 0.99, 0.05 }, { 20000, 0.99, 0.05 } },
		{ { 20000, 0.999, 0.05 }, { 20000, 0.999, 0.05 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		int held;

		assert_in_range(seen(&machines[i][0], &machines[i][1], 1, &held), 0, 34);
		assert_in_range(held, SEEDS - 34, SEEDS);
	}
}

/* What takes all calls as independent sees a difference in most of these pairs: the test above can fail. */
static void test_calls_are_not_independent(void **state)
{
	const struct machine machine = { 3000, 0.99, 0.05 };
	int found = 0;

	(void)state;
	for (int seed = 0; seed < SEEDS; seed++) {
		double error, sum[2] = { 0, 0 };

		random_state = 88172645463325252u + (uint64_t)seed * 2654435761u;
		for (int side = 0; side < 2; side++) {
			struct tpa_batches batches = run_of(&machine, 1);

			sum[side] = mean_of(&batches);
		}
		error = sqrt((0.1 * 0.1 + 0.05 * 0.05) * 2 / 3000);
		found += fabs(sum[1] - sum[0]) > 1.96 * error;
	}
	assert_in_range(found, SEEDS / 2, SEEDS);
}

static void test_power(void **state)
{
	static const struct {
		struct machine machine;
		double slower;
	} cases[] = {
		{ { 100, 0, 0 }, 1.1 },		{ { 1000, 0.9, 0.05 }, 1.1 }, { { 20000, 0.99, 0.05 }, 1.1 },
		{ { 20000, 0.9, 0.05 }, 1.03 }, { { 2000, 0, 0 }, 1.03 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int held, found = seen(&cases[i].machine, &cases[i].machine, cases[i].slower, &held);

		assert_in_range(found, SEEDS * 95 / 100, SEEDS);
		assert_in_range(held, SEEDS - 34, SEEDS);
	}
}

/* A machine that is slower and slower, or whose run is not longer than its moods, can't be judged by one run. */
static void test_drift_is_doubt(void **state)
{
	struct tpa_batches a = { 0 }, b = { 0 };
	struct tpa_difference difference;

	(void)state;
	random_state = 88172645463325252u;
	for (int i = 0; i < 5000; i++) {
		tpa_batches_add(&a, 20000 * exp(0.1 * normal() + 0.3 * i / 5000), 1);
		tpa_batches_add(&b, 20000 * exp(0.1 * normal() + 0.3 * i / 5000 + 0.1), 1);
	}
	difference = tpa_difference_batches(&a, &b);
	assert_int_equal(difference.doubt, TPA_DOUBT_DRIFT);
	assert_true(isnan(difference.p));
	assert_float_equal(difference.ratio, exp(0.1), 0.02);
}

/* One call in a thousand that takes a thousand times as long hides nothing. */
static void test_outliers(void **state)
{
	struct tpa_batches a = { 0 }, b = { 0 };
	struct tpa_difference difference;

	(void)state;
	random_state = 88172645463325252u;
	for (int i = 0; i < 40000; i++) {
		tpa_batches_add(&a, (i % 1009 ? 1 : 1000) * 20000 * exp(0.1 * normal()), 1);
		tpa_batches_add(&b, (i % 997 ? 1 : 1000) * 20600 * exp(0.1 * normal()), 1);
	}
	difference = tpa_difference_batches(&a, &b);
	assert_true(difference.p < 1e-4);
	assert_true(difference.interval.low > 1.02 && difference.interval.high < 1.04);
}

/* Runs differ by 2%, their calls by little: only what is between the runs counts. */
static void test_runs(void **state)
{
	int below = 0, found = 0, held = 0;

	(void)state;
	random_state = 88172645463325252u;
	for (int pair = 0; pair < 2000; pair++) {
		struct tpa_moments a = { 0, 0, 0 }, b = a, slower = a;
		struct tpa_difference difference;

		for (int run = 0; run < 4; run++) {
			tpa_moments_add(&a, 10 + 0.02 * normal());
			tpa_moments_add(&b, 10 + 0.02 * normal());
			tpa_moments_add(&slower, 10 + log(1.1) + 0.02 * normal());
		}
		below += tpa_difference_runs(&a, &b, true).p < 0.05;
		difference = tpa_difference_runs(&a, &slower, true);
		found += difference.p < 0.05;
		held += difference.interval.low < 1.1 && difference.interval.high > 1.1;
	}
	assert_in_range(below, 50, 130); /* 100, deviation 10; Welch's test is a little careful with so few */
	assert_in_range(found, 1900, 2000);
	assert_in_range(held, 1870, 1960);
}

/* One new run against three old ones: the old ones say how much runs differ.
 * 2.9199855804: ten per cent lie beyond it on both sides, at two degrees of freedom. */
static void test_one_against_several(void **state)
{
	struct tpa_moments a = { 0, 0, 0 }, b = a, none = a, same = a;
	struct tpa_difference difference;

	(void)state;
	for (int i = 0; i < 3; i++)
		tpa_moments_add(&a, 100 + 10 * (i - 1));
	tpa_moments_add(&b, 100 + 2.9199855804 * 10 * sqrt(1 + 1.0 / 3));
	difference = tpa_difference_runs(&a, &b, false);
	assert_float_equal(difference.p, 0.1, 1e-6);
	assert_float_equal(difference.ratio, b.mean / 100, 1e-12);
	assert_true(difference.interval.low < 1 && difference.interval.high > 1.5);
	assert_int_equal(tpa_difference_runs(&b, &b, false).doubt, TPA_DOUBT_FEW);
	assert_int_equal(tpa_difference_runs(&a, &none, false).doubt, TPA_DOUBT_FEW);
	tpa_moments_add_many(&same, 100, 3);
	assert_float_equal(tpa_difference_runs(&same, &same, false).p, 1, 0);
	tpa_moments_add(&none, 101);
	assert_float_equal(tpa_difference_runs(&same, &none, false).p, 0, 0);
}

static struct tpa_difference estimates(double a, double a_variance, double b, double b_variance, double unseen)
{
	const struct tpa_estimated old_side = { a, a_variance, unseen }, new_side = { b, b_variance, unseen };

	return tpa_difference_estimates(&old_side, &new_side);
}

static void test_estimates(void **state)
{
	(void)state;
	assert_float_equal(estimates(100, 50, 100 + 19.59963985, 50, 0).p, 0.05, 1e-7);
	assert_true(isnan(estimates(100, 0, 120, 0, 0).p));
	assert_float_equal(estimates(100, 0, 120, 0, 0).interval.low, 1.2, 1e-12);
	assert_true(isnan(estimates(0, 0, 120, 0, 0).ratio));
}

/* What one sample has and the other has not, the other may have passed by: so many bytes with probability exp(-bytes / mean). */
static void test_passed_by(void **state)
{
	struct tpa_difference gone = estimates(50, 10, 0, 0, 10);

	(void)state;
	assert_true(fabs(gone.p - 2 * exp(-5)) < 1e-12);
	assert_float_equal(gone.interval.low, 0, 0);
	/* 1 of 50 is of chance: the old is 49 at least. */
	assert_true(fabs(gone.interval.high - 10 * log(40) / sqrt(49 * 51)) < 1e-9);
	assert_true(fabs(gone.change.low + tpa_interval_estimate(50, 10, 10).high) < 1e-9);
	assert_true(fabs(gone.change.high + 50 - hypot(10 * log(40), 1)) < 1e-9);
	assert_float_equal(estimates(50, 10, 49, 0, 10).p, 1, 0);
	/* Of what was met often enough the variances tell more. */
	assert_float_equal(estimates(1000, 5000, 1000 + 195.9963985, 5000, 10).p, 0.05, 1e-7);
}

/* By the tables: two sides. */
static void test_student(void **state)
{
	static const struct {
		double t, degrees, p;
	} table[] = {
		{ 12.7062047362, 1, 0.05 },   { 4.3026527297, 2, 0.05 },
		{ 2.7764451052, 4, 0.05 },    { 2.2281388520, 10, 0.05 },
		{ 2.0422724563, 30, 0.05 },   { 8.6103015814, 4, 0.001 },
		{ 1.9599639845, 1e9, 0.05 },  { 0, 7, 1 },
		{ 6.36619772368e7, 1, 1e-8 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_float_equal(tpa_student_p(table[i].t, table[i].degrees), table[i].p, 1e-7);
		assert_float_equal(tpa_student_p(-table[i].t, table[i].degrees), table[i].p, 1e-7);
		assert_true(fabs(tpa_student_t(table[i].p, table[i].degrees) - table[i].t) < 1e-9 * table[i].t + 1e-7);
	}
	assert_true(isnan(tpa_student_p(1, 0)));
	assert_true(isnan(tpa_student_p(NAN, 3)));
}

static void test_batches_are_means(void **state)
{
	struct tpa_batches batches = { 0 };
	double sum = 0;

	(void)state;
	for (int i = 1; i <= 1000; i++)
		tpa_batches_add(&batches, i, 1);
	assert_int_equal(batches.series.size, 16);
	assert_int_equal(batches.series.count, 62);
	assert_int_equal(batches.calls, 1000);
	for (int k = 0; k < 62; k++) {
		sum = 0;
		for (int i = 1; i <= 16; i++)
			sum += log(16 * k + i) / 16;
		assert_float_equal(batches.means[k], sum, 1e-12);
	}
	sum = 0;
	for (int i = 1; i <= 1000; i++)
		sum += log(i) / 1000;
	assert_float_equal(mean_of(&batches), sum, 1e-12);
}

static void test_many_at_once(void **state)
{
	struct tpa_batches one = { 0 }, many = { 0 };

	(void)state;
	for (int i = 0; i < 5000; i++)
		tpa_batches_add(&one, i < 1777 ? 10 : 20, 1);
	tpa_batches_add(&many, 10, 1777);
	tpa_batches_add(&many, 20, 5000 - 1777);
	assert_int_equal(one.series.count, many.series.count);
	assert_int_equal(one.series.size, many.series.size);
	for (size_t i = 0; i < one.series.count; i++)
		assert_float_equal(one.means[i], many.means[i], 1e-12);
	tpa_batches_append(&many, &one);
	assert_int_equal(many.calls, 10000);
	assert_float_equal(mean_of(&many), mean_of(&one), 1e-12);
}

/* 1 to 5, then four of which only the mean is known: 1 to 4 are a batch by then, and 5 goes with the others. */
static void test_means_that_came_together(void **state)
{
	struct tpa_means means = { 0 }, all = { 0 };
	struct tpa_interval plain, wide;
	struct tpa_moments moments;

	(void)state;
	for (int i = 1; i <= 5; i++)
		tpa_means_add(&means, i);
	assert_false(means.together);
	tpa_means_add_mean(&means, 10, 4);
	assert_true(means.together);
	assert_int_equal(means.series.size, 4);
	assert_int_equal(means.series.count, 2);
	assert_float_equal(means.values[0], 2.5, 1e-12);
	assert_float_equal(means.values[1], 9, 1e-12);
	tpa_means_append(&all, &means);
	assert_int_equal(all.series.count, 2);
	assert_true(all.together);
	/* A deviation of the mean of 100, by values that were estimated: 196 on each side, and what batches say. */
	moments = (struct tpa_moments){ .count = 9, .mean = 6, .squares = 80 };
	plain = tpa_means_interval(&means, &moments, 0);
	wide = tpa_means_interval(&means, &moments, 10000);
	assert_true(fabs(wide.high - 6 - hypot(plain.high - 6, 195.9964)) < 1e-2);
	assert_true(fabs(wide.high + wide.low - 12) < 1e-9);
	tpa_means_leave_out(&means, 3);
	assert_int_equal(means.series.count, 1);
	assert_float_equal(means.values[0], 9, 1e-12);
	tpa_means_leave_out(&means, 100);
	assert_int_equal(means.series.count, 0);
}

/* What has no order is spread: no batch is of one value alone, and the mean stays. */
static void test_parts(void **state)
{
	const struct tpa_batch_part parts[] = { { 10, 5000 }, { 20, 5000 }, { 0, 3 } };
	struct tpa_batches batches = { 0 };

	(void)state;
	tpa_batches_add_parts(&batches, parts, 2);
	assert_int_equal(batches.calls, 10000);
	assert_float_equal(mean_of(&batches), (log(10) + log(20)) / 2, 0.01);
	for (size_t i = 0; i < batches.series.count; i++)
		assert_true(batches.means[i] > log(10) && batches.means[i] < log(20));
	tpa_batches_add_parts(&batches, parts, 0);
	tpa_batches_add_parts(&batches, &parts[2], 1);
	assert_int_equal(batches.calls, 10003);
}

/* Evenly spread values: quantiles are where they belong, also between the bounds of buckets, and move smoothly. */
static void test_quantiles(void **state)
{
	struct tpa_histogram few = { 0 }, many = { 0 };

	(void)state;
	assert_true(isnan(tpa_histogram_quantile(&few, 0.5)));
	for (unsigned i = 0; i < 5; i++)
		tpa_histogram_add(&few, 10 + 10 * i);
	assert_float_equal(tpa_histogram_quantile(&few, 0.5), 30, 1e-9);
	assert_float_equal(tpa_histogram_quantile(&few, 0.25), 20, 1e-9);
	assert_float_equal(tpa_histogram_quantile(&few, 0.3), 22, 1e-9);
	assert_float_equal(tpa_histogram_quantile(&few, 1), 50, 1e-9);
	for (unsigned i = 0; i < 1 << 17; i++)
		tpa_histogram_add(&many, (1 << 20) + i);
	for (int percent = 0; percent <= 100; percent++)
		assert_true(fabs(tpa_histogram_quantile(&many, percent / 100.0) - (1 << 20) - 1310.72 * percent) < 1);
	tpa_histogram_free(&many);
	memset(&many, 0, sizeof(many));
	tpa_histogram_add_many(&many, 20, 1000);
	assert_float_equal(tpa_histogram_quantile(&many, 0.5), 20, 1e-9);
	tpa_histogram_free(&many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_means_that_came_together),
		cmocka_unit_test(test_level),
		cmocka_unit_test(test_calls_are_not_independent),
		cmocka_unit_test(test_power),
		cmocka_unit_test(test_drift_is_doubt),
		cmocka_unit_test(test_outliers),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_one_against_several),
		cmocka_unit_test(test_estimates),
		cmocka_unit_test(test_passed_by),
		cmocka_unit_test(test_student),
		cmocka_unit_test(test_batches_are_means),
		cmocka_unit_test(test_many_at_once),
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
