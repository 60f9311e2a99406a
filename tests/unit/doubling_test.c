/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that are enlarged when they are full, and series of jumps that are none. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/stats/doubling.h"

#define VALUES 96
#define SERIES 4000

static uint64_t state = 7;

static double uniform(void)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static void places(double *x, double distance)
{
	for (int i = 0; i < VALUES; i++)
		x[i] = floor(distance * (i + uniform())) + 1;
}

/* Room for what came by each place: `rate` a place from `begin` to `end`, first 16 and then `factor` times as much. */
static void fill(const double *x, double *y, double rate, double factor, double begin, double end)
{
	double room = 16;

	for (int i = 0; i < VALUES; i++) {
		double count = rate * (fmin(x[i], end) - begin);

		while (count > room)
			room *= factor;
		y[i] = count > 0 ? 8 * room : 0;
	}
}

static void test_tables(void **unused)
{
	const double factors[] = { 1.5, 2, 4 }, rates[] = { 1, 3, 100 }, distances[] = { 1, 8, 64 };
	double x[VALUES], y[VALUES];
	struct tpa_doubling found;
	int few = 0;

	(void)unused;
	for (int i = 0; i < 27; i++)
		for (int late = 0; late < 2; late++) {
			double rate = rates[i / 3 % 3], distance = distances[i / 9];

			places(x, distance);
			fill(x, y, rate, factors[i % 3], late ? 20 * distance : 0, INFINITY);
			if (!tpa_doubling_find(x, y, VALUES, &found)) {
				few++;
				continue;
			}
			assert_true(found.goes_on && found.factor >= factors[i % 3] * 0.99);
			assert_true(found.low <= found.rate && found.rate <= found.high);
			if (late)
				assert_true(fabs(found.rate / (8 * rate) - 1) < 0.2);
			else
				assert_true(found.low <= 8 * rate * 1.01 && found.high >= 8 * rate * 0.9);
			assert_true(found.jumps < 5 || found.p < 0.01);
		}
	assert_in_range(few, 0, 18); /* by 4, or from 16 in a short run: two jumps */
}

static void test_a_table_that_is_full_enough(void **unused)
{
	double x[VALUES], y[VALUES];
	struct tpa_doubling found;

	(void)unused;
	places(x, 8);
	fill(x, y, 3, 2, 0, 200);
	assert_true(tpa_doubling_find(x, y, VALUES, &found) && !found.goes_on);
}

/* Jumps that come at any time, on a scale of logarithms, up or down. */
static int taken(double level, double factor)
{
	double x[VALUES], y[VALUES];
	struct tpa_doubling found;
	int count = 0;

	for (int run = 0; run < SERIES; run++) {
		double value = 1 << 20, next;

		places(x, 8);
		next = x[0] * pow(factor, -log(uniform()));
		for (int i = 0; i < VALUES; i++) {
			while (next < x[i]) {
				value *= uniform() < 0.5 ? factor : 1 / factor;
				next *= pow(factor, -log(uniform()));
			}
			y[i] = value;
		}
		count += tpa_doubling_find(x, y, VALUES, &found) && found.p <= level;
	}
	return count;
}

static void test_chance(void **unused)
{
	const double factors[] = { 1.3, 1.5, 2, 4 };

	(void)unused;
	for (int i = 0; i < 4; i++) {
		assert_in_range(taken(0.01, factors[i]), 0, SERIES / 100);
		assert_in_range(taken(0.001, factors[i]), 0, SERIES / 500);
	}
}

static void test_no_tables(void **unused)
{
	double x[VALUES], y[VALUES];
	struct tpa_doubling found;

	(void)unused;
	places(x, 8);
	for (int i = 0; i < VALUES; i++)
		y[i] = 1000 + 16 * i; /* grows all the time */
	assert_false(tpa_doubling_find(x, y, VALUES, &found));
	for (int i = 0; i < VALUES; i++)
		y[i] = i < 40 ? 1000 : 2000; /* jumps once */
	assert_false(tpa_doubling_find(x, y, VALUES, &found));
	for (int i = 0; i < VALUES; i++)
		y[i] = 0;
	assert_false(tpa_doubling_find(x, y, VALUES, &found));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_a_table_that_is_full_enough),
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_no_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
