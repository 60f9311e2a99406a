/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations and frees in a chunk are counted whatever form they have, and whatever stands between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

#include "core/emit.h"
#include "core/recorded.h"

static struct tprof_chunk *chunk;
static struct tpc_thread *thread;

static int begin(void **state)
{
	(void)state;
	chunk = calloc(1, TPROF_CHUNK_SIZE);
	thread = calloc(1, sizeof(*thread));
	if (!chunk || !thread)
		return -1;
	chunk->kind = TPROF_CHUNK_EVENTS;
	thread->chunk = chunk;
	thread->at = tpc_chunk_bytes(chunk);
	thread->limit = tpc_chunk_limit(chunk) - TPC_RECORD_MAX;
	thread->busy = TPC_BUSY_RECORD;
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(chunk);
	free(thread);
	return 0;
}

/* All lengths of each number: sizes, addresses, nodes and times of up to `bits`. */
static uint64_t number(unsigned int bits)
{
	return ((uint64_t)rand() << 31 ^ (uint64_t)rand()) & ((UINT64_C(1) << rand() % (int)bits) - 1);
}

static void put_alloc(uint64_t ticks)
{
	uint64_t size = number(40);
	struct tpc_block block = { .address = number(47) | (rand() % 8 ? 0 : 1),
				   .size = size,
				   .node = (uint32_t)number(30),
				   .usable = rand() % 2 ? tprof_usable_guess(size) : size + number(20),
				   .fn = rand() % 2 ? TPROF_FN_MALLOC : TPROF_FN_NEW };

	if (rand() % 8)
		block.address &= ~UINT64_C(7);
	tpc_emit_alloc(thread, ticks, &block);
}

static void put_free(uint64_t ticks)
{
	tpc_emit_free(thread, ticks, rand() % 8 ? number(47) & ~UINT64_C(7) : number(47),
		      rand() % 2 ? TPROF_FN_FREE : TPROF_FN_DELETE);
}

/* What is neither. */
static void put_other(uint64_t ticks)
{
	switch (rand() % 6) {
	case 0:
		tpc_emit_op(thread, ticks, (uint32_t)number(20));
		return;
	case 1:
		tpc_emit_op_end(thread, ticks, rand() % 2);
		return;
	case 2:
		tpc_emit_mark(thread, ticks, "mark");
		return;
	case 3:
		tpc_emit_sample(thread, ticks, (uint32_t)number(30), 1);
		return;
	case 4:
		tpc_emit_step(thread, ticks, number(30));
		return;
	}
	tpc_emit_pool_free(thread, ticks, number(47), false);
}

static void test_any_order(void **state)
{
	uint64_t count = 0, ticks = 0;

	(void)state;
	srand(1);
	while (thread->at < thread->limit - 4 * TPC_RECORD_MAX) {
		int what = rand() % 8;

		ticks += number(34);
		if (what < 3) {
			put_alloc(ticks);
			count++;
		} else if (what < 6) {
			put_free(ticks);
			count++;
		} else if (what == 6) { /* a reallocation that failed */
			put_free(ticks);
			tpc_emit_cancel(thread, ticks);
		} else {
			put_other(ticks);
		}
		assert_int_equal(tpc_recorded_count(chunk), count);
	}
	assert_in_range(count, 1000, 20000);
	chunk->kind = TPROF_CHUNK_TABLES;
	assert_int_equal(tpc_recorded_count(chunk), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_any_order, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
