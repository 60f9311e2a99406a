/* SPDX-License-Identifier: Apache-2.0 */
/* Pools and pauses: the cases that need care, one by one. tests/workloads/pools.c has the random ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/replay/run.h"
#include "replayed.h"

#define NODE TPROF_NODE_FIRST

static struct gen *begin(uint32_t flags)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });
	uint32_t frame = 1;

	gen_header(gen)->flags |= flags;
	gen_module(gen, 1, 0x10000, 0x10000, 0x20000, "/usr/bin/program");
	gen_frame(gen, frame, 1, 0x100, 0);
	gen_nodes(gen, NODE, TPROF_NODE_ROOT, &frame, 1);
	return gen;
}

static void alloc(struct gen *gen, uint64_t ticks, uint64_t address, uint64_t size, uint8_t fn)
{
	gen_alloc(gen, 1, ticks, &(struct gen_alloc){ .address = address, .size = size, .node = NODE, .fn = fn });
}

static void pool_alloc(struct gen *gen, uint64_t ticks, uint64_t pool, uint64_t address, uint64_t size)
{
	gen_pool_alloc(gen, 1, ticks, pool, &(struct gen_alloc){ .address = address, .size = size, .node = NODE });
}

/* The same address is a block, then a pool, then a block again; only the second time it is left out. */
static void test_one_address(void **state)
{
	struct gen *gen = begin(TPROF_FLAG_POOLS);
	const struct tpa_process *process;
	struct replayed replayed;

	(void)state;
	alloc(gen, 10, 0x1000, 100, TPROF_FN_MALLOC);
	gen_release(gen, 1, 20, 0x1000, TPROF_FN_FREE);
	alloc(gen, 30, 0x1000, 5000, TPROF_FN_MALLOC);
	pool_alloc(gen, 40, 0x1000, 0x1000, 7);
	pool_alloc(gen, 50, 0x1000, 0x1010, 8);
	gen_release(gen, 1, 60, 0x1000, TPROF_FN_FREE);
	alloc(gen, 70, 0x1000, 300, TPROF_FN_MALLOC);
	replayed = replay(gen, NULL);
	process = replayed.process;
	assert_int_equal(process->heap.allocations, 4);
	assert_int_equal(process->heap.bytes, 100 + 15 + 300);
	assert_int_equal(process->heap.frees, 3);
	assert_int_equal(process->heap.peak_bytes, 300);
	assert_int_equal(process->heap.end_bytes, 300);
	assert_int_equal(process->pools.pools, 1);
	assert_int_equal(process->pools.bytes, 5000);
	assert_int_equal(process->pools.end_pools, 0);
	assert_int_equal(process->heap.unmatched_frees, 0);
	done(&replayed);
}

/* An arena that grows by realloc; blocks at a used address, of an unknown address, of an unknown pool. */
static void test_odd_pools(void **state)
{
	struct gen *gen = begin(TPROF_FLAG_POOLS);
	const struct tpa_process *process;
	struct replayed replayed;

	(void)state;
	alloc(gen, 10, 0x1000, 4096, TPROF_FN_MALLOC);
	pool_alloc(gen, 20, 0x1000, 0x1010, 50);
	pool_alloc(gen, 30, 0x1000, 0x1010, 60); /* the first one's end was not told */
	gen_release(gen, 1, 40, 0x1000, TPROF_FN_REALLOC);
	alloc(gen, 50, 0x8000, 9000, TPROF_FN_REALLOC);
	pool_alloc(gen, 60, 0x8000, 0x8000, 70);
	pool_alloc(gen, 70, 0x5555, 0x5555, 80);
	pool_alloc(gen, 80, 0x5555, 0x5566, 81);
	pool_alloc(gen, 85, 0, 0x7000, 1);
	gen_pool_free(gen, 1, 90, 0x5555, true);
	gen_pool_free(gen, 1, 100, 0x9999, false);
	gen_pool_free(gen, 1, 110, 0x9999, true);
	replayed = replay(gen, NULL);
	process = replayed.process;
	assert_int_equal(process->heap.allocations, 6);
	assert_int_equal(process->heap.frees, 4);
	assert_int_equal(process->heap.implied_frees, 1);
	assert_int_equal(process->heap.unmatched_frees, 1);
	assert_int_equal(process->heap.peak_bytes, 70 + 80 + 81 + 1);
	assert_int_equal(process->heap.end_bytes, 71);
	assert_int_equal(process->pools.pools, 2);
	assert_int_equal(process->pools.end_bytes, 9000);
	assert_int_equal(process->pools.peak_bytes, 9000);
	done(&replayed);
}

