/* SPDX-License-Identifier: Apache-2.0 */
/* A turn is one thread's at a time, and is not lost with a holder that never ends it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>

#include "core/sys.h"
#include "core/trylock.h"

static tpc_shared_u32 turn;
static pthread_barrier_t met;

static void *take(void *ended)
{
	bool got = tpc_trylock_take(&turn);

	if (got && ended)
		tpc_trylock_end(&turn);
	return (void *)(uintptr_t)got;
}

static bool other_thread_takes(bool ended)
{
	pthread_t thread;
	void *got;

	assert_int_equal(pthread_create(&thread, NULL, take, ended ? &turn : NULL), 0);
	assert_int_equal(pthread_join(thread, &got), 0);
	return got != NULL;
}

static void one_at_a_time(void **state)
{
	(void)state;
	tpc_unshared(turn) = 0;
	assert_true(tpc_trylock_take(&turn));
	assert_false(other_thread_takes(true));
	tpc_trylock_end(&turn);
	assert_true(other_thread_takes(true));
	assert_true(tpc_trylock_take(&turn));
}

static void left_by_a_longjmp(void **state)
{
	static jmp_buf before;

	(void)state;
	tpc_unshared(turn) = 0;
	if (setjmp(before) == 0) {
		assert_true(tpc_trylock_take(&turn));
		longjmp(before, 1);
	}
	assert_false(other_thread_takes(true));
	assert_true(tpc_trylock_take(&turn)); /* the same thread's again */
	tpc_trylock_end(&turn);
	assert_true(other_thread_takes(true));
}

static void left_by_a_dead_thread(void **state)
{
	(void)state;
	tpc_unshared(turn) = 0;
	assert_true(other_thread_takes(false));
	assert_int_not_equal(tpc_load(&turn), 0);
	while (tpc_sys_thread_lives(tpc_sys_getpid(),
				    tpc_load(&turn))) /* joined, and the kernel may still be at its end */
		sched_yield();
	assert_true(tpc_trylock_take(&turn));
}

static uint64_t counted; /* by whoever has the turn; no atomics */

static void *race(void *unused)
{
	uintptr_t turns = 0;

	(void)unused;
	pthread_barrier_wait(&met);
	for (int i = 0; i < 20000; i++) {
		if (!tpc_trylock_take(&turn))
			continue;
		counted++;
		turns++;
		tpc_trylock_end(&turn);
	}
	return (void *)turns;
}

static void nobody_in_between(void **state)
{
	pthread_t threads[4];
	uintptr_t sum = 0;

	(void)state;
	tpc_unshared(turn) = 0;
	pthread_barrier_init(&met, NULL, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, race, NULL), 0);
	for (size_t i = 0; i < 4; i++) {
		void *turns;

		pthread_join(threads[i], &turns);
		sum += (uintptr_t)turns;
	}
	pthread_barrier_destroy(&met);
	assert_true(sum > 0);
	assert_int_equal(counted, sum);
	assert_int_equal(tpc_load(&turn), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_at_a_time),
		cmocka_unit_test(left_by_a_longjmp),
		cmocka_unit_test(left_by_a_dead_thread),
		cmocka_unit_test(nobody_in_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
