/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/presets/onednn_work.h"

static uint64_t product(const struct tpc_onednn_memory *memory, int from, int to)
{
	uint64_t all = 1;

	for (int i = from; i < to && i < memory->count; i++)
		all *= (uint64_t)memory->dims[i];
	return all;
}

static void add(struct tpc_work *work, uint64_t dim)
{
	work->dim[work->dims++] = dim;
}

/* Adds depth, height and width, which follow the first `from` dimensions; missing ones are 1. */
static void add_space(struct tpc_work *work, const int64_t *dims, int count, int from)
{
	for (int i = 0; i < 3; i++) {
		int at = count - 3 + i;

		add(work, at >= from && at < count ? (uint64_t)dims[at] : 1);
	}
}

static bool convolution(struct tpc_work *work, const struct tpc_onednn_memory *src,
			const struct tpc_onednn_memory *weights, const struct tpc_onednn_memory *dst)
{
	bool grouped;

	if (!src || !weights || !dst || src->count < 3 || src->count > 5)
		return false;
	grouped = weights->count == src->count + 1;
	work->kind = TPROF_WORK_CONV;
	add(work, (uint64_t)src->dims[0]);
	add(work, grouped ? (uint64_t)weights->dims[0] : 1);
	add(work, (uint64_t)src->dims[1]);
	add(work, (uint64_t)dst->dims[1]);
	add_space(work, src->dims, src->count, 2);
	add_space(work, dst->dims, dst->count, 2);
	add_space(work, weights->dims, weights->count, 2 + grouped);
	return true;
}

static bool matmul(struct tpc_work *work, const struct tpc_onednn_memory *src, const struct tpc_onednn_memory *dst)
{
	if (!src || !dst || src->count < 2 || dst->count != src->count)
		return false;
	work->kind = TPROF_WORK_MATMUL;
	add(work, product(dst, 0, dst->count - 2));
	add(work, (uint64_t)dst->dims[dst->count - 2]);
	add(work, (uint64_t)dst->dims[dst->count - 1]);
	add(work, (uint64_t)src->dims[src->count - 1]);
	return true;
}

static bool inner_product(struct tpc_work *work, const struct tpc_onednn_memory *src,
			  const struct tpc_onednn_memory *dst)
{
	if (!src || !dst || src->count < 2 || dst->count != 2)
		return false;
	work->kind = TPROF_WORK_MATMUL;
	add(work, 1);
	add(work, (uint64_t)dst->dims[0]);
	add(work, (uint64_t)dst->dims[1]);
	add(work, product(src, 1, src->count));
	return true;
}

static bool pooling(struct tpc_work *work, const void *descriptor, const struct tpc_onednn_memory *src,
		    const struct tpc_onednn_memory *dst)
{
	const int64_t *kernel = tpc_onednn_kernel(descriptor);

	if (!kernel || !src || !dst || src->count < 3 || src->count > 5)
		return false;
	work->kind = TPROF_WORK_POOL;
	add(work, (uint64_t)src->dims[0]);
	add(work, (uint64_t)src->dims[1]);
	add_space(work, src->dims, src->count, 2);
	add_space(work, dst->dims, dst->count, 2);
	add_space(work, kernel, src->count - 2, 0);
	return true;
}

static bool elements(struct tpc_work *work, enum tprof_work kind, const struct tpc_onednn_memory *of, uint64_t second,
		     bool two)
{
	if (!of)
		return false;
	work->kind = (uint16_t)kind;
	add(work, product(of, 0, of->count));
	if (two)
		add(work, second);
	return true;
}

