/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a slow step: its reasons, and what explains less than a tenth of it left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/text/step_listing.h"

#define MEAN 1000000 /* ns, of a step */
#define LATE 1000000

/* The line of an outlier that took LATE more than the mean, behind its number and its time. */
static const char *said_of(struct tpa_step_outlier outlier)
{
	static char words[1024];
	struct tprof_header header = { .cpu_period_ns = 10000000 };
	struct tpa_trace trace = { .header = &header };
	struct tpa_process process = { .trace = &trace };
	struct tpa_page page = { .width = 200 };
	char *text = NULL, *line;
	size_t size;

	outlier.step = 7;
	outlier.ns = MEAN + LATE;
	process.steps.durations.mean = MEAN;
	process.steps.outliers = &outlier;
	process.steps.outlier_count = 1;
	page.out = open_memstream(&text, &size);
	tpa_steps_print_outliers(&page, &process);
	fclose(page.out);
	line = strstr(text, "2.00 ms  ");
	assert_non_null(line);
	snprintf(words, sizeof(words), "%s", line + strlen("2.00 ms  "));
	words[strcspn(words, "\n")] = '\0';
	free(text);
	return words;
}

/* A fault takes some 500 ns: a tenth of what the step took more is 200 of them. */
static void test_page_faults(void **state)
{
	struct tpa_step_outlier outlier = { .usage_known = true, .own_known = true, .minor_faults = 201 };

	(void)state;
	assert_string_equal(said_of(outlier), "page faults +201");
	outlier.minor_faults = 200;
	assert_string_equal(said_of(outlier), "nothing that was recorded");
	outlier.major_faults = 1;
	assert_string_equal(said_of(outlier), "page faults from disk +1");
	outlier.major_faults = 0;
	/* Of a step that waited half of its time they explain a part of the other half. */
	outlier.waited_ns = LATE / 2;
	outlier.minor_faults = 101;
	assert_string_equal(said_of(outlier), "not running +500 us; page faults +101");
	outlier.minor_faults = 100;
	assert_string_equal(said_of(outlier), "not running +500 us");
	outlier.usage_known = false;
	assert_string_equal(said_of(outlier), "nothing that was recorded");
}

static void test_threads(void **state)
{
	struct tpa_step_outlier outlier = { .usage_known = true, .own_known = true };

	(void)state;
	outlier.others_cpu_ns = LATE / 10;
	assert_string_equal(said_of(outlier), "CPU time of other threads +100 us");
	outlier.others_cpu_ns = LATE / 10 - 1;
	assert_string_equal(said_of(outlier), "nothing that was recorded");
	outlier.waited_ns = LATE;
	outlier.waits = 3;
	outlier.preemptions = 2;
	assert_string_equal(said_of(outlier), "not running +1.00 ms; waits +3; preempted +2 times");
	outlier = (struct tpa_step_outlier){ .usage_known = true, .cpu_ns = LATE };
	assert_string_equal(said_of(outlier), "CPU time of all threads +1.00 ms");
}

static void test_memory(void **state)
{
	const struct tpa_step_outlier more = { .allocations = 5, .allocated_bytes = 2048, .live_bytes = 1024 };
	const struct tpa_step_outlier less = { .allocations = -5, .allocated_bytes = -2048, .live_bytes = -1024 };

	(void)state;
	assert_string_equal(said_of(more), "allocated +2.00 KiB in +5 blocks; live memory +1.00 KiB");
	assert_string_equal(said_of(less), "nothing that was recorded");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page_faults),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
