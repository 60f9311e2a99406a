/* SPDX-License-Identifier: Apache-2.0 */
/* What recording cost taken out of ops' times: by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "model/ops/ops.h"
#include "trace/chunks.h"
#include "replayed.h"
#include "op_gen.h"

/*
 * A function of 1000 ns with a leaf of 200 in it; two allocations and a free, one of them in the leaf; an event costs 10,
 * a call 3 inside and 5 outside. The leaf: 200 - 3 - 10 = 187. The function itself: 1000 - 200 - 3 - 5 - 2 * 10 = 772.
 */
static void test_cost_of_hooked(void **state)
{
	struct gen *gen = new_gen(3, 5);
	const struct tpa_op_stats *op;
	struct replayed replayed;

	(void)state;
	gen_op_begin(gen, 1, 1000, FUNCTION);
	allocate(gen, 1, 1100, 0x1000, 16);
	gen_op_begin(gen, 1, 1200, LEAF);
	allocate(gen, 1, 1300, 0x2000, 16);
	gen_op_end(gen, 1, 1400, false);
	gen_release(gen, 1, 1500, 0x1000, TPROF_FN_FREE);
	gen_op_end(gen, 1, 2000, false);
	gen_overhead(gen, 1, 10, TPA_COST_SAMPLES);
	replayed = replay(gen, NULL);
	op = op_named(&replayed, "leaf");
	assert_int_equal(op->total_ns, 187);
	assert_int_equal(op->self_ns, 187);
	assert_int_equal(op->total_cost_ns, 13);
	op = op_named(&replayed, "function");
	assert_int_equal(op->self_ns, 772);
	assert_int_equal(op->total_ns, 772 + 187);
	assert_int_equal(op->self_cost_ns, 28);
	assert_int_equal(op->total_cost_ns, 41);
	assert_int_equal(op->max_ns, 959);
	done(&replayed);
}

/*
 * 30 timed events of 100 ticks, and 10 frees of 20: 80 on average. An op with three allocations costs 300, one with three
 * frees 60. In a second pass one of the frees was interrupted, and the others say so.
 */
static void test_cost_of_frees(void **state)
{
	static const uint32_t interrupted[] = { 100, 20, 100, 20, 100, 20, 100, 80020, 100, 20 };

	(void)state;
	for (int pass = 0; pass < 2; pass++) {
		struct gen *gen = new_gen(0, 0);
		const struct tpa_op_stats *op;
		struct replayed replayed;

		gen_op_begin(gen, 1, 10000, FUNCTION);
		for (uint32_t i = 0; i < 3; i++)
			allocate(gen, 1, 10100 + i, 0x1000 + 0x100 * i, 16);
		gen_op_end(gen, 1, 11000, false);
		gen_op_begin(gen, 1, 20000, LEAF);
		for (uint32_t i = 0; i < 3; i++)
			gen_release(gen, 1, 20100 + i, 0x1000 + 0x100 * i, TPROF_FN_FREE);
		gen_op_end(gen, 1, 21000, false);
		gen_overhead(gen, 1, pass ? 2080 : 80, 40);
		gen_free_overhead(gen, 1, pass ? 8020 : 20, 10, 0x2aa);
		if (pass)
			gen_timed(gen, 1, interrupted, 10);
		replayed = replay(gen, NULL);
		op = op_named(&replayed, "function");
		/* Of the nine that are left more are frees than of all 40. */
		assert_in_range(op->self_cost_ns, pass ? 240 : 300, 300);
		assert_in_range(op_named(&replayed, "leaf")->self_cost_ns, pass ? 48 : 60, 60);
		done(&replayed);
	}
}

