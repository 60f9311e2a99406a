/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff of runs whose allocations were sampled: how often it finds a difference between runs of one program, and how often
 * one that is there; how often its intervals hold the truth. Each program is run with forty pairs of seeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "commands/verdicts.h"
#include "sampled_runs.h"

#define PAIRS 40
/* Of 40 pairs 2 may differ falsely, give or take 1.4: 6 are three deviations more. */
#define FALSE_MOST 6

/* ---- programs ---- */

/* Two hundred blocks a place, half of them in the sample. */
static void dense(struct sampled *run, double factor)
{
	for (uint32_t place = 0; place < 10; place++)
		for (uint64_t i = 0; i < (place ? 200 : (uint64_t)(200 * factor)); i++)
			take(run, place, 4096 + i * 7919 % 96000);
}

/* One block a place, which is in every other sample. */
static void sparse(struct sampled *run, double factor)
{
	for (uint32_t place = 0; place < PLACES; place++)
		for (uint64_t i = 0; i < (place ? 1 : (uint64_t)factor); i++)
			take(run, place, 45000);
}

/* Some four hits a place. */
static void few(struct sampled *run, double factor)
{
	for (uint32_t place = 0; place < 10; place++)
		for (uint64_t i = 0; i < (place ? 50 : (uint64_t)(50 * factor)); i++)
			take(run, place, 5000);
}

/* Three large blocks a place, which are in three samples of four. */
static void likely(struct sampled *run, double factor)
{
	for (uint32_t place = 0; place < 10; place++)
		for (uint64_t i = 0; i < (place ? 3 : (uint64_t)(3 * factor)); i++)
			take(run, place, 90000);
}

/* A block that is in every sample, and small ones beside it. */
static void mixed(struct sampled *run, double factor)
{
	for (uint32_t place = 0; place < 10; place++) {
		take(run, place, 3000000);
		for (uint64_t i = 0; i < (place ? 100 : (uint64_t)(100 * factor)); i++)
			take(run, place, 3000);
	}
}

/* Each step leaks a block at each of five places, of which some nine are in the sample; and a queue of twenty blocks. */
static void leaky(struct sampled *run, double factor)
{
	uint64_t queue[20] = { 0 };

	for (int step = 0; step < 100; step++) {
		for (uint32_t place = 0; place < 5; place++)
			for (int i = 0; i < (place ? 1 : (int)factor); i++)
				take(run, place, 6000);
		give(run, queue[step % 20]);
		queue[step % 20] = take(run, 5, 20000);
		end_step(run);
	}
}

/* ---- what diff says ---- */

struct tally {
	int false_pairs; /* in so many a row differs that does not in truth */
	int found;	 /* in so many that of place 0 does */
	int held, intervals;
};

/* Sure among all rows. "different" is what the row's interval alone says: `held` counts how often it is right. */
static bool is_different(const json_t *row)
{
	const char *verdict = json_string_value(json_object_get(row, "verdict"));

	return strcmp(verdict, "more") == 0 || strcmp(verdict, "less") == 0;
}

static bool is_changed(const json_t *row)
{
	return strstr(json_string_value(json_object_get(row, "name")), "place0.so") != NULL;
}

/* An end that is null is not known: the truth is on the right side of it. */
static bool holds(const json_t *interval, double truth)
{
	const json_t *low = json_array_get(interval, 0), *high = json_array_get(interval, 1);

	return !(json_number_value(low) > truth * (1 + 1e-9)) &&
	       (!json_is_number(high) || json_number_value(high) >= truth * (1 - 1e-9));
}

static void count_intervals(struct tally *tally, const json_t *row, double ratio, double change)
{
	tally->held += holds(json_object_get(row, "ratio_ci95"), ratio);
	tally->held += json_number_value(json_array_get(json_object_get(row, "change_ci95"), 0)) <= change + 1 &&
		       json_number_value(json_array_get(json_object_get(row, "change_ci95"), 1)) >= change - 1;
	tally->intervals += 2;
}

static void count_rows(struct tally *tally, const json_t *rows, const struct sampled *last, bool differs)
{
	bool wrong = false;
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		bool changed = is_changed(row) && differs;

		tally->found += changed && is_different(row);
		wrong = wrong || (!changed && is_different(row));
		assert_true(json_is_true(json_object_get(row, "estimated")));
		assert_true(json_is_array(json_object_get(row, "new_bytes_ci95")) ||
			    json_is_array(json_object_get(row, "new_rate_ci95")));
		if (json_object_get(row, "new_bytes_ci95"))
			assert_true(json_is_integer(json_array_get(json_object_get(row, "new_bytes_ci95"), 0)));
		if (changed)
			count_intervals(tally, row, last[1].allocated[0] / last[0].allocated[0],
					last[1].allocated[0] - last[0].allocated[0]);
		else
			count_intervals(tally, row, 1, 0);
	}
	tally->false_pairs += wrong;
}

/* `list`: of the answer. */
static struct tally compare_in(const char *list, program *what, double factor, int old_runs, int new_runs)
{
	const int runs[2] = { old_runs, new_runs };
	struct tally tally = { 0, 0, 0, 0 };

