/* SPDX-License-Identifier: Apache-2.0 */
/* Ops of one run a side, of generated runs: a machine that is slower in one of them, and one op that is. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "model/replay/run.h"
#include "normal.h"
#include "replayed.h"
#include "report/rows/diff_times.h"

#define OPS 8
#define STEPS 2000

struct kind {
	double machine; /* all takes so many times as long */
	double first;	/* op 1, beside */
	int ops;
};

static void add(struct tpa_diff_times *times, int side, const struct kind *kind)
{
	const struct tpa_replay_options options = { .batches = true };
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });
	struct replayed replayed;
	uint64_t now = 1000;
	char name[16];

	for (int op = 1; op <= kind->ops; op++) {
		snprintf(name, sizeof(name), "op %d", op);
		gen_op(gen, (uint32_t)op, TPROF_OP_ANNOTATION, "test", name);
	}
	for (int step = 0; step < STEPS; step++) {
		for (int op = 1; op <= kind->ops; op++) {
			double ns = 5000 * op * kind->machine * (op == 1 ? kind->first : 1);

			gen_op_begin(gen, 1, now, (uint32_t)op);
			now += (uint64_t)(ns * exp(0.02 * normal()));
			gen_op_end(gen, 1, now, false);
			now += 10;
		}
		gen_step(gen, 1, now, 1);
	}
	gen_finish(gen, now, 0);
	replayed = replay(gen, &options);
	tpa_diff_times_add(times, side, replayed.run);
	done(&replayed);
}

static void compare(struct tpa_diff_times *times, const struct kind *old_run, const struct kind *new_run)
{
	memset(times, 0, sizeof(*times));
	add(times, 0, old_run);
	add(times, 1, new_run);
	tpa_diff_times_test(times);
}

static const char *verdict(const struct tpa_diff_times *times, const char *op)
{
	return tpa_diff_time_verdict(tpa_diff_op(times, op));
}

/* The machine is 20% slower: no op is. One that is 3% slower beside is found. */
static void test_among_others(void **state)
{
	const struct kind old_run = { 1, 1, OPS }, machine = { 1.2, 1, OPS }, both = { 1.2, 1.03, OPS };
	struct tpa_diff_times times;

	(void)state;
	compare(&times, &old_run, &machine);
	for (size_t i = 0; i < times.count; i++)
		if (times.list[i]->category)
			assert_string_equal(tpa_diff_time_verdict(times.list[i]), "as others");
	assert_true(tpa_diff_op(&times, "op 3")->difference.p < 1e-6);
	assert_string_equal(tpa_diff_time_verdict(tpa_diff_time(&times, TPA_DIFF_STEP)), "one run");
	tpa_diff_times_free(&times);

	compare(&times, &old_run, &both);
	assert_string_equal(verdict(&times, "op 1"), "slower");
	assert_string_equal(verdict(&times, "op 2"), "as others");
	assert_string_equal(verdict(&times, "op 8"), "as others");
	tpa_diff_times_free(&times);
}

/* Three ops say nothing of each other; several runs a side need none. */
static void test_without_others(void **state)
{
	const struct kind old_run = { 1, 1, 3 }, new_run = { 1.2, 1, 3 };
	struct tpa_diff_times times;

	(void)state;
	compare(&times, &old_run, &new_run);
	assert_string_equal(verdict(&times, "op 2"), "one run");
	tpa_diff_times_free(&times);

	memset(&times, 0, sizeof(times));
	for (int i = 0; i < 3; i++) {
		add(&times, 0, &old_run);
		add(&times, 1, &new_run);
	}
	tpa_diff_times_test(&times);
	assert_string_equal(verdict(&times, "op 2"), "slower");
	tpa_diff_times_free(&times);
}

/* Two runs a side, on a machine that is 1.4 times slower in one of each: of one op that takes four times as long the interval
 * leaves out 1, though among eight ops that isn't sure; of the others nothing can be said, and more runs would. */
static void test_few_runs(void **state)
{
	const struct kind kinds[2][2] = { { { 1, 1, OPS }, { 1.4, 1, OPS } }, { { 1, 4, OPS }, { 1.4, 4, OPS } } };
	struct tpa_diff_times times;
	const struct tpa_diff_time *first, *other;

	(void)state;
	memset(&times, 0, sizeof(times));
	for (int side = 0; side < 2; side++)
		for (int run = 0; run < 2; run++)
			add(&times, side, &kinds[side][run]);
	tpa_diff_times_test(&times);
	first = tpa_diff_op(&times, "op 1");
	other = tpa_diff_op(&times, "op 2");
	assert_true(first->difference.interval.low > 1 && first->corrected > 0.05);
	assert_string_equal(tpa_diff_time_verdict(first), "different");
	assert_in_range(first->more_runs, 1, 4);
	assert_true(other->difference.interval.low < 0.5 && other->difference.interval.high > 2);
	assert_string_equal(tpa_diff_time_verdict(other), "too few runs");
	/* To tell 5% at a deviation of log(1.4) / sqrt(2) and 10 tests: the normal's (2.81 + 0.84)^2 * 2 * 0.0566 / 0.00238. */
	assert_in_range(other->more_runs, 600, 700);
	tpa_diff_times_free(&times);

	/* As many more as it said at most. */
	memset(&times, 0, sizeof(times));
	for (int side = 0; side < 2; side++)
		for (int run = 0; run < 6; run++)
			add(&times, side, &kinds[side][run % 2]);
	tpa_diff_times_test(&times);
	assert_string_equal(verdict(&times, "op 1"), "slower");
	tpa_diff_times_free(&times);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_among_others),
		cmocka_unit_test(test_without_others),
		cmocka_unit_test(test_few_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