/* An annotation's begin is recorded within it, its end behind it: in the op around. Steps and details cost as well. */
static void test_cost_of_annotations(void **state)
{
	struct gen *gen = new_gen(3, 5);
	const struct tpa_op_stats *op;
	struct replayed replayed;

	(void)state;
	gen_op_begin(gen, 1, 1000, NOTE);	       /* 10 */
	gen_detail(gen, 1, 1010, 7, 8, "");	       /* 10 */
	gen_op_begin(gen, 1, 1100, NOTE);	       /* 10 of the inner one */
	gen_map(gen, 1, 1110, 0x10000, 4096, 0x22, 0); /* 10 of it */
	gen_op_end(gen, 1, 1200, false);	       /* 10 of the outer one */
	gen_step(gen, 1, 1300, 1);		       /* 10 */
	gen_op_end(gen, 1, 2000, false);
	gen_overhead(gen, 1, 10, TPA_COST_SAMPLES);
	replayed = replay(gen, NULL);
	op = op_named(&replayed, "note");
	assert_int_equal(op->calls, 2);
	assert_int_equal(op->self_ns, 1000 - 60);
	assert_int_equal(op->total_ns, 1000 - 60);
	assert_int_equal(op->min_ns, 100 - 20);
	assert_int_equal(op->max_ns, 1000 - 60);
	assert_int_equal(op->total_cost_ns, 60);
	done(&replayed);
}

/*
 * 100 folded calls of 200 each, within a function of 50,000: one costs 3 inside and 5 outside. The leaf: 20,000 - 300. The
 * function: 50,000 - 20,000 - 500.
 */
static void test_cost_of_folded(void **state)
{
	struct tprof_fold counts = { .ticks = 20000, .calls = 100, .min = 200, .max = 200 };
	struct gen *gen = new_gen(0, 0);
	const struct tpa_op_stats *op;
	struct replayed replayed;

	(void)state;
	counts.histogram[tprof_fold_bucket(200)] = 100;
	gen_header(gen)->fold_inside_ticks = 3;
	gen_header(gen)->fold_outside_ticks = 5;
	gen_op_begin(gen, 1, 1000, FUNCTION);
	gen_fold(gen, 1, 1100, LEAF, NULL, &counts);
	gen_op_end(gen, 1, 51000, false);
	replayed = replay(gen, NULL);
	op = op_named(&replayed, "leaf");
	assert_int_equal(op->total_ns, 19700);
	assert_int_equal(op->total_cost_ns, 300);
	op = op_named(&replayed, "function");
	assert_int_equal(op->self_ns, 29500);
	assert_int_equal(op->self_cost_ns, 500);
	assert_int_equal(op->total_ns, 29500 + 19700);
	assert_int_equal(op->total_cost_ns, 800);
	done(&replayed);
}

/* Fractions of a nanosecond are not lost over many events, and no time falls below zero. */
static void test_small_and_large_costs(void **state)
{
	struct tpa_op_frame frame = { .op = 1 };
	struct tpa_op_stack stack = { .frames = &frame, .count = 1 };
	struct gen *gen = new_gen(1, 0);
	const struct tpa_op_stats *op;
	struct replayed replayed;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		tpa_op_charge(&stack, 0.25);
	assert_int_equal(frame.cost_ticks, 250);

	gen_op_begin(gen, 1, 100, FUNCTION);
	for (uint32_t i = 0; i < 20; i++)
		allocate(gen, 1, 110 + i, 0x1000 + 16 * i, 8);
	gen_op_end(gen, 1, 200, false);
	gen_overhead(gen, 1, 10, 16);
	replayed = replay(gen, NULL);
	op = op_named(&replayed, "function");
	assert_int_equal(op->total_ns, 0);
	assert_int_equal(op->self_ns, 0);
	assert_int_equal(op->total_cost_ns, 100);
	done(&replayed);
}

/* The caller closes it. */
static struct tpa_trace *open_saved(struct gen *gen)
{
	const char *name = gen_save(gen);
	char *error;
	struct tpa_trace *trace = tpa_trace_open(name, &error);

	assert_non_null(trace);
	unlink(name);
	return trace;
}

/* A chunk's cost is the median of its own and of its thread's last ones: a single one that was disturbed changes nothing. */
static void test_disturbed_chunk(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });
	struct tpa_trace *trace;
	struct tpa_cost cost;

	(void)state;
	gen_op(gen, 1, TPROF_OP_FUNCTION, "", "op");
	for (uint32_t i = 0; i < 9; i++) { /* nine chunks, too full for another page */
		char body[3900] = "";

		gen_long(gen, 1, 1000 * i, 60, body, sizeof(body));
		gen_overhead(gen, 1, i == 4 ? 100000 : i < 3 ? 20 : 50, TPA_COST_SAMPLES);
	}
	gen_long(gen, 2, 500, 60, "x", 1);
	gen_overhead(gen, 2, 7, TPA_COST_SAMPLES);
	gen_long(gen, 3, 600, 60, "x", 1);
	gen_overhead(gen, 3, 700, TPA_COST_SAMPLES - 1); /* too few to be believed */
	trace = open_saved(gen);
	tpa_cost_init(&cost, trace);
	for (uint32_t i = 0, table = 1; i < 9; i++) {
		double expected = i < 4 ? 20 : 50;

		assert_true(fabs(tpa_cost_event(&cost, cost.first + (i + table) * cost.size + 200, false) - expected) <
			    1e-3);
	}
	assert_true(fabs(tpa_cost_event(&cost, cost.first + 10 * cost.size, false) - 7) < 1e-3);
	assert_true(tpa_cost_event(&cost, cost.first + 11 * cost.size, false) == 0);
	tpa_cost_free(&cost);
	tpa_trace_close(trace);
	gen_free(gen);
}

