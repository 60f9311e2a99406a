/* SPDX-License-Identifier: Apache-2.0 */
/* What recording cost taken out of ops' times, warm-up, the tree of calls and the work summed up in it: by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "model/op_combine.h"
#include "model/ops.h"
#include "model/warmup.h"
#include "replayed.h"

enum { NOTE = 1, FUNCTION, LEAF };

static struct gen *new_gen(uint32_t inside, uint32_t outside)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });

	gen_op(gen, NOTE, TPROF_OP_ANNOTATION, "layer", "note");
	gen_op(gen, FUNCTION, TPROF_OP_FUNCTION, "torch", "function");
	gen_op(gen, LEAF, TPROF_OP_FUNCTION, "blas", "leaf");
	gen_header(gen)->op_inside_ticks = inside;
	gen_header(gen)->op_outside_ticks = outside;
	return gen;
}

/*
 * A function of 1000 ns with a leaf of 200 in it; two allocations and a free, one of them in the leaf; an event costs 10,
 * a call 3 inside and 5 outside. The leaf: 200 - 3 - 10 = 187. The function itself: 1000 - 200 - 3 - 5 - 2 * 10 = 772.
 */
static void test_cost_of_hooked(void **state)
{
	struct gen *gen = new_gen(3, 5);
	const struct tp_op_stats *op;
	struct replayed replayed;

	(void)state;
	gen_op_begin(gen, 1, 1000, FUNCTION);
	allocate(gen, 1, 1100, 0x1000, 16);
	gen_op_begin(gen, 1, 1200, LEAF);
	allocate(gen, 1, 1300, 0x2000, 16);
	gen_op_end(gen, 1, 1400, false);
	gen_release(gen, 1, 1500, 0x1000, TPROF_FN_FREE);
	gen_op_end(gen, 1, 2000, false);
	gen_overhead(gen, 1, 10, TP_COST_SAMPLES);
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

/* An annotation's begin is recorded within it, its end behind it: in the op around. Steps and details cost as well. */
static void test_cost_of_annotations(void **state)
{
	struct gen *gen = new_gen(3, 5);
	const struct tp_op_stats *op;
	struct replayed replayed;

	(void)state;
	gen_op_begin(gen, 1, 1000, NOTE);	       /* 10 */
	gen_detail(gen, 1, 1010, 7, 8, "");	       /* 10 */
	gen_op_begin(gen, 1, 1100, NOTE);	       /* 10 of the inner one */
	gen_map(gen, 1, 1110, 0x10000, 4096, 0x22, 0); /* 10 of it */
	gen_op_end(gen, 1, 1200, false);	       /* 10 of the outer one */
	gen_step(gen, 1, 1300, 1);		       /* 10 */
	gen_op_end(gen, 1, 2000, false);
	gen_overhead(gen, 1, 10, TP_COST_SAMPLES);
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

/* Fractions of a nanosecond are not lost over many events, and no time falls below zero. */
static void test_small_and_large_costs(void **state)
{
	struct tp_op_frame frame = { .op = 1 };
	struct tp_op_stack stack = { .frames = &frame, .count = 1 };
	struct gen *gen = new_gen(1, 0);
	const struct tp_op_stats *op;
	struct replayed replayed;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		tp_op_charge(&stack, 0.25);
	assert_int_equal(frame.cost_ns, 250);

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

/* A chunk's cost is the median of its own thread's chunks around it: a single one that was disturbed changes nothing. */
static void test_disturbed_chunk(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });
	struct tp_trace *trace;
	struct tp_cost cost;
	const char *name;
	char *error;

	(void)state;
	gen_op(gen, 1, TPROF_OP_FUNCTION, "", "op");
	for (uint32_t i = 0; i < 9; i++) { /* nine chunks, too full for another page */
		char body[3900] = "";

		gen_long(gen, 1, 1000 * i, 60, body, sizeof(body));
		gen_overhead(gen, 1, i == 4 ? 100000 : i < 3 ? 20 : 50, TP_COST_SAMPLES);
	}
	gen_long(gen, 2, 500, 60, "x", 1);
	gen_overhead(gen, 2, 7, TP_COST_SAMPLES);
	gen_long(gen, 3, 600, 60, "x", 1);
	gen_overhead(gen, 3, 700, TP_COST_SAMPLES - 1); /* too few to be believed */
	name = gen_save(gen);
	trace = tp_trace_open(name, &error);
	assert_non_null(trace);
	unlink(name);
	assert_true(tp_cost_init(&cost, trace));
	for (uint32_t i = 0, table = 1; i < 9; i++) {
		double expected = i < 2 ? 20 : 50;

		assert_true(fabs(tp_cost_event(&cost, cost.first + (i + table) * cost.size + 200) - expected) < 1e-3);
	}
	assert_true(fabs(tp_cost_event(&cost, cost.first + 10 * cost.size) - 7) < 1e-3);
	assert_true(fabs(tp_cost_event(&cost, cost.first + 11 * cost.size) - cost.usual) < 1e-3);
	assert_true(fabs(cost.usual - 50) < 1e-3);
	tp_cost_free(&cost);
	tp_trace_close(trace);
	gen_free(gen);
}

static void test_warmup(void **state)
{
	const uint64_t steady[] = { 10, 11, 10, 12, 10, 11, 12, 10, 11, 10 };
	const uint64_t three[] = { 500, 90, 40, 11, 10, 12, 10, 11, 12, 10, 11, 10 };
	const uint64_t outlier[] = { 500, 10, 11, 10, 12, 900, 10, 11, 12, 10, 11, 10, 10, 11 };
	const uint64_t falling[] = { 90, 80, 70, 60, 50, 40, 30, 20, 10, 5 };
	const uint64_t few[] = { 500, 400, 10, 10, 10 };

	(void)state;
	assert_int_equal(tp_warmup(steady, 10), 1);
	assert_int_equal(tp_warmup(three, 12), 3);
	assert_int_equal(tp_warmup(outlier, 14), 1); /* a late outlier ends nothing and begins nothing */
	assert_int_equal(tp_warmup(falling, 10), 3); /* Q1 is 10, Q3 30, the fence 60 */
	assert_int_equal(tp_warmup(few, 5), 1);
	assert_int_equal(tp_warmup(few, 1), 0);
	assert_int_equal(tp_warmup(few, 0), 0);
}

/* The warm-up calls are out of the mean; of more calls than are kept one by one the moments are put together. */
static void test_warmup_of_op(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0, .chunk_size = 1 << 16 });
	const struct tp_op_stats *op;
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
	assert_true(fabs(tp_moments_deviation(&op->durations) - sqrt(squares / 196)) < 1e-9);
	assert_int_equal(op->max_ns, 5000);
	done(&replayed);
}

