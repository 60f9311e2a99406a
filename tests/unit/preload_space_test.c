/* SPDX-License-Identifier: Apache-2.0 */
/* Which memory is the collector's own: what it took, and gave back no part of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/space.h"
#include "core/state.h"

#define PIECE ((size_t)1 << 16)

static struct tprof_header header;
static struct tprof_range list[TPROF_SNAPSHOT_RANGES];

/* How many bytes of [at, at + bytes) are said to be the collector's. */
static size_t own(const char *at, size_t bytes)
{
	uint64_t low = (uintptr_t)at, high = low + bytes;
	size_t count = tpc_space_list(list, TPROF_SNAPSHOT_RANGES), found = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t first = list[i].low > low ? list[i].low : low, end = list[i].high < high ? list[i].high : high;

		assert_true(list[i].low < list[i].high);
		found += first < end ? end - first : 0;
	}
	return found;
}

static void what_was_taken_is_own(void **state)
{
	char *first = tpc_space_take(PIECE), *second = tpc_space_take_dense(3 * PIECE);

	(void)state;
	assert_int_equal(own(first, PIECE), PIECE);
	assert_int_equal(own(second, 3 * PIECE), 3 * PIECE);
	tpc_space_give_back(first, PIECE);
	assert_int_equal(own(first, PIECE), 0);
	assert_int_equal(own(second, 3 * PIECE), 3 * PIECE);
	tpc_space_give_back(second, 3 * PIECE);
	assert_int_equal(own(second, 3 * PIECE), 0);
}

/* As hash tables are that outgrew themselves: others may be reading there. */
static void what_was_retired_stays_own(void **state)
{
	char *space = tpc_space_take_dense(PIECE);

	(void)state;
	tpc_space_retire(space, PIECE, 1);
	assert_int_equal(own(space, PIECE), PIECE);
	tpc_space_give_back(space, PIECE);
}

/* In any order: from the front, from the back, from between. */
static void pieces_are_given_back(void **state)
{
	static const int orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 0, 2 }, { 1, 2, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		char *space = tpc_space_take(3 * PIECE);

		for (size_t k = 0; k < 3; k++) {
			tpc_space_give_back(space + (size_t)orders[i][k] * PIECE, PIECE);
			assert_int_equal(own(space + (size_t)orders[i][k] * PIECE, PIECE), 0);
			assert_int_equal(own(space, 3 * PIECE), (2 - k) * PIECE);
		}
	}
}

/* A process's children's children: each gives back what it inherited, and takes its own. */
static void room_is_used_again(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3 * (size_t)TPROF_SNAPSHOT_RANGES; i++) {
		char *space = tpc_space_take(PIECE);

		assert_int_equal(own(space, PIECE), PIECE);
		tpc_space_give_back(space, PIECE);
	}
}

/* A large page that is made of others has what they had, whether the kernel makes it or not. */
static void what_is_gathered_stays(void **state)
{
	const size_t large = (size_t)2 << 20;
	char *space = tpc_space_at_border(large + PIECE);

	(void)state;
	assert_int_equal((uintptr_t)space % large, 0);
	for (size_t at = 0; at < 2 * large; at += PIECE)
		space[at] = (char)(at / PIECE + 1);
	tpc_space_gather(space);
	for (size_t at = 0; at < 2 * large; at += PIECE)
		assert_int_equal(space[at], (char)(at / PIECE + 1));
	assert_int_equal(space[1], 0);
	assert_int_equal(own(space, 2 * large), 0);
	tpc_space_give_back(space, 2 * large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_taken_is_own),  cmocka_unit_test(what_was_retired_stays_own),
		cmocka_unit_test(pieces_are_given_back),  cmocka_unit_test(room_is_used_again),
		cmocka_unit_test(what_is_gathered_stays),
	};

	tpc_header = &header;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
