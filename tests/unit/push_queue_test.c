/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of profiles for a server that is not there: memory is bounded, and each profile is counted once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "commands/push_queue.h"

#define NOWHERE "http://127.0.0.1:9" /* discard: nobody listens */

static void add(struct tpa_push_queue *queue, size_t size)
{
	char *bytes = malloc(size);

	assert_non_null(bytes);
	memset(bytes, 1, size);
	tpa_push_add(queue, "name{}", bytes, size, 1, 2);
}

static void memory_is_bounded(void **state)
{
	struct tpa_push_queue *queue = tpa_push_open(NOWHERE);
	struct tpa_push_counts counts;
	struct rusage usage;

	(void)state;
	for (int i = 0; i < 600; i++) {
		add(queue, 1 << 20);
		assert_true(tpa_push_step(queue));
	}
	getrusage(RUSAGE_SELF, &usage);
	assert_true(usage.ru_maxrss < 150 * 1024);
	counts = tpa_push_close(queue);
	assert_int_equal(counts.pushed, 0);
	assert_int_equal(counts.refused, 0);
	assert_int_equal(counts.dropped, 600);
}

/* One that is larger than all that may wait is kept while it is the only one. */
static void large_ones(void **state)
{
	struct tpa_push_queue *queue = tpa_push_open(NOWHERE);

	(void)state;
	add(queue, 40 << 20);
	assert_true(tpa_push_step(queue));
	add(queue, 1);
	add(queue, 1);
	assert_int_equal(tpa_push_close(queue).dropped, 3);
	queue = tpa_push_open(NOWHERE);
	assert_false(tpa_push_step(queue));
	assert_int_equal(tpa_push_close(queue).dropped, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(memory_is_bounded), cmocka_unit_test(large_ones) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
