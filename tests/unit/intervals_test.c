/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of a program whose ops take known, injected times: in how many runs is the truth in the 95% interval? */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/stats.h"
#include "replayed.h"

#define RUNS 400u
#define ALLOWED                                                                                                        \
	3 /* deviations of a binomial count with p = 0.95: 1 in 370 sets of seeds is farther off; the seeds are fixed */

/* SplitMix64 (Steele, Lea and Flood 2014): the same numbers everywhere. In (0, 1). */
static double uniform(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

/* Box and Muller 1958. */
static double normal(uint64_t *seed)
{
	double radius = sqrt(-2 * log(uniform(seed)));

	return radius * cos(2 * M_PI * uniform(seed));
}

enum shape { NORMAL, FLAT, SKEWED };

/* Nanoseconds of a call; each shape's mean is 100,000. */
static double duration(enum shape shape, uint64_t *seed)
{
	switch (shape) {
	case NORMAL:
		return 100000 + 8000 * normal(seed);
	case FLAT:
		return 80000 + 40000 * uniform(seed);
	default: /* what is often met: a floor, and a tail */
		return 90000 - 10000 * log(uniform(seed));
	}
}

/* Is the truth in the interval of a run with so many calls? The op is within another, whose other time is not its own. */
static bool covers(enum shape shape, unsigned calls, uint64_t seed)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });
	struct tp_interval interval;
	struct replayed run;
	double now = 1000;

	gen_op(gen, 1, TPROF_OP_ANNOTATION, "", "outer");
	gen_op(gen, 2, TPROF_OP_ANNOTATION, "", "timed");
	for (unsigned i = 0; i < calls; i++) {
		gen_op_begin(gen, 1, (uint64_t)now, 1);
		now += 500 * uniform(&seed);
		gen_op_begin(gen, 1, (uint64_t)now, 2);
		now += duration(shape, &seed);
		gen_op_end(gen, 1, (uint64_t)now, false);
		now += 50000 * uniform(&seed);
		gen_op_end(gen, 1, (uint64_t)now, false);
	}
	gen_finish(gen, (uint64_t)now + 1000, 0);
	run = replay(gen, NULL);
	interval = tp_moments_interval(&op_named(&run, "timed")->durations);
	done(&run);
	return interval.low <= 100000 && 100000 <= interval.high;
}

static void check_coverage(enum shape shape, unsigned calls)
{
	double deviation = sqrt(RUNS * 0.95 * 0.05);
	unsigned covered = 0;

	for (unsigned run = 0; run < RUNS; run++)
		covered += covers(shape, calls, UINT64_C(1000003) * run + calls);
	print_message("%u of %u intervals hold the truth (%u calls)\n", covered, RUNS, calls);
	assert_true(fabs(covered - 0.95 * RUNS) <= ALLOWED * deviation);
}

static void test_normal_times(void **state)
{
	(void)state;
	check_coverage(NORMAL, 12);
	check_coverage(NORMAL, 100);
}

static void test_flat_times(void **state)
{
	(void)state;
	check_coverage(FLAT, 40);
}

static void test_skewed_times(void **state)
{
	(void)state;
	check_coverage(SKEWED, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal_times),
		cmocka_unit_test(test_flat_times),
		cmocka_unit_test(test_skewed_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
