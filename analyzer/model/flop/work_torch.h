/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work that a PyTorch operator does itself, by its name and the sizes of its tensors (TPROF_TABLE_SHAPE). FLOP
 * follow from the formulas of model/flop/work.h; bytes from what the operator reads and writes: each element of each
 * tensor argument, and of its result, whose sizes and type follow from PyTorch's rules of broadcasting and type
 * promotion.
 *
 * Left out, as in the BLAS: scaling by a number that may be 1 (alpha of add, value of addcmul). Arithmetic on integers
 * and truth values is no FLOP. Exponentials, roots, powers and trigonometric functions have no count.
 */
#ifndef TPROF_MODEL_FLOP_WORK_TORCH_H
#define TPROF_MODEL_FLOP_WORK_TORCH_H

#include "model/flop/work.h"

enum tpa_torch_known {
	TPA_TORCH_KNOWN,      /* the bytes are known; the FLOP too if the amount says so */
	TPA_TORCH_NO_SHAPE,   /* its tensors' sizes were not recorded */
	TPA_TORCH_NO_FORMULA, /* there is no formula, or it needs more than the sizes */
};

struct tpa_torch_work {
	enum tpa_torch_known known;
	struct tpa_work_amount amount;
	bool alone; /* operators inside do only a part of the work */
	bool asked; /* in a table: this entry has been computed */
	/* enum tprof_work: the kind whose formula is used; 0: none, it moves nothing or copies */
	uint32_t kind;
};

/*
 * `name`: "aten::add.Tensor", "aten::add_Tensor" (from its function's name), "aten::add_.Tensor". `tensors`: the bytes
 * after the op in its SHAPE record, with padding after them (base/varint.h); NULL: there are none.
 */
void tpa_torch_work(const char *name, const uint8_t *tensors, size_t length, struct tpa_torch_work *work);

#endif