static bool describe(struct tpc_work *work, const void *descriptor, enum tpc_onednn_kind kind,
		     const struct tpc_onednn_memory *src, const struct tpc_onednn_memory *dst)
{
	struct tpc_onednn_memory room;

	switch (kind) {
	case TPC_ONEDNN_CONVOLUTION:
		return convolution(work, src, tpc_onednn_tensor(descriptor, TPC_ONEDNN_WEIGHTS, &room), dst);
	case TPC_ONEDNN_DECONVOLUTION: /* the products of the convolution that it is the gradient of */
		return convolution(work, dst, tpc_onednn_tensor(descriptor, TPC_ONEDNN_WEIGHTS, &room), src);
	case TPC_ONEDNN_MATMUL:
		return matmul(work, src, dst);
	case TPC_ONEDNN_INNER_PRODUCT:
		return inner_product(work, src, dst);
	case TPC_ONEDNN_POOLING:
		return pooling(work, descriptor, src, dst);
	case TPC_ONEDNN_BATCH_NORMALIZATION:
		return elements(work, TPROF_WORK_NORM, src, src ? (uint64_t)src->dims[src->count > 1] : 0, true);
	case TPC_ONEDNN_LAYER_NORMALIZATION:
		return elements(work, TPROF_WORK_NORM, src, src ? (uint64_t)src->dims[src->count - 1] : 0, true);
	case TPC_ONEDNN_SOFTMAX:
		return elements(work, TPROF_WORK_SOFTMAX, dst ? dst : src, 0, false);
	case TPC_ONEDNN_ELTWISE:
		return elements(work, TPROF_WORK_ACTIVATION, src ? src : dst, tpc_onednn_operations(descriptor), true);
	case TPC_ONEDNN_BINARY:
		return elements(work, TPROF_WORK_ELEMENTWISE, dst, 2, true);
	case TPC_ONEDNN_SUM:
		return elements(work, TPROF_WORK_ELEMENTWISE, dst, tpc_onednn_inputs(descriptor), true);
	case TPC_ONEDNN_REORDER:
	case TPC_ONEDNN_CONCAT:
		return elements(work, TPROF_WORK_REORDER, dst, 0, false);
	case TPC_ONEDNN_REDUCTION:
		return elements(work, TPROF_WORK_REDUCE, src, dst ? product(dst, 0, dst->count) : 0, dst != NULL);
	default:
		return false;
	}
}

static bool normalises(enum tpc_onednn_kind kind)
{
	return kind == TPC_ONEDNN_BATCH_NORMALIZATION || kind == TPC_ONEDNN_LAYER_NORMALIZATION;
}

/*
 * Products of small integers are accumulated in larger ones, and results in half precision are often accumulated in
 * single. The channel parameters of a normalization are in single precision, whatever it normalizes.
 */
static void add_types(struct tpc_work *work, const void *descriptor, enum tpc_onednn_kind kind,
		      const struct tpc_onednn_memory *dst)
{
	struct tpc_onednn_memory room;
	const struct tpc_onednn_memory *weights = tpc_onednn_tensor(descriptor, TPC_ONEDNN_WEIGHTS, &room);
	uint8_t second = work->dtype, result = dst ? tpc_onednn_type(dst) : work->dtype;

	if (kind == TPC_ONEDNN_BINARY)
		weights = tpc_onednn_second(descriptor, &room);
	if (normalises(kind))
		second = TPROF_DTYPE_F32;
	else if (weights)
		second = tpc_onednn_type(weights);
	if (second == work->dtype && result == work->dtype)
		return;
	work->flags |= TPROF_WORK_TYPES;
	work->second = second;
	work->result = result;
}

bool tpc_onednn_describe(struct tpc_work *work, const void *descriptor, enum tpc_onednn_kind kind)
{
	struct tpc_onednn_memory room[2];
	const struct tpc_onednn_memory *src = tpc_onednn_tensor(descriptor, TPC_ONEDNN_SRC, &room[0]);
	const struct tpc_onednn_memory *dst = tpc_onednn_tensor(descriptor, TPC_ONEDNN_DST, &room[1]);

	if (src || dst)
		work->dtype = tpc_onednn_type(src ? src : dst);
	if (!describe(work, descriptor, kind, src, dst))
		return false;
	add_types(work, descriptor, kind, dst);
	/* Its input and result are exchanged, so it is unknown which of them has which type. */
	return kind != TPC_ONEDNN_DECONVOLUTION || !(work->flags & TPROF_WORK_TYPES);
}
