/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ops among ops: the level where only the machine differs, the power where one op is 3% slower. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "model/stats/peer_ratios.h"
#include "model/stats/rank.h"
#include "normal.h"

#define OPS_MAX 40
#define RUNS 400

/* What two runs differ by: in all ops alike, in each on its own, and what an op's calls leave open. */
struct machine {
	double common, each, error;
};

/* The p of each op, corrected; op 0 takes `slower` times as long. */
static void pair(const struct machine *machine, size_t ops, double slower, double *p)
{
	double common = machine->common * normal();
	struct tpa_among list[OPS_MAX] = { { 0 } };

	for (size_t i = 0; i < ops; i++)
		list[i] = (struct tpa_among){ common + machine->each * normal() + machine->error * normal(),
					      machine->error, 0 };
	list[0].log_ratio += log(slower);
	tpa_among_test(list, ops);
	for (size_t i = 0; i < ops; i++)
		p[i] = list[i].p;
	tpa_holm(p, ops);
}

static double least(const double *p, size_t count)
{
	double least = 1;

	for (size_t i = 0; i < count; i++)
		least = fmin(least, p[i]);
	return least;
}

/* Of runs that are the same, in at most one of twenty any op stands out: 95% of binomial(400, 0.05) are below 28. */
static void test_level(void **state)
{
	static const struct machine machines[] = {
		{ 0.3, 0.05, 0.01 }, { 0, 0.2, 0.001 }, { 0.3, 0, 0.02 }, { 0.01, 0.01, 0.01 }
	};
	double p[OPS_MAX];

	(void)state;
	for (size_t m = 0; m < sizeof(machines) / sizeof(machines[0]); m++)
		for (size_t ops = 5; ops <= OPS_MAX; ops *= 2) {
			int reports = 0;

			for (int i = 0; i < RUNS; i++) {
				pair(&machines[m], ops, 1, p);
				reports += least(p, ops) < 0.05;
			}
			assert_in_range(reports, 0, 28);
		}
}

/* A machine that is 30% slower in one of the runs, felt by all ops but for 0.3%: 3% of one op is found, and no other. */
static void test_slower(void **state)
{
	const struct machine machine = { 0.3, 0.003, 0.002 };
	int found = 0, others = 0;
	double p[OPS_MAX];

	(void)state;
	for (int i = 0; i < RUNS; i++) {
		pair(&machine, 10, 1.03, p);
		found += p[0] < 0.05;
		others += least(p + 1, 9) < 0.05;
	}
	assert_in_range(found, RUNS * 95 / 100, RUNS);
	assert_in_range(others, 0, 28);
}

static void test_too_few(void **state)
{
	struct tpa_among list[] = { { 0.5, 0.01, 0 }, { 0, 0.01, 0 }, { 0, 0.01, 0 }, { 0, 0.01, 0 }, { 0, 0.01, 0 } };

	(void)state;
	tpa_among_test(list, 4);
	assert_true(isnan(list[0].p));
	tpa_among_test(list, 5);
	assert_true(list[0].p < 0.001 && list[1].p > 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_level),
		cmocka_unit_test(test_slower),
		cmocka_unit_test(test_too_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
