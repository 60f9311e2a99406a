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

#include "model/stats/trend.h"

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
	const struct tpa_trend *x = a, *y = b;

	return x->p < y->p ? -1 : x->p > y->p;
}

/* How many of the families had a stack that was said to leak. */
static int families_with_leak(series *make, double parameter)
{
	int with = 0;

	for (int family = 0; family < FAMILIES; family++) {
		struct tpa_trend trends[STACKS];
		double p[STACKS], x[VALUES], y[VALUES];
		bool found = false;
		size_t significant;

		for (int i = 0; i < STACKS; i++) {
			make(x, y, parameter);
			tpa_trend_test(x, y, VALUES, &trends[i]);
		}
		qsort(trends, STACKS, sizeof(*trends), by_p);
		for (int i = 0; i < STACKS; i++)
			p[i] = trends[i].p;
		significant = tpa_trend_holm(p, STACKS, STACKS);
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

static enum tpa_verdict verdict_of(const double *x, const double *y, size_t n, size_t looked, struct tpa_trend *trend)
{
	tpa_trend_test(x, y, n, trend);
	return tpa_trend_verdict(y, n, trend, tpa_trend_holm(&trend->p, 1, looked) == 1);
}

static void test_leaks_are_found(void **unused)
{
	double x[VALUES], y[VALUES], one[VALUES];
	struct tpa_trend trend;

	(void)unused;
	/* 16 bytes a step, among 100,000 stacks. */
	places(x);
	for (int i = 0; i < VALUES; i++)
		y[i] = 4096 + 16 * x[i];
	assert_int_equal(verdict_of(x, y, VALUES, 100000, &trend), TPA_VERDICT_LEAK);
	tpa_trend_measure(x, y, VALUES, &trend);
	assert_true(trend.onset == 0 && fabs(trend.slope - 16) < 1e-6 && trend.high - trend.low < 1e-6);
	/* 160 bytes in each tenth step. */
	for (int i = 0; i < VALUES; i++)
		y[i] = 160 * floor(x[i] / 10);
	assert_int_equal(verdict_of(x, y, VALUES, 1000, &trend), TPA_VERDICT_LEAK);
	tpa_trend_measure(x, y, VALUES, &trend);
	assert_true(trend.low < 16 && trend.high > 16 && trend.high - trend.low < 6);
	/* An array that grows by an eighth when it is full. */
	y[0] = 1;
	for (int i = 0; i < VALUES; i++) {
		y[i] = i ? y[i - 1] : 64;
		while (y[i] < 8 * (x[i] + 8))
			y[i] *= 1.125;
	}
	assert_int_equal(verdict_of(x, y, VALUES, 20, &trend), TPA_VERDICT_LEAK);
	/* It is one block all the time, which says nothing of its course. */
	for (int i = 0; i < VALUES; i++)
		one[i] = 1;
	for (size_t n = TPA_TREND_LEAST; n <= VALUES; n++) {
		tpa_trend_follow(x, y, one, n, &trend);
		assert_int_equal(trend.course, TPA_COURSE_STEADY);
	}
	/* One that begins at two thirds of the run. */
	for (int i = 0; i < VALUES; i++)
		y[i] = 100 + (i < 64 ? 0 : 64 * (x[i] - x[63]));
	assert_int_equal(verdict_of(x, y, VALUES, 1000, &trend), TPA_VERDICT_LEAK);
	tpa_trend_measure(x, y, VALUES, &trend);
	assert_in_range(trend.onset, 62, 64);
	assert_true(fabs(trend.slope - 64) < 1);
}

static void test_noise_on_a_leak(void **unused)
{
	double x[VALUES], y[VALUES];
	int found = 0;

	(void)unused;
	for (int i = 0; i < 200; i++) {
		struct tpa_trend trend;

		autoregressive(x, y, 0);
		for (int k = 0; k < VALUES; k++)
			y[k] += x[k]; /* 768 in all, upon noise of 10 */
		found += verdict_of(x, y, VALUES, 100, &trend) == TPA_VERDICT_LEAK;
	}
	printf("  leak of 77 standard deviations: found %d of 200 times\n", found);
	assert_true(found >= 190);
}

/* ---- caches that still fill, by their blocks ---- */

/* One entry of many sizes; `new`: beside what is there, otherwise in place of another. */
static void put(double *bytes, double *blocks, bool one_size, bool new)
{
	double size = one_size ? 2048 : 16 + 4080 * uniform(), old = one_size ? 2048 : 16 + 4080 * uniform();

	*bytes += size - (new ? 0 : old);
	*blocks += new;
}

struct loop {
	size_t steps;
	double slots; /* of a cache, of which `draws` are chosen in each step; 0: none */
	int draws;
	double chance;	/* of a block that stays, in a step */
	double enlarge; /* of each block, bytes a step */
	bool one_size;
};

/* In each step; what is live at each one's end. */
static void run_loop(double *x, double *bytes, double *blocks, const struct loop *loop)
{
	double sum = 0, count = 0, held = 0;

	for (size_t i = 0; i < loop->steps; i++) {
		for (int k = 0; k < loop->draws; k++) {
			bool new = uniform() * loop->slots >= held;

			put(&sum, &count, loop->one_size, new);
			held += new;
		}
		if (uniform() < loop->chance)
			put(&sum, &count, loop->one_size, true);
		sum += loop->enlarge * count;
		x[i] = (double)i;
		bytes[i] = sum;
		blocks[i] = count;
	}
}

/* How many of 400 such loops are said to leak, and how many that they may, of how many series that are looked at together. */
static void say(const struct loop *loop, int *leaks, int *may)
{
	*leaks = *may = 0;
	for (int i = 0; i < FAMILIES; i++) {
		double x[VALUES], bytes[VALUES], blocks[VALUES];
		enum tpa_verdict verdict;
		struct tpa_trend trend;
		bool significant;

		run_loop(x, bytes, blocks, loop);
		tpa_trend_test(x, bytes, loop->steps, &trend);
		significant = tpa_trend_holm(&trend.p, 1, STACKS / 10) == 1;
		tpa_trend_follow(x, bytes, blocks, loop->steps, &trend);
		verdict = tpa_trend_verdict(bytes, loop->steps, &trend, significant);
		*leaks += verdict == TPA_VERDICT_LEAK;
		*may += verdict == TPA_VERDICT_RISING;
	}
}

static void test_caches_that_fill(void **unused)
{
	const struct {
		const char *name;
		struct loop loop;
		int least, most; /* said to leak, of 400 */
		int least_both;	 /* ... or that they may */
	} cases[] = {
		{ "cache, all but full", { 96, .slots = 64, .draws = 3 }, 0, 8, 0 },
		{ "cache, nine tenths full", { 96, .slots = 125, .draws = 3 }, 0, 20, 0 },
		{ "the same, of 60 steps", { 60, .slots = 78, .draws = 3 }, 0, 24, 0 },
		{ "the same, of 30 steps", { 30, .slots = 39, .draws = 3 }, 0, 24, 0 },
		{ "the same, of one size", { 96, .slots = 125, .draws = 3, .one_size = true }, 0, 24, 0 },
		{ "cache, half full", { 96, .slots = 415, .draws = 3 }, 0, 400, 0 },
		{ "leak in each step", { 96, .chance = 1 }, 400, 400, 400 },
		{ "leak in every second step", { 96, .chance = 0.5 }, 396, 400, 396 },
		{ "leak in one step of three", { 96, .chance = 1.0 / 3 }, 380, 400, 380 },
		{ "the same, of 60 steps", { 60, .chance = 1.0 / 3 }, 340, 400, 380 },
		{ "in every second, of 30 steps", { 30, .chance = 0.5 }, 200, 400, 330 },
		{ "cache at its beginning", { 96, .slots = 10000, .draws = 3 }, 396, 400, 396 },
		{ "a cache's blocks, made larger", { 96, .slots = 64, .draws = 3, .enlarge = 100 }, 396, 400, 396 },
		{ "leak after a warm-up", { 96, .slots = 48, .draws = 3, .chance = 0.5 }, 0, 400, 270 },
		{ "leak after a warm-up, faster", { 96, .slots = 48, .draws = 3, .chance = 1 }, 360, 400, 360 },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int leaks, may;

		say(&cases[i].loop, &leaks, &may);
		printf("  %-30s %d of %d said to leak, %d that they may\n", cases[i].name, leaks, FAMILIES, may);
		assert_in_range(leaks, cases[i].least, cases[i].most);
		assert_in_range(leaks + may, cases[i].least_both, FAMILIES);
	}
}

/* ---- short runs ---- */

#define BORN 3 /* blocks in each step */

/* A cache of that many slots, each new block in one at random, and blocks at the side that nobody frees. */
static void short_run(size_t steps, size_t slots, size_t leaked, double *blocks, double *survivors)
{
	size_t born[64] = { 0 }, used = 0; /* of each slot: the step; 0: it is empty */

	assert_true(slots <= 64);
	for (size_t step = 1; step <= steps; step++) {
		for (int i = 0; slots && i < BORN; i++) {
			size_t slot = (size_t)(uniform() * (double)slots);

			used += !born[slot];
			born[slot] = step;
		}
		blocks[step - 1] = (double)(used + step * leaked);
	}
	for (size_t i = 0; i < steps; i++) {
		survivors[i] = (double)((i + 1) * leaked);
		for (size_t slot = 0; slot < slots; slot++)
			survivors[i] += born[slot] && born[slot] <= i + 1;
	}
}

static int doubted(size_t steps, size_t slots, size_t leaked, int runs)
{
	double x[TPA_TREND_MAX], blocks[TPA_TREND_MAX], survivors[TPA_TREND_MAX];
	int count = 0;

	for (size_t i = 0; i < steps; i++)
		x[i] = (double)(i + 1);
	for (int run = 0; run < runs; run++) {
		short_run(steps, slots, leaked, blocks, survivors);
		count += tpa_trend_is_doubtful(x, blocks, blocks, survivors, steps, 0, 1);
	}
	return count;
}

/* What is replaced is doubted, what stays is not; also where a slot or two beside it are filled again and again. */
static void test_what_is_replaced(void **unused)
{
	const size_t steps[] = { 18, 24, 40, 60 };

	(void)unused;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		int caches = doubted(steps[i], 64, 0, 400), both = doubted(steps[i], 2, 1, 400);

		printf("  %zu steps: a cache is doubted %d of 400 times, a leak beside two slots %d\n", steps[i],
		       caches, both);
		assert_in_range(caches, 360, 400);
		assert_in_range(both, 0, 20);
		assert_int_equal(doubted(steps[i], 0, 2, 1), 0);
	}
	assert_int_equal(doubted(64, 64, 0, 100), 0); /* long enough to show that it stops */
}

/* What fell now and then needs a fifth of the level. */
static void test_what_fell_is_doubted(void **unused)
{
	double x[24], y[24];

	(void)unused;
	for (size_t i = 0; i < 24; i++) {
		x[i] = (double)i;
		y[i] = (double)(i + (i == 12 ? 2 : 0));
	}
	assert_true(tpa_trend_is_doubtful(x, y, y, NULL, 24, 0.0101, 1));
	assert_true(tpa_trend_is_doubtful(x, y, y, NULL, 24, 0.0051, 2));
	assert_false(tpa_trend_is_doubtful(x, y, y, NULL, 24, 0.0099, 1));
	y[12] = 12;
	assert_false(tpa_trend_is_doubtful(x, y, y, NULL, 24, 0.04, 1));
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
			struct tpa_trend trend;

			noises[i].make(x, y, noises[i].parameter);
			for (int k = 0; k < VALUES; k++)
				y[k] += 32 * x[k];
			tpa_trend_test(x, y, VALUES, &trend);
			tpa_trend_measure(x, y, VALUES, &trend);
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
	struct tpa_trend trend;

	(void)unused;
	places(x);
	for (int i = 0; i < VALUES; i++)
		y[i] = 12345;
	assert_int_equal(verdict_of(x, y, VALUES, 10, &trend), TPA_VERDICT_STABLE);
	assert_false(trend.varies);
	for (int i = 0; i < VALUES; i++)
		y[i] = i < 5 ? 100 * i : 500;
	assert_int_equal(verdict_of(x, y, VALUES, 10, &trend), TPA_VERDICT_WARM_UP);
	for (int i = 0; i < VALUES; i++)
		y[i] = i < 40 ? 100 * i : 4000;
	assert_int_equal(verdict_of(x, y, VALUES, 10, &trend), TPA_VERDICT_WARM_UP);
	cache(x, y, 100);
	assert_int_equal(verdict_of(x, y, VALUES, 10, &trend), TPA_VERDICT_WARM_UP);
	sawtooth(x, y, 160);
	assert_int_equal(verdict_of(x, y, VALUES, 10, &trend), TPA_VERDICT_SAWTOOTH);
	for (int i = 0; i < VALUES; i++)
		y[i] = 512 + (i >= 40 && i < 45 ? 1e6 : 0);
	assert_int_equal(verdict_of(x, y, VALUES, 10, &trend), TPA_VERDICT_BURST);
	for (int i = 0; i < VALUES; i++)
		y[i] = i < 80 ? 512 : 1e6;
	assert_int_equal(verdict_of(x, y, VALUES, 10, &trend), TPA_VERDICT_BURST);
	autoregressive(x, y, 0);
	assert_int_equal(verdict_of(x, y, VALUES, 10, &trend), TPA_VERDICT_STABLE);
	assert_true(trend.varies);
}

static void test_holm(void **unused)
{
	const double p[] = { 0.001, 0.01, 0.02, 0.2 };

	(void)unused;
	/* 0.05 / 4, / 3, / 2: Holm 1979, example of the method */
	assert_int_equal(tpa_trend_holm(p, 4, 4), 3);
	assert_int_equal(tpa_trend_holm(p, 4, 40), 1);
	assert_int_equal(tpa_trend_holm(p, 4, 100), 0);
	assert_int_equal(tpa_trend_holm(p, 0, 0), 0);
}

/* Fourteen differences, all of them rises: 2^-14. Of forty-eight values and more two tests are made. */
static void test_who_can_tell(void **unused)
{
	(void)unused;
	assert_true(tpa_trend_can_tell(16, 0));
	assert_true(tpa_trend_can_tell(16, 819));
	assert_false(tpa_trend_can_tell(16, 820));
	assert_true(tpa_trend_can_tell(40, 100000000));
	assert_true(tpa_trend_can_tell(TPA_TREND_MAX, SIZE_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_false_leak),
		cmocka_unit_test(test_leaks_are_found),
		cmocka_unit_test(test_noise_on_a_leak),
		cmocka_unit_test(test_intervals_hold),
		cmocka_unit_test(test_caches_that_fill),
		cmocka_unit_test(test_what_is_replaced),
		cmocka_unit_test(test_what_fell_is_doubted),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_holm),
		cmocka_unit_test(test_who_can_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