/* note > function > leaf, note > leaf, leaf alone, function > function: each chain is a node of its own. */
static void test_tree(void **state)
{
	static const struct {
		uint32_t op, parent;
		uint64_t calls, total, self, allocated;
	} truth[] = {
		{ NOTE, 0, 2, 200, 120, 30 },  { FUNCTION, 2, 2, 60, 40, 30 }, { LEAF, 3, 2, 20, 20, 20 },
		{ LEAF, 2, 2, 20, 20, 0 },     { LEAF, 0, 1, 5, 5, 0 },	       { FUNCTION, 0, 1, 50, 40, 0 },
		{ FUNCTION, 7, 1, 10, 10, 0 },
	};
	struct gen *gen = new_gen(0, 0);
	struct replayed replayed;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t t = 1000 * i;

		gen_op_begin(gen, 1, t, NOTE);
		gen_op_begin(gen, 1, t + 10, FUNCTION);
		allocate(gen, 1, t + 11, 0x1000 + 64 * i, 5);
		gen_op_begin(gen, 1, t + 20, LEAF);
		allocate(gen, 1, t + 25, 0x2000 + 64 * i, 10);
		gen_op_end(gen, 1, t + 30, false);
		gen_op_end(gen, 1, t + 40, false);
		gen_op_begin(gen, 1, t + 50, LEAF);
		gen_op_end(gen, 1, t + 60, false);
		gen_op_end(gen, 1, t + 100, false);
	}
	gen_op_begin(gen, 2, 3000, LEAF);
	gen_op_end(gen, 2, 3005, false);
	gen_op_begin(gen, 2, 4000, FUNCTION);
	gen_op_begin(gen, 2, 4010, FUNCTION);
	gen_op_end(gen, 2, 4020, false);
	gen_op_end(gen, 2, 4050, false);
	replayed = replay(gen, NULL);
	assert_int_equal(replayed.process->op_node_count, TP_OP_NODE_FIRST + 7);
	for (uint32_t i = 0; i < 7; i++) {
		const struct tp_op_node *node = &replayed.process->op_nodes[TP_OP_NODE_FIRST + i];

		assert_int_equal(node->op, truth[i].op);
		assert_int_equal(node->parent, truth[i].parent);
		assert_int_equal(node->calls, truth[i].calls);
		assert_int_equal(node->total_ns, truth[i].total);
		assert_int_equal(node->self_ns, truth[i].self);
		assert_int_equal(node->allocated_bytes, truth[i].allocated);
	}
	done(&replayed);
}

/*
 * A leaf's 100 FLOP are its caller's too, and nothing counts twice: said above its children's sum, the rest is its own;
 * said below, nothing is.
 */
