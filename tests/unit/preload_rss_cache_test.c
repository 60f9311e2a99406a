/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples of memory are left out: of a program that had next to no page faults, and for a while only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sys/mman.h>

#include "core/clock.h"
#include "core/rss_cache.h"
#include "core/sys.h"
#include "core/usage.h"

#define PAGES 20480 /* 80 MiB: ten may come unseen */

static uint64_t later(uint64_t ns)
{
	return 1 + tpc_clock_ticks(ns);
}

static struct tpc_rss_cache still_with(uint64_t before, uint64_t pages)
{
	struct tpc_rss_cache still = { 0 };

	tpc_rss_cache_note(&still, 1, before, 100);
	tpc_rss_cache_note(&still, 1, pages, 100);
	return still;
}

static void nothing_is_known_of_the_first(void **state)
{
	struct tpc_rss_cache still = { 0 };

	(void)state;
	assert_false(tpc_rss_cache_is(&still, later(10), 0));
	tpc_rss_cache_note(&still, 1, PAGES, 100);
	assert_false(tpc_rss_cache_is(&still, later(10), 100)); /* there is none to be like */
	tpc_rss_cache_note(&still, 1, PAGES, 100);
	assert_true(tpc_rss_cache_is(&still, later(10), 100));
}

static void what_moved_is_looked_at_again(void **state)
{
	struct tpc_rss_cache a = still_with(PAGES - 10, PAGES), b = still_with(PAGES - 11, PAGES);
	struct tpc_rss_cache c = still_with(PAGES + 10, PAGES), d = still_with(PAGES + 11, PAGES);

	(void)state;
	assert_true(tpc_rss_cache_is(&a, later(10), 100));
	assert_false(tpc_rss_cache_is(&b, later(10), 100));
	assert_true(tpc_rss_cache_is(&c, later(10), 100));
	assert_false(tpc_rss_cache_is(&d, later(10), 100));
}

static void faults_tell(void **state)
{
	struct tpc_rss_cache large = still_with(PAGES * 100, PAGES * 100), small = still_with(2047, 2047);
	struct tpc_rss_cache still = still_with(PAGES, PAGES);

	(void)state;
	assert_true(tpc_rss_cache_is(&still, later(10), 110));
	assert_false(tpc_rss_cache_is(&still, later(10), 111));
	assert_true(tpc_rss_cache_is(&large, later(10), 100 + TPC_STILL_FAULTS_MOST));
	assert_false(tpc_rss_cache_is(&large, later(10), 100 + TPC_STILL_FAULTS_MOST + 1));
	assert_true(tpc_rss_cache_is(&small, later(10), 100));
	assert_false(tpc_rss_cache_is(&small, later(10), 101));
}

static void for_a_while_only(void **state)
{
	struct tpc_rss_cache still = still_with(PAGES, PAGES);

	(void)state;
	assert_true(tpc_rss_cache_is(&still, later(TPC_STILL_NS / 2), 100));
	assert_false(tpc_rss_cache_is(&still, later(TPC_STILL_NS + 1000000), 100));
}

static void where_the_kernel_does_not_tell(void **state)
{
	struct tpc_rss_cache still = still_with(PAGES, PAGES);

	(void)state;
	assert_false(tpc_rss_cache_is(&still, later(10), UINT64_MAX));
	tpc_rss_cache_note(&still, 1, PAGES, UINT64_MAX);
	assert_false(tpc_rss_cache_is(&still, later(10), UINT64_MAX));
	assert_false(tpc_rss_cache_is(&still, later(10), 100));
}

/* The kernel's own count, of pages that are touched. */
static void faults_are_counted(void **state)
{
	size_t size = 64 * TPC_PAGE;
	char *fresh = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rusage before, after;

	(void)state;
	assert_true(tpc_usage_read(&before));
	assert_ptr_not_equal(fresh, MAP_FAILED);
	madvise(fresh, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += TPC_PAGE)
		*(volatile char *)(fresh + i) = 1;
	assert_true(tpc_usage_read(&after));
	munmap(fresh, size);
	assert_in_range(tpc_usage_faults(&after) - tpc_usage_faults(&before), 1, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_known_of_the_first),
		cmocka_unit_test(what_moved_is_looked_at_again),
		cmocka_unit_test(faults_tell),
		cmocka_unit_test(for_a_while_only),
		cmocka_unit_test(where_the_kernel_does_not_tell),
		cmocka_unit_test(faults_are_counted),
	};

	tpc_clock_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
