/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about times, held against generated runs whose times are known: broken, kept, and not to be told. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/replay/run.h"
#include "commands/verdicts.h"
#include "normal.h"
#include "replayed.h"

#define OP 1

/* What a run is like: calls of an op, each of which ends a step, 20 us each times `slower`. */
struct kind {
	int calls;
	double slower, spread; /* spread: of a call */
	double run;	       /* what all calls of this run are off by */
	int others;	       /* ops beside it, that take 20 us in any run: "other1" and so on */
};

static void add_call(struct gen *gen, uint64_t *now, uint32_t op, const struct kind *kind, double slower)
{
	gen_op_begin(gen, 1, *now, op);
	*now += (uint64_t)(20000 * slower * exp(kind->spread * normal() + kind->run));
	gen_op_end(gen, 1, *now, false);
}

static void add(struct tpa_verdicts *verdicts, int side, const struct kind *kind)
{
	const struct tpa_replay_options options = { .batches = true };
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });
	struct replayed replayed;
	uint64_t now = 1000;

	gen_op(gen, OP, TPROF_OP_ANNOTATION, "test", "work");
	for (int i = 1; i <= kind->others; i++) {
		char name[16];

		snprintf(name, sizeof(name), "other%d", i);
		gen_op(gen, OP + (uint32_t)i, TPROF_OP_ANNOTATION, "test", name);
	}
	for (int i = 0; i < kind->calls; i++) {
		add_call(gen, &now, OP, kind, kind->slower);
		for (int k = 1; k <= kind->others; k++)
			add_call(gen, &now, OP + (uint32_t)k, kind, 1);
		gen_step(gen, 1, now, 1);
		now += 10;
	}
	gen_finish(gen, now, 0);
	replayed = replay(gen, &options);
	tpa_verdicts_add(verdicts, side, replayed.run);
	done(&replayed);
}

static struct tpa_rules rules;

static struct tpa_verdicts judge(const char *what, const struct kind *old_runs, size_t old_count,
				 const struct kind *new_runs, size_t new_count)
{
	struct tpa_verdicts verdicts;

	assert_true(tpa_rules_add(&rules, "", "max-regress", what));
	tpa_verdicts_init(&verdicts, &rules);
	for (size_t i = 0; i < old_count; i++)
		add(&verdicts, 0, &old_runs[i]);
	for (size_t i = 0; i < new_count; i++)
		add(&verdicts, 1, &new_runs[i]);
	tpa_verdicts_judge(&verdicts);
	return verdicts;
}

static void forget(struct tpa_verdicts *verdicts)
{
	tpa_verdicts_free(verdicts);
	tpa_rules_free(&rules);
}

/* The calls differ for sure; whether the program does or the machine, nothing beside them tells: as diff says, "one run". */
static void test_one_run_a_side(void **state)
{
	const struct kind old_run = { 400, 1, 0.1, 0, 0 }, slow = { 400, 1.2, 0.1, 0, 0 };
	struct tpa_verdicts verdicts = judge("op:work=10%,op:work=40%,steps=10%,step=40%", &old_run, 1, &slow, 1);

	(void)state;
	assert_int_equal(verdicts.count, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct tpa_verdict_row *row = &verdicts.list[i];

		assert_int_equal(row->verdict, i % 2 ? TPA_RULE_KEPT : TPA_RULE_UNCHECKED);
		assert_true(row->corrected < 0.001 && row->difference.ratio > 1.15 && row->difference.ratio < 1.25);
	}
	assert_non_null(strstr(verdicts.list[0].message, "more than the baseline's"));
	assert_non_null(strstr(verdicts.list[0].message, "10.0% is allowed, but with one run a side nothing"));
	forget(&verdicts);
	verdicts = judge("op:work=0%,steps=0%", &slow, 1, &old_run, 1);
	assert_int_equal(verdicts.list[0].verdict, TPA_RULE_KEPT);
	assert_int_equal(verdicts.list[1].verdict, TPA_RULE_KEPT);
	forget(&verdicts);
}