/*
 * Of a run with one chunk: 20 events of which one was interrupted for 22,000 ticks make 1,120 on average; what is there of
 * single ones says 20. Where half of the events find a new stack, and take ten times as long, nothing was interrupted.
 */
static void test_interrupted_event(void **state)
{
	static const uint32_t interrupted[] = { 20, 21, 19, 20, 22000, 18, 22, 20, 20, 20 };
	static const uint32_t uneven[] = { 20, 200, 20, 200, 20, 200, 20, 200, 20, 200 };

	(void)state;
	for (int pass = 0; pass < 3; pass++) {
		struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });
		const uint64_t mean = pass < 2 ? 1120 : 110, expected = pass == 0 ? 1120 : pass == 1 ? 20 : 110;
		struct tpa_trace *trace;
		struct tpa_cost cost;

		gen_op(gen, 1, TPROF_OP_FUNCTION, "", "op");
		gen_long(gen, 1, 1000, 60, "x", 1);
		gen_overhead(gen, 1, mean, 20);
		if (pass) /* the first is of a trace that does not have them */
			gen_timed(gen, 1, pass == 1 ? interrupted : uneven, 10);
		trace = open_saved(gen);
		tpa_cost_init(&cost, trace);
		assert_true(fabs(tpa_cost_event(&cost, cost.first + cost.size, false) - (double)expected) < 1e-3);
		tpa_cost_free(&cost);
		tpa_trace_close(trace);
		gen_free(gen);
	}
}

/* What the report says of the whole: of 7 timed events in a second thread's chunk one was interrupted for 10 million ticks. */
static void test_interrupted_in_all(void **state)
{
	static const uint32_t quiet[] = { 20, 21, 19, 20, 20, 18, 22, 20, 20, 20 };
	static const uint32_t interrupted[] = { 20, 20, 10000000, 20, 20, 20, 20 };
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });
	struct tpa_trace *trace;
	uint64_t ticks;

	(void)state;
	gen_long(gen, 1, 1000, 60, "x", 1);
	gen_overhead(gen, 1, 20, 10);
	gen_timed(gen, 1, quiet, 10);
	gen_long(gen, 2, 1000, 60, "x", 1);
	gen_overhead(gen, 2, 10000120 / 7, 7);
	gen_timed(gen, 2, interrupted, 7);
	trace = open_saved(gen);
	ticks = tpa_cost_recording(trace);
	assert_in_range(ticks, 64 * 17 * 20 - 64, 64 * 17 * 20 + 64);
	tpa_trace_close(trace);
	gen_free(gen);
}

/* What a damaged header says need not be possible. */
static void test_beyond_all_bounds(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });
	struct tpa_trace *trace;
	uint64_t ticks;

	(void)state;
	gen_long(gen, 1, 1000, 60, "x", 1);
	gen_overhead(gen, 1, UINT64_MAX / 64, 1);
	trace = open_saved(gen);
	ticks = tpa_cost_recording(trace);
	assert_true(ticks == UINT64_MAX);
	tpa_trace_close(trace);
	gen_free(gen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cost_of_hooked),	      cmocka_unit_test(test_cost_of_annotations),
		cmocka_unit_test(test_small_and_large_costs), cmocka_unit_test(test_disturbed_chunk),
		cmocka_unit_test(test_interrupted_event),     cmocka_unit_test(test_interrupted_in_all),
		cmocka_unit_test(test_beyond_all_bounds),     cmocka_unit_test(test_cost_of_frees),
		cmocka_unit_test(test_cost_of_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
