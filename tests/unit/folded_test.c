/* SPDX-License-Identifier: Apache-2.0 */
/* What was added to a FOLD record between two readings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/folded.h"

static void add(struct tpa_folded *folded, uint32_t ticks)
{
	struct tprof_fold *counts = &folded->counts;

	if (!counts->calls || ticks < counts->min)
		counts->min = ticks;
	if (ticks > counts->max)
		counts->max = ticks;
	counts->calls++;
	counts->ticks += ticks;
	counts->units += 10;
	counts->histogram[tprof_fold_bucket(ticks)]++;
	folded->timed++;
}

static void test_sums(void **state)
{
	struct tpa_folded before = { 0 }, now, added;

	(void)state;
	add(&before, 100);
	add(&before, 200);
	now = before;
	add(&now, 130);
	add(&now, 300);
	assert_true(tpa_folded_added(&before, &now, &added));
	assert_int_equal(added.counts.calls, 2);
	assert_int_equal(added.timed, 2);
	assert_int_equal(added.counts.ticks, 430);
	assert_int_equal(added.counts.units, 20);
	assert_int_equal(added.counts.histogram[tprof_fold_bucket(130)], 1);
	assert_int_equal(added.counts.histogram[tprof_fold_bucket(300)], 1);
	assert_int_equal(added.counts.max, 300);				    /* a new extreme */
	assert_int_equal(added.counts.min, tprof_fold_low(tprof_fold_bucket(130))); /* no shorter than its bucket */
	assert_false(tpa_folded_added(&now, &now, &added));
}

static void test_extremes_lie_in_their_buckets(void **state)
{
	struct tpa_folded before = { 0 }, now, added;

	(void)state;
	add(&before, 50);
	add(&before, 5000);
	now = before;
	add(&now, 1000);
	assert_true(tpa_folded_added(&before, &now, &added));
	assert_int_equal(tprof_fold_bucket(added.counts.min), tprof_fold_bucket(1000));
	assert_int_equal(tprof_fold_bucket(added.counts.max), tprof_fold_bucket(1000));
	assert_true(added.counts.min <= 1000 && added.counts.max >= 1000);
}

/* Calls that are not timed. */
static void test_shares(void **state)
{
	struct tpa_folded before = { .counts = { .min = UINT32_MAX, .calls = 100, .flags = TPROF_FOLD_SHARE } }, now,
			  added;

	(void)state;
	before.lasted_calls = 50;
	before.lasted = 5000;
	now = before;
	now.counts.calls += 300;
	assert_true(tpa_folded_added(&before, &now, &added));
	assert_int_equal(added.counts.calls, 300);
	assert_int_equal(added.timed, 0);
	assert_int_equal(added.lasted_calls, 0);
	add(&now, 80);
	now.lasted_calls += 200;
	now.lasted += 16000;
	assert_true(tpa_folded_added(&before, &now, &added));
	assert_int_equal(added.counts.calls, 301);
	assert_int_equal(added.timed, 1);
	assert_int_equal(added.lasted_calls, 200);
	assert_int_equal(added.lasted, 16000);
}

/* The bytes of the file are another record's by now, or damaged. */
static void test_less_than_before(void **state)
{
	struct tpa_folded before = { 0 }, now = { 0 }, added;

	(void)state;
	add(&before, 100);
	add(&now, 90);
	add(&now, 90);
	assert_false(tpa_folded_added(&before, &now, &added));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_extremes_lie_in_their_buckets),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_less_than_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
