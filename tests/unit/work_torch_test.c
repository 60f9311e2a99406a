/* SPDX-License-Identifier: Apache-2.0 */
/* What PyTorch's operators do, by their names and the sizes of their tensors: by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <tprof/format.h>

#include "model/flop/work_torch.h"
#include "base/varint.h"

enum { U8, S8, S16, S32, S64, F16, F32, F64, C32 = 9, BOOL = 11, BF16 = 15 };

#define T(type, ...)                                                                                                   \
	TPROF_TENSOR_TYPE + (type), sizeof((uint64_t[]){ 0, ##__VA_ARGS__ }) / sizeof(uint64_t) - 1, ##__VA_ARGS__
#define NONE TPROF_TENSOR_NONE
#define LIST(count) TPROF_TENSOR_LIST, count

static struct tpa_torch_work made(const char *name, const uint64_t *numbers, size_t count)
{
	uint8_t bytes[512 + TPA_PADDING] = { 0 }, *at = bytes;
	struct tpa_torch_work work;

	for (size_t i = 0; i < count; i++) {
		uint64_t left = numbers[i];

		for (; left >= 0x80; left >>= 7)
			*at++ = (uint8_t)(left | 0x80);
		*at++ = (uint8_t)left;
	}
	tpa_torch_work(name, bytes, (size_t)(at - bytes), &work);
	return work;
}
#define MADE(name, ...) made(name, (uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

#define UNCOUNTED UINT64_MAX

static void is(struct tpa_torch_work work, uint64_t flop, uint64_t bytes)
{
	assert_int_equal(work.known, TPA_TORCH_KNOWN);
	assert_true(work.amount.bytes_known);
	assert_int_equal(work.amount.bytes, bytes);
	assert_int_equal(work.amount.flop_known, flop != UNCOUNTED);
	assert_int_equal(work.amount.flop, flop != UNCOUNTED ? flop : 0);
}
#define IS(flop, bytes, name, ...) is(MADE(name, __VA_ARGS__), flop, bytes)
#define UNKNOWN(name, ...) assert_int_equal(MADE(name, __VA_ARGS__).known, TPA_TORCH_NO_FORMULA)

static void elementwise(void **state)
{
	(void)state;
	IS(12, 3 * 48, "aten::add.Tensor", T(F32, 3, 4), T(F32, 3, 4));
	IS(12, 3 * 48, "aten::add_Tensor", T(F32, 3, 4), T(F32, 3, 4));
	IS(12, 3 * 48, "aten::add_.Tensor", T(F32, 3, 4), T(F32, 3, 4));
	IS(12, 3 * 48, "aten::add__Tensor", T(F32, 3, 4), T(F32, 3, 4));
	IS(12, 2 * 48, "aten::add.Scalar", T(F32, 3, 4));
	IS(12, 2 * 48 + 8, "aten::mul.Tensor", T(F32, 3, 4), T(F64)); /* a number's tensor makes no f64 of it */
	IS(12, 48 + 16 + 48, "aten::sub.Tensor", T(F32, 3, 4), T(F32, 4));
	IS(60, 4 * (12 + 5) + 4 * 60, "aten::mul.Tensor", T(F32, 3, 1, 4), T(F32, 5, 1));
	IS(12, 48 + 48 + 48, "aten::maximum.out", T(F32, 3, 4), T(F32, 3, 4), T(F32, 3, 4));
	IS(12, 48 + 96 + 96, "aten::add.Tensor", T(F32, 3, 4), T(F64, 3, 4)); /* f64 prevails */
	IS(12, 24 + 24 + 48, "aten::add.Tensor", T(F16, 3, 4), T(BF16, 3, 4));
	IS(0, 3 * 96, "aten::add.Tensor", T(S64, 3, 4), T(S64, 3, 4)); /* integers */
	IS(12, 96 + 48 + 48, "aten::mul.Tensor", T(S64, 3, 4), T(F32, 3, 4));
	IS(24, 4 * 48, "aten::addcmul", T(F32, 3, 4), T(F32, 3, 4), T(F32, 3, 4));
	IS(24, 4 * 48, "aten::addcdiv_", T(F32, 3, 4), T(F32, 3, 4), T(F32, 3, 4));
	IS(36, 3 * 48, "aten::tanh_backward", T(F32, 3, 4), T(F32, 3, 4));
	IS(12, 3 * 48, "aten::threshold_backward", T(F32, 3, 4), T(F32, 3, 4));
	IS(12, 2 * 48, "aten::relu", T(F32, 3, 4));
	IS(UNCOUNTED, 2 * 48, "aten::exp", T(F32, 3, 4));
	IS(UNCOUNTED, 3 * 48, "aten::gelu_backward", T(F32, 3, 4), T(F32, 3, 4));
	IS(12, 2 * 48 + 12, "aten::lt.Tensor", T(F32, 3, 4), T(F32, 3, 4));
	IS(UNCOUNTED, 3 * 96, "aten::mul.Tensor", T(C32, 3, 4), T(C32, 3, 4));
	IS(1, 12, "aten::add.Tensor", T(F32), T(F32));
	IS(0, 0, "aten::add.Tensor", T(F32, 0, 4), T(F32, 0, 4));
	UNKNOWN("aten::add.Tensor", T(S64, 3), T(F64)); /* the default type, or f64 */
	UNKNOWN("aten::exp", T(S64, 3));
	UNKNOWN("aten::add.Tensor", T(F32, 3), T(F32, 4));
	UNKNOWN("aten::add.Tensor", NONE, NONE);
}

