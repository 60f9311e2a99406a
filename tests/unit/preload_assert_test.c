/* SPDX-License-Identifier: Apache-2.0 */
/* Assertions (preload/core/assert.h), as this test is built: at both prices. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/assert.h"

static void fail_cheap(void)
{
	int one = 1;

	tpc_assert(one == 2);
}

static void fail_expensive(void)
{
	int one = 1;

	tpc_assert_whole(one == 3);
}

/* What the child says on stderr, which a signal ends. */
static void said_by(void (*run)(void), char *text, size_t size)
{
	int ends[2], status;
	ssize_t length = 0, got;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		signal(SIGILL, SIG_DFL); /* cmocka's is a failed test */
		signal(SIGTRAP, SIG_DFL);
		dup2(ends[1], STDERR_FILENO);
		run();
		_exit(0);
	}
	close(ends[1]);
	while ((got = read(ends[0], text + length, size - 1 - (size_t)length)) > 0)
		length += got;
	text[length] = 0;
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
}

static void test_a_failure_names_its_place_and_ends_the_process(void **state)
{
	char text[256];

	(void)state;
	said_by(fail_cheap, text, sizeof(text));
	assert_non_null(strstr(text, "tprof: assertion failed: "));
	assert_non_null(strstr(text, "preload_assert_test.c:"));
	assert_non_null(strstr(text, ": one == 2\n"));
	said_by(fail_expensive, text, sizeof(text));
	assert_non_null(strstr(text, ": one == 3\n"));
}

static void test_what_holds_says_nothing(void **state)
{
	int one = 1;

	(void)state;
	tpc_assert(one == 1);
	tpc_assert_whole(one == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_failure_names_its_place_and_ends_the_process),
		cmocka_unit_test(test_what_holds_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
