/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test for leaks, on series that are made: how often it is wrong where nothing leaks, whatever the dependence between
 * neighbouring values; that it finds what leaks; and how often its intervals hold the truth.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/trend.h"

#define VALUES 96
#define STACKS 40    /* looked at together */
#define FAMILIES 400 /* ... so often */

static uint64_t state = 88172645463325252u;

/* Marsaglia's xorshift64, JSS 8 (2003). */
static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* ---- series ---- */

typedef void series(double *x, double *y, double parameter);

/* Places as the replay chooses them: one at random in each interval. */
static void places(double *x)
{
	for (int i = 0; i < VALUES; i++)
		x[i] = 8 * i + floor(8 * uniform());
}

static void autoregressive(double *x, double *y, double rho)
{
	double value = normal();

	places(x);
	for (int i = 0; i < VALUES; i++) {
		y[i] = 1000 + 10 * value;
		value = rho * value + sqrt(1 - rho * rho) * normal();
	}
}

static void walk(double *x, double *y, double size)
{
	double value = 1e6;

	places(x);
	for (int i = 0; i < VALUES; i++)
		y[i] = value += size * normal();
}

/* A queue: never below empty. */
static void queue(double *x, double *y, double length)
{
	double value = length * uniform();

	places(x);
	for (int i = 0; i < VALUES; i++) {
		value = fmax(0, value + (uniform() < 0.5 ? 64 : -64));
		y[i] = value;
	}
}

/* A cache that is emptied each `period` units. */
static void sawtooth(double *x, double *y, double period)
{
	double phase = period * uniform();

	places(x);
	for (int i = 0; i < VALUES; i++)
		y[i] = 100 * fmod(x[i] + phase, period);
}

/* A cache that fills with keys drawn at random, each at first sight. */
static void cache(double *x, double *y, double scale)
{
	places(x);
	for (int i = 0; i < VALUES; i++)
		y[i] = floor(1e4 * (1 - exp(-x[i] / scale)));
}

static void burst(double *x, double *y, double length)
{
	double from = uniform() * VALUES;

	places(x);
	for (int i = 0; i < VALUES; i++)
		y[i] = 512 + (i >= from && i < from + length ? 1e6 : 0);
}

/* ---- the families ---- */

static int by_p(const void *a, const void *b)
{
	const struct tp_trend *x = a, *y = b;

	return x->p < y->p ? -1 : x->p > y->p;
}

/* How many of the families had a stack that was said to leak. */
static int families_with_leak(series *make, double parameter)
{
	int with = 0;

	for (int family = 0; family < FAMILIES; family++) {
		struct tp_trend trends[STACKS];
		double p[STACKS], x[VALUES], y[VALUES];
		bool found = false;
		size_t significant;

		for (int i = 0; i < STACKS; i++) {
			make(x, y, parameter);
			tp_trend_test(x, y, VALUES, &trends[i]);
		}
		qsort(trends, STACKS, sizeof(*trends), by_p);
		for (int i = 0; i < STACKS; i++)
			p[i] = trends[i].p;
		significant = tp_trend_holm(p, STACKS, STACKS);
		for (size_t i = 0; i < significant; i++)
			found = found || trends[i].ongoing;
		with += found;
	}
	return with;
}

static void test_no_false_leak(void **unused)
{
	/* At a true rate of 5%, more than 33 of 400 would be seen once in 500 times. */
	const struct {
		const char *name;
		series *make;
		double parameter;
	} nulls[] = {
		{ "white noise", autoregressive, 0 },
		{ "AR(1) 0.5", autoregressive, 0.5 },
		{ "AR(1) 0.9", autoregressive, 0.9 },
		{ "AR(1) 0.99", autoregressive, 0.99 },
		{ "random walk", walk, 100 },
		{ "queue", queue, 640 },
		{ "sawtooth, short", sawtooth, 20 },
		{ "sawtooth, near the interval", sawtooth, 8.1 },
		{ "sawtooth, long", sawtooth, 200 },
		{ "sawtooth, longer", sawtooth, 300 },
		{ "cache that fills at once", cache, 40 },
		{ "cache that fills slowly", cache, 200 },
		{ "burst", burst, 6 },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(nulls) / sizeof(*nulls); i++) {
		int with = families_with_leak(nulls[i].make, nulls[i].parameter);

		printf("  %-28s %d of %d families with a false leak\n", nulls[i].name, with, FAMILIES);
		assert_true(with <= 33);
	}
}

/* ---- what leaks ---- */

static enum tp_verdict verdict_of(const double *x, const double *y, size_t n, size_t looked, struct tp_trend *trend)
{
	tp_trend_test(x, y, n, trend);
	return tp_trend_verdict(y, n, trend, tp_trend_holm(&trend->p, 1, looked) == 1);
}