	for (uint64_t pair = 0; pair < PAIRS; pair++) {
		struct sampled last[2] = { 0 };
		struct tpa_diff diff;
		json_t *json;

		tpa_diff_init(&diff, TPA_BY_MODULE, NULL);
		for (int side = 0; side < 2; side++)
			for (int run = 0; run < runs[side]; run++) {
				last[side] = sampled_run(what, side ? factor : 1,
							 1000 * pair + 100 * (uint64_t)side + (uint64_t)run);
				add_sampled(&diff, side, &last[side]);
			}
		tpa_diff_test(&diff);
		json = tpa_diff_json(&diff, (struct tpa_diff_choice){ 0, false });
		count_rows(&tally, json_object_get(json, list), last, factor > 1);
		json_decref(json);
		tpa_diff_free(&diff);
	}
	print_message("%d:%d runs, %.1f: %d of %d pairs falsely differ, %d truly; %d of %d intervals hold\n", old_runs,
		      new_runs, factor, tally.false_pairs, PAIRS, tally.found, tally.held, tally.intervals);
	return tally;
}

static struct tally compare(program *what, double factor, int old_runs, int new_runs)
{
	return compare_in("allocated", what, factor, old_runs, new_runs);
}

/* 95 in 100, less three deviations; a row has two intervals, which are of one kind. */
static void check(const struct tally *tally)
{
	assert_in_range(tally->false_pairs, 0, FALSE_MOST);
	assert_true(tally->held >= 0.95 * tally->intervals - 3 * sqrt(2 * 0.0475 * tally->intervals));
}

/* ---- tests ---- */

static void test_equal_runs(void **state)
{
	static program *const programs[] = { dense, sparse, few, likely, mixed };

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct tally tally = compare(programs[i], 1, 1, 1);

		check(&tally);
	}
}

/* What two or three samples agree in is no proof: of one block, all of a side may have it and none of the other. */
static void test_equal_runs_of_several(void **state)
{
	static program *const programs[] = { sparse, few, mixed };

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct tally two = compare(programs[i], 1, 2, 2), one = compare(programs[i], 1, 1, 3);

		check(&two);
		check(&one);
	}
}

/* What is twice as much where samples are dense is found; what four hits tell apart by chance alone is not claimed. */
static void test_a_difference_is_found(void **state)
{
	struct tally tally;

	(void)state;
	tally = compare(dense, 1.5, 1, 1);
	check(&tally);
	assert_in_range(tally.found, PAIRS * 9 / 10, PAIRS);
	tally = compare(dense, 2, 3, 3);
	check(&tally);
	assert_in_range(tally.found, PAIRS * 9 / 10, PAIRS);
	tally = compare(few, 8, 1, 1);
	check(&tally);
	assert_in_range(tally.found, PAIRS * 9 / 10, PAIRS);
}

/* What one run proves to grow, and another has too few hits for, grows by the same rate all the same. */
static void test_leaks_that_some_samples_prove(void **state)
{
	struct tally tally = compare_in("leaks", leaky, 1, 1, 1), several = compare_in("leaks", leaky, 1, 1, 3);

	(void)state;
	assert_in_range(tally.false_pairs, 0, FALSE_MOST);
	assert_in_range(several.false_pairs, 0, FALSE_MOST);
	tally = compare_in("leaks", leaky, 6, 1, 1);
	assert_in_range(tally.false_pairs, 0, FALSE_MOST);
	assert_in_range(tally.found, PAIRS * 9 / 10, PAIRS);
}

/* ---- what check says ---- */

/* In so many pairs of runs a rule is broken. */
static int broken(const char *rule, program *what, double factor)
{
	int breaches = 0;

	for (uint64_t pair = 0; pair < PAIRS; pair++) {
		struct tpa_rules rules = { 0 };
		struct tpa_verdicts verdicts;

		assert_true(tpa_rules_add(&rules, "--", "max-regress", rule));
		tpa_verdicts_init(&verdicts, &rules);
		for (int side = 0; side < 2; side++) {
			struct sampled run = sampled_run(what, side ? factor : 1, 1000 * pair + 100 * (uint64_t)side);
			struct tpa_trace *trace;
			struct tpa_run *replayed = open_sampled(&run, &trace);

			tpa_verdicts_add(&verdicts, side, replayed);
			tpa_run_free(replayed);
			tpa_trace_close(trace);
		}
		tpa_verdicts_judge(&verdicts);
		breaches += verdicts.list[0].verdict == TPA_RULE_BROKEN;
		tpa_verdicts_free(&verdicts);
		tpa_rules_free(&rules);
	}
	print_message("%s: broken in %d of %d pairs, factor %.1f\n", rule, breaches, PAIRS, factor);
	return breaches;
}

/*
 * Growth of five leaks, that a sample proves of one or another; and a peak that is higher by what is allowed, which half of all
 * estimates exceed.
 */
static void test_rules(void **state)
{
	(void)state;
	assert_in_range(broken("growth=5%", leaky, 1), 0, FALSE_MOST);
	assert_in_range(broken("growth=5%", leaky, 20), PAIRS * 9 / 10, PAIRS);
	assert_in_range(broken("peak=30%", dense, 4), 0, FALSE_MOST);
	assert_in_range(broken("peak=5%", dense, 8), PAIRS * 9 / 10, PAIRS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_runs),
		cmocka_unit_test(test_equal_runs_of_several),
		cmocka_unit_test(test_a_difference_is_found),
		cmocka_unit_test(test_leaks_that_some_samples_prove),
		cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
