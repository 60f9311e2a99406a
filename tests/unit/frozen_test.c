/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a fork that stands still: what it lacks comes from its parent, and when it is gone that is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/snapshot.h"

#define PAGE 4096u

static struct tprof_snapshot note;
static uint64_t *plain, *not_copied, *wiped;

static uint64_t *page_of(uint64_t word, int advice)
{
	uint64_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(page, MAP_FAILED);
	*page = word;
	if (advice)
		assert_int_equal(madvise(page, PAGE, advice), 0);
	return page;
}

static pid_t fork_still(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	assert_true(pid > 0);
	return pid;
}

static uint64_t word_at(struct tpa_frozen *frozen, const uint64_t *at)
{
	uint64_t word = 0;

	assert_int_equal(tpa_frozen_read(frozen, (uintptr_t)at, &word, sizeof(word)), sizeof(word));
	return word;
}

static void test_what_a_fork_lacks(void **unused)
{
	struct tpa_frozen frozen;
	char *error = NULL;
	pid_t pid;

	(void)unused;
	plain = page_of(1, 0);
	not_copied = page_of(2, MADV_DONTFORK);
	wiped = page_of(3, MADV_WIPEONFORK);
	pid = fork_still();
	*plain = 4;
	assert_true(tpa_frozen_open(&frozen, pid, getpid(), (uintptr_t)&note, sizeof(note), &error));
	assert_int_equal(word_at(&frozen, plain), 1);
	assert_int_equal(word_at(&frozen, not_copied), 2);
	assert_int_equal(word_at(&frozen, wiped), 3);
	assert_true(tpa_frozen_whole(&frozen, &error));
	tpa_frozen_close(&frozen);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_a_fork_that_ends(void **unused)
{
	struct tpa_frozen frozen;
	char *error = NULL;
	uint64_t word;
	pid_t pid;

	(void)unused;
	pid = fork_still();
	assert_true(tpa_frozen_open(&frozen, pid, getpid(), (uintptr_t)&note, sizeof(note), &error));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_false(tpa_frozen_whole(&frozen, &error)); /* though nothing was read in vain yet */
	assert_non_null(strstr(error, "ended while it was searched"));
	free(error);
	assert_int_equal(tpa_frozen_read(&frozen, (uintptr_t)plain, &word, sizeof(word)), 0);
	assert_int_not_equal(frozen.failed, 0);
	assert_false(tpa_frozen_whole(&frozen, &error));
	free(error);
	tpa_frozen_close(&frozen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_a_fork_lacks),
		cmocka_unit_test(test_a_fork_that_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