static void moved(void **state)
{
	(void)state;
	IS(0, 48 + 96, "aten::copy_", T(F32, 3, 4), T(F64, 3, 4));
	IS(0, 48, "aten::zero_", T(F32, 3, 4));
	IS(0, 48 + 4, "aten::fill_.Tensor", T(F32, 3, 4), T(F32));
	IS(UNCOUNTED, 48, "aten::bernoulli_.float", T(F32, 3, 4));
	IS(0, 2 * 48, "aten::clone", T(F32, 3, 4));
	IS(0, 12 + 3 * 48, "aten::where.self", T(BOOL, 3, 4), T(F32, 3, 4), T(F32, 3, 4));
	IS(0, 2 * (48 + 16), "aten::cat", LIST(2), T(F32, 3, 4), T(F32, 1, 4));
	IS(0, 7 * 8 + 2 * 7 * 32 * 4, "aten::embedding", T(F32, 50, 32), T(S64, 7));
	IS(0, 8, "aten::_local_scalar_dense", T(F64));
	IS(4, 3 * 16, "aten::_foreach_add_.List", LIST(2), T(F32, 3), T(F32), LIST(2), T(F32, 3), T(F32));
	IS(0, 0, "aten::view", T(F32, 3, 4));
	IS(0, 0, "aten::transpose.int", T(F32, 3, 4));
	IS(0, 0, "aten::transpose_int", T(F32, 3, 4));
	IS(0, 0, "aten::detach_", T(F32, 3, 4));
	UNKNOWN("aten::cat", LIST(2), T(F32, 3, 4), T(F64, 1, 4));
}