static void test_leaks_are_found(void **unused)
{
	double x[VALUES], y[VALUES];
	struct tp_trend trend;

	(void)unused;
	/* 16 bytes a step, among 100,000 stacks. */
	places(x);
	for (int i = 0; i < VALUES; i++)
		y[i] = 4096 + 16 * x[i];
	assert_int_equal(verdict_of(x, y, VALUES, 100000, &trend), TP_VERDICT_LEAK);
	tp_trend_measure(x, y, VALUES, &trend);
	assert_true(trend.onset == 0 && fabs(trend.slope - 16) < 1e-6 && trend.high - trend.low < 1e-6);
	/* 160 bytes in each tenth step. */
	for (int i = 0; i < VALUES; i++)
		y[i] = 160 * floor(x[i] / 10);
	assert_int_equal(verdict_of(x, y, VALUES, 1000, &trend), TP_VERDICT_LEAK);
	tp_trend_measure(x, y, VALUES, &trend);
	assert_true(trend.low < 16 && trend.high > 16 && trend.high - trend.low < 6);
	/* An array that grows by an eighth when it is full. */
	y[0] = 1;
	for (int i = 0; i < VALUES; i++) {
		y[i] = i ? y[i - 1] : 64;
		while (y[i] < 8 * (x[i] + 8))
			y[i] *= 1.125;
	}
	assert_int_equal(verdict_of(x, y, VALUES, 20, &trend), TP_VERDICT_LEAK);
	/* One that begins at two thirds of the run. */
	for (int i = 0; i < VALUES; i++)
		y[i] = 100 + (i < 64 ? 0 : 64 * (x[i] - x[63]));
	assert_int_equal(verdict_of(x, y, VALUES, 1000, &trend), TP_VERDICT_LEAK);
	tp_trend_measure(x, y, VALUES, &trend);
	assert_in_range(trend.onset, 62, 64);
	assert_true(fabs(trend.slope - 64) < 1);
}

static void test_noise_on_a_leak(void **unused)
{
	double x[VALUES], y[VALUES];
	int found = 0;

	(void)unused;
	for (int i = 0; i < 200; i++) {
		struct tp_trend trend;

		autoregressive(x, y, 0);
		for (int k = 0; k < VALUES; k++)
			y[k] += x[k]; /* 768 in all, upon noise of 10 */
		found += verdict_of(x, y, VALUES, 100, &trend) == TP_VERDICT_LEAK;
	}
	printf("  leak of 77 standard deviations: found %d of 200 times\n", found);
	assert_true(found >= 190);
}

/* ---- caches that still fill, by their blocks ---- */

/* One entry of many sizes at x; `new`: beside what is there, otherwise in place of another. */
static void put(double *bytes, double *blocks, bool new)
{
	*bytes += 16 + 4080 * uniform() - (new ? 0 : 16 + 4080 * uniform());
	*blocks += new;
}

struct loop {
	double slots; /* of a cache, of which `draws` are chosen in each step; 0: none */
	int draws;
	double chance;	/* of a block that stays, in a step */
	double enlarge; /* of each block, bytes a step */
};

/* In each step; what is live at each one's end. */
static void run_loop(double *x, double *bytes, double *blocks, const struct loop *loop)
{
	double sum = 0, count = 0, held = 0;

	for (int i = 0; i < VALUES; i++) {
		for (int k = 0; k < loop->draws; k++) {
			bool new = uniform() * loop->slots >= held;

			put(&sum, &count, new);
			held += new;
		}
		if (uniform() < loop->chance)
			put(&sum, &count, true);
		sum += loop->enlarge * count;
		x[i] = i;
		bytes[i] = sum;
		blocks[i] = count;
	}
}

/* How many of 400 such loops are said to leak, of how many series that are looked at together. */
static int said_to_leak(const struct loop *loop)
{
	int found = 0;

	for (int i = 0; i < FAMILIES; i++) {
		double x[VALUES], bytes[VALUES], blocks[VALUES];
		struct tp_trend trend;

		run_loop(x, bytes, blocks, loop);
		tp_trend_test(x, bytes, VALUES, &trend);
		trend.ongoing = trend.ongoing && !tp_trend_fills(x, bytes, blocks, VALUES);
		found += tp_trend_holm(&trend.p, 1, STACKS / 10) == 1 && trend.ongoing;
	}
	return found;
}