static void test_work(void **state)
{
	struct gen *gen = new_gen(0, 0);
	const struct tp_op_stats *op;
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
	const struct tp_op_stats *op;
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

/* Two processes: sums, and percentiles of the calls of both, few and many. */
static void test_combined(void **state)
{
	for (uint32_t many = 0; many < 4; many++) { /* bit 0: the first has many calls; bit 1: the second */
		struct tp_trace *traces[2];
		struct tp_histogram truth = { 0 };
		const char *failure = NULL;
		struct tp_op_stats *ops;
		struct tp_run *run;
		uint64_t total = 0;
		size_t count;

		(void)state;
		for (uint32_t p = 0; p < 2; p++) {
			struct gen *gen = gen_new(&(struct gen_options){ .chunk_size = 1 << 16, .pid = 10 + p });
			uint32_t calls = many >> p & 1 ? 500 : 20;
			char *error = NULL;
			const char *name;
			uint64_t t = 0;

			gen_op(gen, 1, TPROF_OP_FUNCTION, "", "own");
			gen_op(gen, 2 + p, TPROF_OP_FUNCTION, "blas", "shared");
			for (uint32_t i = 0; i < calls; i++) {
				uint64_t took = 100 + 37 * i % 90;

				gen_op_begin(gen, 1, t += 10, 2 + p);
				gen_detail(gen, 1, t, 3, 0, "2x2");
				gen_op_end(gen, 1, t += took, false);
				total += took;
				tp_histogram_add(&truth, took);
			}
			name = gen_save(gen);
			traces[p] = tp_trace_open(name, &error);
			assert_non_null(traces[p]);
			unlink(name);
			gen_free(gen);
		}
		run = tp_run_replay(traces, 2, NULL, &failure);
		assert_non_null(run);
		ops = tp_ops_combine(run, &count);
		assert_non_null(ops);
		assert_int_equal(count, 1);
		assert_string_equal(ops->name, "shared");
		assert_int_equal(ops->total_ns, total);
		assert_int_equal(ops->calls, truth.count);
		assert_int_equal(ops->flop, 3 * truth.count);
		assert_int_equal(ops->min_ns, truth.min);
		assert_int_equal(ops->max_ns, truth.max);
		assert_int_equal(ops->p50_ns, tp_histogram_percentile(&truth, 0.5));
		assert_int_equal(ops->p99_ns, tp_histogram_percentile(&truth, 0.99));
		assert_int_equal(ops->shape_count, 1);
		assert_int_equal(ops->shapes[0].calls, truth.count);
		assert_int_equal(ops->durations.count, truth.count - ops->warmup_calls);
		tp_ops_result_free(ops, count);
		tp_histogram_free(&truth);
		tp_run_free(run);
		for (uint32_t p = 0; p < 2; p++)
			tp_trace_close(traces[p]);
	}
}

/* More chains than have a place: none is lost. */
static void test_wide_tree(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0, .chunk_size = 1 << 24 });
	const uint32_t ops = 300;
	struct replayed replayed;
	uint64_t t = 0, calls = 0;

	(void)state;
	for (uint32_t i = 1; i <= ops; i++) {
		char name[16];

		snprintf(name, sizeof(name), "op%u", i);
		gen_op(gen, i, TPROF_OP_FUNCTION, "", name);
	}
	for (uint32_t i = 1; i <= ops; i++)
		for (uint32_t k = 1; k <= ops; k++) {
			gen_op_begin(gen, 1, ++t, i);
			gen_op_begin(gen, 1, ++t, k);
			gen_op_end(gen, 1, ++t, false);
			gen_op_end(gen, 1, ++t, false);
		}
	replayed = replay(gen, NULL);
	assert_int_equal(replayed.process->op_node_count, 65536);
	for (size_t i = 1; i < replayed.process->op_node_count; i++)
		calls += replayed.process->op_nodes[i].calls;
	assert_int_equal(calls, 2 * ops * ops);
	assert_true(replayed.process->op_nodes[1].calls > 20000);
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
	const struct tp_op_stats *op;
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
	assert_int_equal(op->flop_in[TP_BF16], 2 * 2 * 3 * 4);
	assert_int_equal(op->flop_in[TP_DOUBLE], 2 * 5 * 6 * 7);
	assert_int_equal(op->flop_in[TP_SINGLE], 8 * 10);
	assert_int_equal(op->self_flop, 48 + 420 + 80);
	assert_int_equal(op->uncounted, 0);
	op = op_named(&replayed, "function");
	assert_int_equal(op->flop, 80);
	assert_int_equal(op->self_flop, 0);
	assert_int_equal(op->uncounted, 1);
	op = op_named(&replayed, "note");
	assert_int_equal(op->flop_in[TP_UNSAID], 1000 - 48);
	assert_int_equal(op->flop, 1000 + 420 + 80);
	assert_int_equal(op->uncounted, 1);
	done(&replayed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cost_of_hooked),
		cmocka_unit_test(test_cost_of_annotations),
		cmocka_unit_test(test_small_and_large_costs),
		cmocka_unit_test(test_disturbed_chunk),
		cmocka_unit_test(test_warmup),
		cmocka_unit_test(test_warmup_of_op),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_work),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_combined),
		cmocka_unit_test(test_wide_tree),
		cmocka_unit_test(test_types_of_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