/* Among ops that are what they were the one that is not stands out; where all are slower, the machine is. */
static void test_one_run_a_side_among_others(void **state)
{
	const struct kind old_run = { 400, 1, 0.1, 0, 6 }, slow = { 400, 1.4, 0.1, 0, 6 };
	const struct kind slow_machine = { 400, 1, 0.1, 0.2, 6 };
	struct tpa_verdicts verdicts = judge("op:work=10%,op:other3=10%", &old_run, 1, &slow, 1);

	(void)state;
	assert_int_equal(verdicts.list[0].verdict, TPA_RULE_BROKEN);
	assert_int_equal(verdicts.list[1].verdict, TPA_RULE_KEPT);
	forget(&verdicts);
	verdicts = judge("op:work=10%,op:other3=10%", &old_run, 1, &slow_machine, 1);
	assert_true(verdicts.list[0].difference.ratio > 1.15);
	assert_int_equal(verdicts.list[0].verdict, TPA_RULE_KEPT);
	assert_int_equal(verdicts.list[1].verdict, TPA_RULE_KEPT);
	forget(&verdicts);
}

/* Over the limit, and less than the runs differ by: kept. By more: broken. */
static void test_several_runs(void **state)
{
	const struct kind old_runs[] = { { 100, 1, 0.1, -0.05, 0 }, { 100, 1, 0.1, 0, 0 }, { 100, 1, 0.1, 0.05, 0 } };
	const struct kind alike[] = { { 100, 1.03, 0.1, 0.04, 0 },
				      { 100, 1.03, 0.1, -0.05, 0 },
				      { 100, 1.03, 0.1, 0, 0 } };
	const struct kind slow[] = { { 100, 1.5, 0.1, 0.04, 0 }, { 100, 1.5, 0.1, -0.05, 0 }, { 100, 1.5, 0.1, 0, 0 } };
	struct tpa_verdicts verdicts = judge("op:work=1%", old_runs, 3, alike, 3);

	(void)state;
	assert_true(verdicts.list[0].difference.ratio > 1.01);
	assert_true(verdicts.list[0].difference.p > 0.05);
	assert_int_equal(verdicts.list[0].verdict, TPA_RULE_KEPT);
	forget(&verdicts);
	verdicts = judge("op:work=10%", old_runs, 3, slow, 3);
	assert_int_equal(verdicts.list[0].verdict, TPA_RULE_BROKEN);
	forget(&verdicts);
	/* By its calls alone one of the alike differs from one of the old: no breach. */
	verdicts = judge("op:work=1%", &old_runs[0], 1, &alike[0], 1);
	assert_int_equal(verdicts.list[0].verdict, TPA_RULE_UNCHECKED);
	forget(&verdicts);
}

/* What exceeds the limit by too few calls is neither a breach nor kept; what does not exceed it is kept. */
static void test_too_few(void **state)
{
	const struct kind old_run = { 4, 1, 0, 0, 0 }, slow = { 4, 2, 0, 0, 0 };
	struct tpa_verdicts verdicts = judge("op:work=10%", &old_run, 1, &slow, 1);

	(void)state;
	assert_int_equal(verdicts.list[0].verdict, TPA_RULE_UNCHECKED);
	assert_true(isnan(verdicts.list[0].difference.p));
	assert_non_null(strstr(verdicts.list[0].message, "100.0% more"));
	assert_non_null(strstr(verdicts.list[0].message, "too few"));
	forget(&verdicts);
	verdicts = judge("op:work=10%", &slow, 1, &old_run, 1);
	assert_int_equal(verdicts.list[0].verdict, TPA_RULE_KEPT);
	forget(&verdicts);
	verdicts = judge("op:other=10%", &slow, 1, &old_run, 1);
	assert_int_equal(verdicts.list[0].verdict, TPA_RULE_UNCHECKED);
	assert_non_null(strstr(verdicts.list[0].message, "the baseline has no such op"));
	forget(&verdicts);
}