static void layers(void **state)
{
	struct tpa_torch_work work;

	(void)state;
	/* 8 of an element; mean and deviation of 5 rows */
	IS(8 * 40, 4 * (40 + 8 + 8 + 40 + 5 + 5), "aten::native_layer_norm", T(F32, 5, 8), T(F32, 8), T(F32, 8));
	IS(6 * 40, 4 * (40 + 40), "aten::native_layer_norm", T(F32, 5, 8), NONE, NONE);
	/* gradient, input, 5 means and deviations, weight, bias; gradients of input, weight and bias */
	IS(9 * 40, 4 * (80 + 10 + 16 + 40 + 16), "aten::native_layer_norm_backward", T(F32, 5, 8), T(F32, 5, 8),
	   T(F32, 5, 1), T(F32, 5, 1), T(F32, 8), T(F32, 8));
	IS(UNCOUNTED, 4 * (2 * 4 * 2 * 9 + 4 * 2), "aten::native_batch_norm", T(F32, 4, 2, 3, 3), T(F32, 2), T(F32, 2),
	   T(F32, 2), T(F32, 2));
	IS(8 * 72, 4 * (2 * 72 + 4), "aten::native_batch_norm", T(F32, 4, 2, 3, 3), T(F32, 2), T(F32, 2), NONE, NONE);
	IS(9 * 72, 4 * (3 * 72 + 2 + 2 + 2 + 4), "aten::native_batch_norm_backward", T(F32, 4, 2, 3, 3),
	   T(F32, 4, 2, 3, 3), T(F32, 2), T(F32, 2), T(F32, 2), T(F32, 2), T(F32, 2));
	IS(UNCOUNTED, 4 * 2 * 40, "aten::_softmax", T(F32, 5, 8));
	IS(UNCOUNTED, 4 * 3 * 40, "aten::_log_softmax_backward_data", T(F32, 5, 8), T(F32, 5, 8));
	IS(39, 4 * 41, "aten::sum", T(F32, 5, 8));
	IS(40, 4 * 41, "aten::mean", T(F32, 5, 8));
	IS(32, 4 * 48, "aten::sum.IntList_out", T(F32, 5, 8), T(F32, 8));
	IS(0, 8 * 40 + 8, "aten::sum", T(S64, 5, 8));
	IS(18, 4 * 18 + 8 * 18 + 4 * 72, "aten::max_pool2d_with_indices_backward", T(F32, 2, 9), T(F32, 8, 9),
	   T(S64, 2, 9));
	IS(2 * 3 * 5 * 7, 4 * (15 + 35 + 21), "aten::mm", T(F32, 3, 5), T(F32, 5, 7));
	IS(2 * 3 * 5 * 7, 4 * (7 + 15 + 35 + 21), "aten::addmm", T(F32, 7), T(F32, 3, 5), T(F32, 5, 7));
	IS(2 * 2 * 3 * 5 * 7, 8 * 2 * (15 + 35 + 21), "aten::bmm", T(F64, 2, 3, 5), T(F64, 2, 5, 7));
	IS(2 * 3 * 5, 4 * (15 + 5 + 3), "aten::mv", T(F32, 3, 5), T(F32, 5));
	IS(2 * 5, 4 * (5 + 5 + 1), "aten::dot", T(F32, 5), T(F32, 5));
	work = MADE("aten::mm", T(F32, 3, 5), T(F32, 5, 7));
	assert_true(tpa_work_is_matrix(work.kind));
	work = MADE("aten::add.Tensor", T(F32, 3, 5), T(F32, 3, 5));
	assert_false(tpa_work_is_matrix(work.kind));
	assert_int_equal(work.amount.precision, TPA_SINGLE);
	UNKNOWN("aten::mm", T(F32, 3, 5), T(F32, 6, 7));
	IS(12, 4 * 36, "aten::add.out", T(F32, 3, 4), T(F32, 3, 4), T(F32, 0)); /* made to fit */
	UNKNOWN("aten::sum.IntList_out", T(F32, 5, 8), T(F32, 0));
	assert_true(MADE("aten::sum.dim_IntList", T(F32, 5, 8)).alone);
	UNKNOWN("aten::sum.dim_IntList", T(F32, 5, 8));
	UNKNOWN("aten::conv2d", T(F32, 1, 1, 8, 8), T(F32, 1, 1, 3, 3));
	UNKNOWN("aten::no_such_operator", T(F32, 3));
	UNKNOWN("torch::autograd::Engine::execute", T(F32, 3));
}

/* Sizes that no tensor has, cut records, types of a later version: nothing is said of them. */
static void damaged(void **state)
{
	static const uint64_t large[] = { UINT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 61 };
	static const uint8_t nothing[TPA_PADDING];
	struct tpa_torch_work work;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		UNKNOWN("aten::add.Tensor", T(F32, large[i]), T(F32, large[i]));
		UNKNOWN("aten::mm", T(F32, 3, large[i]), T(F32, large[i], 3));
		UNKNOWN("aten::mul.Tensor", T(F32, large[i] >> 31, 1), T(F32, 1, UINT64_C(1) << 31));
	}
	/* Each is possible, and their product has more than 2^63 operations: the bytes are known. */
	work = MADE("aten::mm", T(F32, 1u << 29, 1u << 29), T(F32, 1u << 29, 1u << 29));
	assert_true(work.known == TPA_TORCH_KNOWN && !work.amount.flop_known && !work.amount.flop);
	UNKNOWN("aten::add.Tensor", T(99, 3), T(99, 3));
	UNKNOWN("aten::add.Tensor", TPROF_TENSOR_TYPE + F32, 3, 4);
	UNKNOWN("aten::cat", LIST(2), T(F32, 3));
	UNKNOWN("aten::cat", LIST(0));
	UNKNOWN("aten::cat", T(F32, 3));
	UNKNOWN("aten::add.Tensor", T(F32, 3), NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
		NONE, NONE, NONE, NONE);
	tpa_torch_work("aten::add.Tensor", NULL, 0, &work);
	assert_int_equal(work.known, TPA_TORCH_NO_SHAPE);
	tpa_torch_work("aten::view", NULL, 0, &work);
	assert_int_equal(work.known, TPA_TORCH_KNOWN);
	tpa_torch_work("aten::mm", nothing, 0, &work);
	assert_int_equal(work.known, TPA_TORCH_NO_FORMULA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elementwise),
		cmocka_unit_test(moved),
		cmocka_unit_test(layers),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
