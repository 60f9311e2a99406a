/* SPDX-License-Identifier: Apache-2.0 */
/* Work of PyTorch's operators in the tree of calls: once, at whoever did it, and what is not known is counted. By hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "model/ops/ops.h"
#include "replayed.h"

#define F32 (TPROF_TENSOR_TYPE + 6)

enum { OUTER = 1, NORM, ADDMM, SGEMM, PLAIN, ADD, VIEW, SUM, ZERO, MADE, EMBEDDING, SELECT, NUMBERS };

#define SHAPE(gen, op, ...)                                                                                            \
	gen_shape(gen, op, (uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static struct gen *new_gen(void)
{
	static const char *const names[NUMBERS] = {
		[OUTER] = "aten::layer_norm",	 [NORM] = "aten::native_layer_norm",
		[ADDMM] = "aten::addmm",	 [PLAIN] = "aten::add.Tensor",
		[ADD] = "aten::add.Tensor",	 [VIEW] = "aten::view",
		[SUM] = "aten::sum.dim_IntList", [ZERO] = "aten::zero_",
		[MADE] = "aten::of_others",	 [EMBEDDING] = "aten::embedding",
		[SELECT] = "aten::index_select",
	};
	struct gen *gen = gen_new(&(struct gen_options){ .chunk_size = 1 << 16 });

	for (uint32_t i = 1; i < NUMBERS; i++)
		gen_op(gen, i, TPROF_OP_FUNCTION, names[i] ? "torch" : "blas", names[i] ? names[i] : "sgemm");
	SHAPE(gen, OUTER, F32, 2, 5, 8, F32, 1, 8, F32, 1, 8);
	SHAPE(gen, NORM, F32, 2, 5, 8, F32, 1, 8, F32, 1, 8);
	SHAPE(gen, ADDMM, F32, 1, 7, F32, 2, 3, 5, F32, 2, 5, 7);
	SHAPE(gen, ADD, F32, 2, 3, 4, F32, 2, 3, 4);
	SHAPE(gen, SUM, F32, 2, 5, 8);
	SHAPE(gen, ZERO, F32, 1, 8);
	SHAPE(gen, EMBEDDING, F32, 2, 50, 4, TPROF_TENSOR_TYPE + 4, 1, 7);
	SHAPE(gen, SELECT, F32, 2, 50, 4, TPROF_TENSOR_TYPE + 4, 1, 7);
	return gen;
}

static void nested(struct gen *gen, uint64_t ticks, uint32_t outer, uint32_t inner, const struct gen_work *work)
{
	gen_op_begin(gen, 1, ticks, outer);
	gen_op_begin(gen, 1, ticks + 10, inner);
	if (work)
		gen_work(gen, 1, ticks + 10, work);
	gen_op_end(gen, 1, ticks + 20, false);
	gen_op_end(gen, 1, ticks + 30, false);
}

static void is(const struct replayed *replayed, const char *name, uint64_t flop, uint64_t self, uint64_t bytes)
{
	const struct tpa_op_stats *op = op_named(replayed, name);

	assert_int_equal(op->flop, flop);
	assert_int_equal(op->self_flop, self);
	assert_int_equal(op->bytes, bytes);
}

/* What does the work within is not counted again around it. */
static void counted_once(void **state)
{
	const struct gen_work gemm = { TPROF_WORK_GEMM, TPROF_DTYPE_F32, 0, { 7, 3, 5 }, 3 };
	struct gen *gen = new_gen();
	struct replayed replayed;

	(void)state;
	nested(gen, 1000, OUTER, NORM, NULL);
	nested(gen, 2000, ADDMM, SGEMM, &gemm);
	nested(gen, 3000, MADE, ADD, NULL);
	nested(gen, 4000, EMBEDDING, SELECT, NULL);
	replayed = replay(gen, NULL);
	is(&replayed, "aten::layer_norm", 320, 0, 4 * (40 + 16 + 40 + 10));
	is(&replayed, "aten::native_layer_norm", 320, 320, 4 * (40 + 16 + 40 + 10));
	is(&replayed, "aten::addmm", 210, 0, 4 * (7 + 15 + 35 + 21));
	is(&replayed, "sgemm", 210, 210, 4 * (15 + 35 + 21));
	is(&replayed, "aten::of_others", 12, 0, 3 * 48);
	is(&replayed, "aten::embedding", 0, 0, 7 * 8 + 2 * 7 * 16);
	assert_int_equal(op_named(&replayed, "sgemm")->self_matrix_flop, 210);
	assert_int_equal(op_named(&replayed, "aten::addmm")->self_matrix_flop, 0);
	assert_int_equal(replayed.process->op_counts.self_flop, 320 + 210 + 12);
	assert_int_equal(replayed.process->op_counts.matrix_flop, 210);
	/* Of others and of a part of a known whole nothing is missed. */
	assert_int_equal(replayed.process->op_counts.no_formula + replayed.process->op_counts.no_shape, 0);
	done(&replayed);
}

static void what_is_not_known(void **state)
{
	struct tprof_fold counts = { .ticks = 40, .calls = 4, .min = 10, .max = 10 };
	struct gen *gen = new_gen();
	struct replayed replayed;
	const struct tpa_op_counts *all;

	(void)state;
	counts.histogram[tprof_fold_bucket(10)] = 4;
	nested(gen, 1000, SUM, ZERO, NULL); /* what it does itself is not what is within */
	gen_op_begin(gen, 1, 2000, PLAIN);
	gen_op_end(gen, 1, 2010, false);
	gen_op_begin(gen, 1, 3000, PLAIN); /* its sizes come out while it runs, and again */
	gen_op_shape(gen, 1, 3005, ADD);
	gen_op_shape(gen, 1, 3006, ADD);
	gen_op_end(gen, 1, 3010, false);
	gen_op_begin(gen, 1, 4000, VIEW);
	gen_op_end(gen, 1, 4010, false);
	gen_fold(gen, 1, 5000, ADD, NULL, &counts);
	gen_fold(gen, 1, 6000, SELECT, NULL, &counts);
	replayed = replay(gen, NULL);
	all = &replayed.process->op_counts;
	is(&replayed, "aten::sum.dim_IntList", 0, 0, 32);
	is(&replayed, "aten::add.Tensor", 5 * 12, 5 * 12, 5 * 3 * 48);
	is(&replayed, "aten::view", 0, 0, 0);
	assert_int_equal(all->known, 1 + 1 + 1 + 4); /* zero_, add, view, the folded ones */
	assert_int_equal(all->no_shape, 1);
	assert_int_equal(all->no_formula, 1 + 4);
	assert_int_equal(op_named(&replayed, "aten::add.Tensor")->no_shape, 1);
	assert_int_equal(op_named(&replayed, "aten::sum.dim_IntList")->no_formula, 1);
	assert_int_equal(op_named(&replayed, "aten::index_select")->no_formula, 4);
	assert_int_equal(op_named(&replayed, "aten::zero_")->no_formula, 0);
	assert_int_equal(op_named(&replayed, "aten::view")->known, 1);
	assert_int_equal(op_named(&replayed, "aten::add.Tensor")->known, 5);
	done(&replayed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counted_once),
		cmocka_unit_test(what_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
