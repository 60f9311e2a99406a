/* SPDX-License-Identifier: Apache-2.0 */
/* Ops' warm-up, and what is put down to them: work, blocks, samples. By hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "model/ops/ops.h"
#include "model/stats/warmup.h"
#include "replayed.h"
#include "op_gen.h"

static void test_warmup(void **state)
{
	const uint64_t steady[] = { 10, 11, 10, 12, 10, 11, 12, 10, 11, 10 };
	const uint64_t three[] = { 500, 90, 40, 11, 10, 12, 10, 11, 12, 10, 11, 10 };
	const uint64_t outlier[] = { 500, 10, 11, 10, 12, 900, 10, 11, 12, 10, 11, 10, 10, 11 };
	const uint64_t falling[] = { 90, 80, 70, 60, 50, 40, 30, 20, 10, 5 };
	const uint64_t few[] = { 500, 400, 10, 10, 10 };

	(void)state;
	assert_int_equal(tpa_warmup(steady, 10), 1);
	assert_int_equal(tpa_warmup(three, 12), 3);
	assert_int_equal(tpa_warmup(outlier, 14), 1); /* a late outlier ends nothing and begins nothing */
	assert_int_equal(tpa_warmup(falling, 10), 3); /* Q1 is 10, Q3 30, the fence 60 */
	assert_int_equal(tpa_warmup(few, 5), 1);
	assert_int_equal(tpa_warmup(few, 1), 0);
	assert_int_equal(tpa_warmup(few, 0), 0);
}

/* The warm-up calls are out of the mean; of more calls than are kept one by one the moments are put together. */
static void test_warmup_of_op(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0, .chunk_size = 1 << 16 });
	const struct tpa_op_stats *op;
	struct replayed replayed;
	double mean = 0, squares = 0;
	uint64_t t = 0;

	(void)state;
	gen_op(gen, 1, TPROF_OP_FUNCTION, "", "op");
	for (uint32_t i = 0; i < 200; i++) {
		uint64_t took = i < 3 ? 5000 - 1000 * i : 100 + i % 7;

		gen_op_begin(gen, 1, t += 10, 1);
		gen_op_end(gen, 1, t += took, false);
		mean += i < 3 ? 0 : (double)took / 197;
	}
	for (uint32_t i = 3; i < 200; i++)
		squares += (100 + i % 7 - mean) * (100 + i % 7 - mean);
	replayed = replay(gen, NULL);
	op = op_named(&replayed, "op");
	assert_int_equal(op->calls, 200);
	assert_int_equal(op->warmup_calls, 3);
	assert_int_equal(op->warmup_ns, 12000);
	assert_int_equal(op->durations.count, 197);
	assert_true(fabs(op->mean_ns - mean) < 1e-9);
	assert_true(fabs(tpa_moments_deviation(&op->durations) - sqrt(squares / 196)) < 1e-9);
	assert_int_equal(op->max_ns, 5000);
	done(&replayed);
}

/*
 * A leaf's 100 FLOP are its caller's too, and nothing counts twice: said above its children's sum, the rest is its own;
 * said below, nothing is.
 */
static void test_work(void **state)
{
	struct gen *gen = new_gen(0, 0);
	const struct tpa_op_stats *op;
	struct replayed replayed;
	uint64_t sum = 0;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) { /* 0: nothing is said of the function; 1: 150 of it; 2: 80 */
		uint64_t t = 1000 * i;

		gen_op_begin(gen, 1, t, NOTE);
		gen_op_begin(gen, 1, t + 10, FUNCTION);
		if (i)
			gen_detail(gen, 1, t + 11, i == 1 ? 150 : 80, 0, "");
		for (uint32_t k = 0; k < 2; k++) {
			gen_op_begin(gen, 1, t + 20 + 20 * k, LEAF);
			gen_detail(gen, 1, t + 21 + 20 * k, 50, 7, "1x2");
			gen_op_end(gen, 1, t + 30 + 20 * k, false);
		}
		gen_op_end(gen, 1, t + 90, false);
		gen_op_end(gen, 1, t + 100, false);
	}
	replayed = replay(gen, NULL);
	op = op_named(&replayed, "leaf");
	assert_int_equal(op->flop, 300);
	assert_int_equal(op->self_flop, 300);
	assert_int_equal(op->shapes[0].flop, 300);
	assert_int_equal(op->shapes[0].calls_ns, 60);
	assert_int_equal(op->shapes[0].first_ns, 10);
	op = op_named(&replayed, "function");
	assert_int_equal(op->flop, 100 + 150 + 100);
	assert_int_equal(op->self_flop, 50);
	assert_int_equal(op->bytes, 42);
	assert_int_equal(op->self_bytes, 0);
	op = op_named(&replayed, "note");
	assert_int_equal(op->flop, 350);
	assert_int_equal(op->self_flop, 0);
	for (size_t i = 0; i < replayed.process->op_count; i++)
		sum += replayed.process->ops[i].self_flop;
	assert_int_equal(sum, 350); /* all work there was */
	done(&replayed);
}

