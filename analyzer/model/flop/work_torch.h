/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator of PyTorch does itself, by its name and the sizes of its tensors (TPROF_TABLE_SHAPE): FLOP by the formulas
 * of model/flop/work.h, bytes by what it reads and writes: each element of each tensor that it is given, and of its result, whose
 * sizes and type follow from those by PyTorch's rules of broadcasting and type promotion.
 *
 * Left out, as in the BLAS: scaling by a number that may be 1 (alpha of add, value of addcmul). Arithmetic on integers and
 * truth values is no FLOP. What exponentials, roots, powers and trigonometric functions take has no count.
 */
#ifndef TPROF_MODEL_FLOP_WORK_TORCH_H
#define TPROF_MODEL_FLOP_WORK_TORCH_H

#include "model/flop/work.h"

enum tp_torch_known {
	TP_TORCH_KNOWN,	     /* the bytes; the FLOP too if the amount says so */
	TP_TORCH_NO_SHAPE,   /* its tensors' sizes were not recorded */
	TP_TORCH_NO_FORMULA, /* there is none, or the sizes alone don't tell */
};

struct tp_torch_work {
	enum tp_torch_known known;
	struct tp_work_amount amount;
	bool alone;    /* what operators within do is not all of it */
	bool asked;    /* of a table of them: it has been made */
	uint32_t kind; /* enum tprof_work: whose formula it is; 0: none, it moves nothing or copies */
};

/*
 * `name`: "aten::add.Tensor", "aten::add_Tensor" (what its function is called), "aten::add_.Tensor". `tensors`: what stands
 * behind the op in its SHAPE record, with padding behind it (base/varint.h); NULL: there is none.
 */
void tp_torch_work(const char *name, const uint8_t *tensors, size_t length, struct tp_torch_work *work);

#endif