/* From a time on: what is live before it counts towards the peak, pools never. */
static void test_window(void **state)
{
	struct gen *gen = begin(TPROF_FLAG_POOLS);
	const struct tpa_process *process;
	struct replayed replayed;

	(void)state;
	alloc(gen, 10, 0x1000, 4096, TPROF_FN_MALLOC);
	pool_alloc(gen, 20, 0x1000, 0x1000, 50);
	pool_alloc(gen, 100, 0x1000, 0x1100, 60);
	replayed = replay(gen, &(struct tpa_replay_options){ .from_ns = 60 });
	process = replayed.process;
	assert_int_equal(process->heap.allocations, 1);
	assert_int_equal(process->heap.peak_bytes, 110);
	assert_int_equal(process->heap.end_bytes, 60);
	done(&replayed);
}

/* A reallocation in a pause counts if its old block was known, also through a second one. */
static void test_pause(void **state)
{
	struct gen *gen = begin(TPROF_FLAG_WAITED);
	const struct tpa_process *process;
	struct replayed replayed;

	(void)state;
	gen_plain(gen, 1, 10, TPROF_EVENT_RESUME);
	alloc(gen, 20, 0x1000, 100, TPROF_FN_MALLOC);
	gen_plain(gen, 1, 30, TPROF_EVENT_PAUSE);
	gen_plain(gen, 1, 31, TPROF_EVENT_PAUSE);
	gen_release(gen, 1, 40, 0x1000, TPROF_FN_REALLOC);
	alloc(gen, 50, 0x2000, 200, TPROF_FN_REALLOC);
	gen_release(gen, 1, 60, 0x7000, TPROF_FN_REALLOC);
	alloc(gen, 70, 0x8000, 5000, TPROF_FN_REALLOC);
	gen_release(gen, 1, 80, 0x8000, TPROF_FN_FREE);
	gen_release(gen, 1, 90, 0x2000, TPROF_FN_REALLOC);
	alloc(gen, 91, 0x2000, 300, TPROF_FN_REALLOC);
	gen_plain(gen, 1, 130, TPROF_EVENT_RESUME);
	gen_release(gen, 1, 140, 0x7777, TPROF_FN_REALLOC);
	alloc(gen, 150, 0x7777, 1000, TPROF_FN_REALLOC); /* not in a pause: it begins now */
	gen_plain(gen, 1, 160, TPROF_EVENT_PAUSE);
	gen_finish(gen, 200, 0);
	replayed = replay(gen, NULL);
	process = replayed.process;
	assert_int_equal(process->heap.allocations, 4);
	assert_int_equal(process->heap.frees, 2);
	assert_int_equal(process->heap.unmatched_frees, 1);
	assert_int_equal(process->heap.end_bytes, 1300);
	assert_int_equal(process->heap.peak_bytes, 1300);
	assert_int_equal(process->pauses, 2);
	assert_true(process->off_at_start);
	assert_int_equal(process->paused_ns, 10 + 100 + 40);
	done(&replayed);
}

/* A pool's blocks are those of the op and of the step that took and freed them, as if malloc had made them. */
static void test_in_an_op(void **state)
{
	struct gen *gen = begin(TPROF_FLAG_POOLS);
	const struct tpa_process *process;
	struct replayed replayed;

	(void)state;
	gen_op(gen, 1, TPROF_OP_ANNOTATION, "", "takes");
	alloc(gen, 10, 0x1000, 5000, TPROF_FN_MALLOC);
	gen_op_begin(gen, 1, 20, 1);
	pool_alloc(gen, 30, 0x1000, 0x1010, 100);
	pool_alloc(gen, 40, 0x1000, 0x1100, 30);
	gen_pool_free(gen, 1, 50, 0x1010, false);
	gen_op_end(gen, 1, 60, false);
	gen_step(gen, 1, 70, 0);
	gen_finish(gen, 100, 0);
	replayed = replay(gen, NULL);
	process = replayed.process;
	assert_int_equal(process->op_count, 1);
	assert_int_equal(process->ops[0].allocated_bytes, 130);
	assert_int_equal(process->ops[0].net_bytes, 30);
	assert_int_equal(process->ops[0].peak_bytes, 130);
	assert_int_equal(process->steps.list_count, 1);
	assert_int_equal(process->steps.list[0].high_bytes, 130);
	assert_int_equal(process->steps.list[0].end_bytes, 30);
	done(&replayed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_address), cmocka_unit_test(test_odd_pools), cmocka_unit_test(test_window),
		cmocka_unit_test(test_pause),	    cmocka_unit_test(test_in_an_op),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
