/* SPDX-License-Identifier: Apache-2.0 */
/* The estimate of what recording costs is right whatever order events come in, and no event is timed twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/timed.h"

#define EVENTS 1000000u

/* What an event costs: events of a program that repeats itself every `period`, one of them dear. */
static uint64_t cost(uint64_t event, uint64_t period)
{
	return event % period == 1 ? 900 : 40;
}

static void test_events_in_turns(void **state)
{
	(void)state;
	for (uint64_t period = 2; period <= 130; period++) {
		struct tpc_timed timed = { .seed = 1 };
		uint64_t truth = 0, estimate = 0, count = 0;

		for (uint64_t event = 1; event <= EVENTS; event++) {
			truth += cost(event, period);
			if (!tpc_timed_due(&timed, event) || !tpc_timed_is(&timed, event))
				continue;
			estimate += TPC_TIMED_SHARE * cost(event, period);
			count++;
		}
		assert_in_range(count, EVENTS / TPC_TIMED_SHARE * 99 / 100, EVENTS / TPC_TIMED_SHARE * 101 / 100);
		assert_in_range(estimate, truth / 100 * 90, truth / 100 * 110);
	}
}

/* Another kind of event has every second number, as those of hooked calls: they are not timed, nor the others for them. */
static void test_events_that_are_not_ours(void **state)
{
	struct tpc_timed timed = { .seed = 1 };
	uint64_t count = 0;

	(void)state;
	for (uint64_t event = 2; event <= EVENTS; event += 2)
		count += tpc_timed_due(&timed, event) && tpc_timed_is(&timed, event);
	assert_in_range(count, EVENTS / 2 / TPC_TIMED_SHARE * 95 / 100, EVENTS / 2 / TPC_TIMED_SHARE * 105 / 100);
}

static void test_once(void **state)
{
	struct tpc_timed timed = { .seed = 1 };
	uint64_t last = 0;

	(void)state;
	for (uint64_t event = 1; event <= EVENTS; event++) {
		if (!tpc_timed_is(&timed, event))
			continue;
		assert_false(tpc_timed_due(&timed, event));
		assert_false(tpc_timed_is(&timed, event));
		if (last)
			assert_in_range(event - last, TPC_TIMED_SHARE / 2, TPC_TIMED_SHARE * 3 / 2);
		last = event;
	}
	assert_true(last > EVENTS - 2 * TPC_TIMED_SHARE);
}

/* A step from 100 on: a memory sample whose own counts were read from 150 to 250, then the step's, both within it. */
static void test_left_out_twice(void **state)
{
	uint64_t began = 100;

	(void)state;
	began = tpc_timed_leave_out(began, 150, 250);
	assert_int_equal(began, 200);
	began = tpc_timed_leave_out(began, 100, 300);
	assert_int_equal(began, 300);
	assert_int_equal(tpc_timed_leave_out(began, 310, 305), 300); /* clocks of two processors */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_in_turns),
		cmocka_unit_test(test_events_that_are_not_ours),
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_left_out_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