/* Resident memory of which there is no sample is not 0 bytes, on either side; what was allocated is known. */
static void test_rss_that_is_not_known(void **state)
{
	const struct kind run = { 4, 1, 0, 0, 0 };
	struct tpa_verdicts verdicts;

	(void)state;
	assert_true(tpa_rules_add(&rules, "", "max-rss", "1GiB"));
	assert_true(tpa_rules_add(&rules, "", "max-peak", "1GiB"));
	verdicts = judge("rss=5%", &run, 1, &run, 1);
	assert_int_equal(verdicts.list[1].verdict, TPA_RULE_KEPT);
	for (size_t i = 0; i < 3; i += 2) {
		assert_int_equal(verdicts.list[i].verdict, TPA_RULE_UNCHECKED);
		assert_non_null(strstr(verdicts.list[i].message, "no resident memory was sampled"));
	}
	forget(&verdicts);
}

static void add_block(struct tpa_verdicts *verdicts, uint64_t size)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });
	struct replayed replayed;

	allocate(gen, 1, 100, 0x1000, size);
	gen_finish(gen, 200, 0);
	replayed = replay(gen, &(struct tpa_replay_options){ .batches = true });
	tpa_verdicts_add(verdicts, 1, replayed.run);
	done(&replayed);
}

/* A limit holds for each run, in whichever order they come. */
static void test_limit_is_of_the_largest(void **state)
{
	static const uint64_t orders[][3] = { { 900, 100, 500 }, { 100, 900, 500 }, { 500, 100, 900 } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct tpa_verdicts verdicts;

		assert_true(tpa_rules_add(&rules, "", "max-peak", "899"));
		assert_true(tpa_rules_add(&rules, "", "max-unfreed", "900"));
		tpa_verdicts_init(&verdicts, &rules);
		for (size_t k = 0; k < 3; k++)
			add_block(&verdicts, orders[i][k]);
		tpa_verdicts_judge(&verdicts);
		assert_float_equal(verdicts.list[0].most, 900, 0);
		assert_int_equal(verdicts.list[0].verdict, TPA_RULE_BROKEN);
		assert_int_equal(verdicts.list[1].verdict, TPA_RULE_KEPT);
		forget(&verdicts);
	}
}

/* Of a run that was sampled at a mean of 100 bytes, which met so many blocks of 300. */
static void add_sampled(struct tpa_verdicts *verdicts, int side, unsigned blocks)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });
	struct replayed replayed;

	gen_header(gen)->sample_bytes = 100;
	for (unsigned i = 0; i < blocks; i++)
		allocate(gen, 1, 100 + i, 0x1000 * (i + 1), 300);
	gen_finish(gen, 200, 0);
	replayed = replay(gen, &(struct tpa_replay_options){ .batches = true });
	tpa_verdicts_add(verdicts, side, replayed.run);
	done(&replayed);
}

/* One in twenty such blocks no sample meets: one more is no regression, three more are. */
static void test_what_a_sample_passed_by(void **state)
{
	(void)state;
	for (unsigned more = 1; more <= 3; more += 2) {
		struct tpa_verdicts verdicts;

		assert_true(tpa_rules_add(&rules, "", "max-regress", "peak=1%,unfreed=1%,allocations=1%"));
		tpa_verdicts_init(&verdicts, &rules);
		add_sampled(&verdicts, 0, 1);
		add_sampled(&verdicts, 1, 1 + more);
		tpa_verdicts_judge(&verdicts);
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(verdicts.list[i].verdict, more > 1 ? TPA_RULE_BROKEN : TPA_RULE_KEPT);
		forget(&verdicts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_run_a_side),
		cmocka_unit_test(test_one_run_a_side_among_others),
		cmocka_unit_test(test_several_runs),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_rss_that_is_not_known),
		cmocka_unit_test(test_limit_is_of_the_largest),
		cmocka_unit_test(test_what_a_sample_passed_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