/* Freed and temporary blocks of an op: what it gave back, and what lived only until the thread's next event. */
static void test_blocks(void **state)
{
	struct gen *gen = new_gen(0, 0);
	const struct tpa_op_stats *op;
	struct replayed replayed;

	(void)state;
	allocate(gen, 1, 5, 0x9000, 1000);
	gen_op_begin(gen, 1, 10, FUNCTION);
	allocate(gen, 1, 20, 0x1000, 100);
	gen_release(gen, 1, 30, 0x1000, TPROF_FN_FREE); /* temporary */
	allocate(gen, 1, 40, 0x2000, 10);
	gen_release(gen, 1, 50, 0x9000, TPROF_FN_FREE);
	gen_release(gen, 1, 60, 0x2000, TPROF_FN_FREE);
	allocate(gen, 1, 70, 0x3000, 1);
	gen_op_end(gen, 1, 80, false);
	replayed = replay(gen, NULL);
	op = op_named(&replayed, "function");
	assert_int_equal(op->allocated_bytes, 111);
	assert_int_equal(op->freed_bytes, 1110);
	assert_int_equal(op->net_bytes, -999);
	assert_int_equal(op->peak_bytes, 100);
	assert_int_equal(op->self_allocations, 3);
	assert_int_equal(op->self_temporary, 1);
	done(&replayed);
}

/* A CPU sample belongs to the innermost open op of its thread. */
static void test_samples(void **state)
{
	struct gen *gen = new_gen(0, 0);
	struct replayed replayed;
	uint64_t of[4] = { 0 };

	(void)state;
	gen_header(gen)->cpu_period_ns = 100;
	gen_sample(gen, 1, 5, TPROF_NODE_NONE, 1);
	gen_op_begin(gen, 1, 10, FUNCTION);
	gen_sample(gen, 1, 20, TPROF_NODE_NONE, 2);
	gen_sample(gen, 2, 25, TPROF_NODE_NONE, 5); /* another thread's */
	gen_op_begin(gen, 1, 30, LEAF);
	gen_sample(gen, 1, 40, TPROF_NODE_NONE, 4);
	gen_op_end(gen, 1, 50, false);
	gen_sample(gen, 1, 60, TPROF_NODE_NONE, 8);
	gen_op_end(gen, 1, 70, false);
	gen_sample(gen, 1, 80, TPROF_NODE_NONE, 16);
	replayed = replay(gen, NULL);
	for (size_t i = 0; i < replayed.process->cpu_site_count; i++)
		of[replayed.process->cpu_sites[i].op] += replayed.process->cpu_sites[i].cpu.periods;
	assert_int_equal(of[0], 1 + 5 + 16);
	assert_int_equal(of[FUNCTION], 2 + 8);
	assert_int_equal(of[LEAF], 4);
	assert_int_equal(replayed.process->cpu_outside.periods, 22);
	assert_int_equal(replayed.process->cpu_outside.samples, 3);
	done(&replayed);
}

/*
 * Of a function that calls a product in bf16, one in f64, a decomposition that has no count, and says something of its
 * own: each op's own FLOP by type, and who holds work that has no count. Folded calls the same.
 */
static void test_types_of_work(void **state)
{
	static const struct gen_work narrow = { TPROF_WORK_GEMM, TPROF_DTYPE_BF16, 0, { 2, 3, 4 }, 3 };
	static const struct gen_work wide = { TPROF_WORK_GEMM, TPROF_DTYPE_F64, 0, { 5, 6, 7 }, 3 };
	static const struct gen_work svd = { TPROF_WORK_GESVD, TPROF_DTYPE_F64, 0, { 8, 9 }, 2 };
	static const struct gen_work dot = { TPROF_WORK_DOT, TPROF_DTYPE_C32, 0, { 10 }, 1 };
	struct tprof_fold counts = { .ticks = 10, .units = 10, .calls = 1, .min = 10, .max = 10 };
	struct gen *gen = new_gen(0, 0);
	const struct tpa_op_stats *op;
	struct replayed replayed;

	(void)state;
	counts.histogram[tprof_fold_bucket(10)] = 1;
	gen_op_begin(gen, 1, 1000, NOTE);
	gen_detail(gen, 1, 1001, 1000, 0, "");
	gen_op_begin(gen, 1, 1100, LEAF);
	gen_work(gen, 1, 1101, &narrow);
	gen_op_end(gen, 1, 1200, false);
	gen_op_end(gen, 1, 1250, false);
	gen_op_begin(gen, 1, 1300, NOTE);
	gen_op_begin(gen, 1, 1310, LEAF);
	gen_work(gen, 1, 1311, &wide);
	gen_op_end(gen, 1, 1400, false);
	gen_op_begin(gen, 1, 1410, FUNCTION);
	gen_work(gen, 1, 1411, &svd);
	gen_fold(gen, 1, 1420, LEAF, &dot, &counts);
	gen_op_end(gen, 1, 1500, false);
	gen_op_end(gen, 1, 1600, false);
	replayed = replay(gen, NULL);
	op = op_named(&replayed, "leaf");
	assert_int_equal(op->flop_in[TPA_BF16], 2 * 2 * 3 * 4);
	assert_int_equal(op->flop_in[TPA_DOUBLE], 2 * 5 * 6 * 7);
	assert_int_equal(op->flop_in[TPA_SINGLE], 8 * 10);
	assert_int_equal(op->self_flop, 48 + 420 + 80);
	assert_int_equal(op->uncounted, 0);
	op = op_named(&replayed, "function");
	assert_int_equal(op->flop, 80);
	assert_int_equal(op->self_flop, 0);
	assert_int_equal(op->uncounted, 1);
	op = op_named(&replayed, "note");
	assert_int_equal(op->flop_in[TPA_UNSAID], 1000 - 48);
	assert_int_equal(op->flop, 1000 + 420 + 80);
	assert_int_equal(op->uncounted, 1);
	done(&replayed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_warmup),	cmocka_unit_test(test_warmup_of_op),
		cmocka_unit_test(test_work),	cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_samples), cmocka_unit_test(test_types_of_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
