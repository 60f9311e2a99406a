/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of calls, one process's and all processes' together: by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "model/replay/run.h"
#include "model/result/op_combine.h"
#include "model/ops/ops.h"
#include "replayed.h"
#include "op_gen.h"

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
	assert_int_equal(replayed.process->op_node_count, TPA_OP_NODE_FIRST + 7);
	for (uint32_t i = 0; i < 7; i++) {
		const struct tpa_op_node *node = &replayed.process->op_nodes[TPA_OP_NODE_FIRST + i];

		assert_int_equal(node->op, truth[i].op);
		assert_int_equal(node->parent, truth[i].parent);
		assert_int_equal(node->calls, truth[i].calls);
		assert_int_equal(node->total_ns, truth[i].total);
		assert_int_equal(node->self_ns, truth[i].self);
		assert_int_equal(node->allocated_bytes, truth[i].allocated);
	}
	done(&replayed);
}

/* Two processes: sums, and percentiles of the calls of both, few and many. */
static void test_combined(void **state)
{
	for (uint32_t many = 0; many < 4; many++) { /* bit 0: the first has many calls; bit 1: the second */
		struct tpa_trace *traces[2];
		struct tpa_histogram truth = { 0 };
		struct tpa_op_stats *ops;
		struct tpa_run *run;
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
				tpa_histogram_add(&truth, took);
			}
			name = gen_save(gen);
			traces[p] = tpa_trace_open(name, &error);
			assert_non_null(traces[p]);
			unlink(name);
			gen_free(gen);
		}
		run = tpa_run_replay(traces, 2, NULL);
		assert_non_null(run);
		ops = tpa_ops_combine(run, &count);
		assert_non_null(ops);
		assert_int_equal(count, 1);
		assert_string_equal(ops->name, "shared");
		assert_int_equal(ops->total_ns, total);
		assert_int_equal(ops->calls, truth.count);
		assert_int_equal(ops->flop, 3 * truth.count);
		assert_int_equal(ops->min_ns, truth.min);
		assert_int_equal(ops->max_ns, truth.max);
		assert_int_equal(ops->p50_ns, tpa_histogram_percentile(&truth, 0.5));
		assert_int_equal(ops->p99_ns, tpa_histogram_percentile(&truth, 0.99));
		assert_int_equal(ops->shape_count, 1);
		assert_int_equal(ops->shapes[0].calls, truth.count);
		assert_int_equal(ops->durations.count, truth.count - ops->warmup_calls);
		tpa_ops_result_free(ops, count);
		tpa_histogram_free(&truth);
		tpa_run_free(run);
		for (uint32_t p = 0; p < 2; p++)
			tpa_trace_close(traces[p]);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_combined),
		cmocka_unit_test(test_wide_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