static void test_caches_that_fill(void **unused)
{
	const struct {
		const char *name;
		struct loop loop;
		int least, most; /* said to leak, of 400 */
	} cases[] = {
		{ "cache, all but full", { .slots = 64, .draws = 3 }, 0, 8 },
		{ "cache, nine tenths full", { .slots = 125, .draws = 3 }, 0, 110 },
		{ "leak in each step", { .chance = 1 }, 396, 400 },
		{ "leak in every second step", { .chance = 0.5 }, 396, 400 },
		{ "leak in one step of three", { .chance = 1.0 / 3 }, 380, 400 },
		{ "cache at its beginning", { .slots = 10000, .draws = 3 }, 396, 400 },
		{ "a cache's blocks, made larger", { .slots = 64, .draws = 3, .enlarge = 100 }, 396, 400 },
		{ "leak after a warm-up", { .slots = 48, .draws = 3, .chance = 0.5 }, 300, 400 },
		{ "leak after a warm-up, faster", { .slots = 48, .draws = 3, .chance = 1 }, 300, 400 },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int found = said_to_leak(&cases[i].loop);

		printf("  %-30s %d of %d said to leak\n", cases[i].name, found, FAMILIES);
		assert_in_range(found, cases[i].least, cases[i].most);
	}
}

/* ---- intervals ---- */

static void test_intervals_hold(void **unused)
{
	const struct {
		const char *name;
		series *make;
		double parameter;
	} noises[] = {
		{ "white noise", autoregressive, 0 },
		{ "AR(1) 0.9", autoregressive, 0.9 },
		{ "random walk", walk, 10 },
	};
	const int runs = 1000;

	(void)unused;
	for (size_t i = 0; i < sizeof(noises) / sizeof(*noises); i++) {
		int held = 0;

		for (int run = 0; run < runs; run++) {
			double x[VALUES], y[VALUES];
			struct tp_trend trend;

			noises[i].make(x, y, noises[i].parameter);
			for (int k = 0; k < VALUES; k++)
				y[k] += 32 * x[k];
			tp_trend_test(x, y, VALUES, &trend);
			tp_trend_measure(x, y, VALUES, &trend);
			held += trend.low <= 32 && 32 <= trend.high;
		}
		printf("  32 upon %-12s in its interval %d of %d times\n", noises[i].name, held, runs);
		assert_true(held >= 930);
	}
}

/* ---- what does not leak, and how it is called ---- */

static void test_verdicts(void **unused)
{
	double x[VALUES], y[VALUES];
	struct tp_trend trend;

	(void)unused;
	places(x);
	for (int i = 0; i < VALUES; i++)
		y[i] = 12345;
	assert_int_equal(verdict_of(x, y, VALUES, 10, &trend), TP_VERDICT_STABLE);
	assert_false(trend.varies);
	for (int i = 0; i < VALUES; i++)
		y[i] = i < 5 ? 100 * i : 500;
	assert_int_equal(verdict_of(x, y, VALUES, 10, &trend), TP_VERDICT_WARM_UP);
	for (int i = 0; i < VALUES; i++)
		y[i] = i < 40 ? 100 * i : 4000;
	assert_int_equal(verdict_of(x, y, VALUES, 10, &trend), TP_VERDICT_WARM_UP);
	cache(x, y, 100);
	assert_int_equal(verdict_of(x, y, VALUES, 10, &trend), TP_VERDICT_WARM_UP);
	sawtooth(x, y, 160);
	assert_int_equal(verdict_of(x, y, VALUES, 10, &trend), TP_VERDICT_SAWTOOTH);
	for (int i = 0; i < VALUES; i++)
		y[i] = 512 + (i >= 40 && i < 45 ? 1e6 : 0);
	assert_int_equal(verdict_of(x, y, VALUES, 10, &trend), TP_VERDICT_BURST);
	for (int i = 0; i < VALUES; i++)
		y[i] = i < 80 ? 512 : 1e6;
	assert_int_equal(verdict_of(x, y, VALUES, 10, &trend), TP_VERDICT_BURST);
	autoregressive(x, y, 0);
	assert_int_equal(verdict_of(x, y, VALUES, 10, &trend), TP_VERDICT_STABLE);
	assert_true(trend.varies);
}

static void test_holm(void **unused)
{
	const double p[] = { 0.001, 0.01, 0.02, 0.2 };

	(void)unused;
	/* 0.05 / 4, / 3, / 2: Holm 1979, example of the method */
	assert_int_equal(tp_trend_holm(p, 4, 4), 3);
	assert_int_equal(tp_trend_holm(p, 4, 40), 1);
	assert_int_equal(tp_trend_holm(p, 4, 100), 0);
	assert_int_equal(tp_trend_holm(p, 0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_false_leak),
		cmocka_unit_test(test_leaks_are_found),
		cmocka_unit_test(test_noise_on_a_leak),
		cmocka_unit_test(test_intervals_hold),
		cmocka_unit_test(test_caches_that_fill),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_holm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
