/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work that a PyTorch operator does itself, derived from its name and the sizes of its tensors (TPROF_TABLE_SHAPE). FLOP follow
 * from the formulas of model/flop/work.h. Bytes are what the operator reads and writes: each element of each tensor argument and of
 * the result. The result's sizes and type follow from PyTorch's rules of broadcasting and type promotion.
 *
 * As in the BLAS, scaling by a number that may be 1 is left out (alpha of add, value of addcmul). Arithmetic on integers and
 * booleans is 0 FLOP. Exponentials, roots, powers and trigonometric functions have no count.
 */
#ifndef TPROF_MODEL_FLOP_WORK_TORCH_H
#define TPROF_MODEL_FLOP_WORK_TORCH_H

#include "model/flop/work.h"

enum tpa_torch_known {
	TPA_TORCH_KNOWN,      /* the bytes are known; the FLOP too if the amount says so */
	TPA_TORCH_NO_SHAPE,   /* the sizes of its tensors were not recorded */
	TPA_TORCH_NO_FORMULA, /* there is no formula, or the sizes are not enough */
};

struct tpa_torch_work {
	enum tpa_torch_known known;
	struct tpa_work_amount amount;
	bool alone; /* the operator does work that is not done by operators inside it */
	bool asked; /* for the caller: this entry of a table was computed */
	/* enum tprof_work: the kind whose formula is used; 0: none */
	uint32_t kind;
};

/*
 * Computes the work of one call. `name`: such as "aten::add.Tensor", "aten::add_Tensor" (from the function's name) or
 * "aten::add_.Tensor". `tensors`: the `length` bytes that follow the op in its SHAPE record, with padding after them
 * (base/varint.h); NULL: there is no record.
 */
void tpa_torch_work(const char *name, const uint8_t *tensors, size_t length, struct tpa_torch_work *work);

#endif
