/* SPDX-License-Identifier: Apache-2.0 */
/* What one thread stamps after it has seen another's store is not before that one's stamp, by each clock there is. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/clock.h"

enum { TURNS = 20000 };

static uint64_t last;
static uint32_t whose, back;

static void *take_turns(void *argument)
{
	uint32_t me = argument != NULL;

	for (int i = 0; i < TURNS; i++) {
		uint64_t now;

		while (tpc_load_acquire(&whose) != me) /* pairs with the other's store below */
			sched_yield();
		now = tpc_clock_after();
		back += now < last;
		last = tpc_clock_before();
		tpc_store_release(&whose, !me);
	}
	return NULL;
}

static void check_order(void)
{
	static char second;
	pthread_t thread;

	last = 0;
	whose = back = 0;
	assert_int_equal(pthread_create(&thread, NULL, take_turns, &second), 0);
	take_turns(NULL);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(back, 0);
	assert_true(last > 0);
}

static void test_order_by_the_counter(void **state)
{
	(void)state;
	tpc_clock_start();
	if (tpc_clock_kind != TPROF_CLOCK_TSC)
		skip();
	check_order();
}

static void test_order_without_a_counter(void **state)
{
	(void)state;
	tpc_clock_kind = TPROF_CLOCK_MONOTONIC;
	check_order();
}

/* What Linux calls a counter that runs at one rate and never stops is used, rdtscp or not. */
static void test_kind(void **state)
{
	bool constant = false, goes_on = false;
	char line[8192];
	FILE *file = fopen("/proc/cpuinfo", "re");

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		constant |= strstr(line, " constant_tsc") != NULL;
		goes_on |= strstr(line, " nonstop_tsc") != NULL;
	}
	fclose(file);
	tpc_clock_start();
	assert_int_equal(tpc_clock_kind, constant && goes_on ? TPROF_CLOCK_TSC : TPROF_CLOCK_MONOTONIC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kind),
		cmocka_unit_test(test_order_by_the_counter),
		cmocka_unit_test(test_order_without_a_counter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
