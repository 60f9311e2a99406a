/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of model/flop/work_torch.h share: a table with a row for each operator (work_torch_table.c), and its rules. */
#ifndef TPROF_MODEL_FLOP_WORK_TORCH_IMPL_H
#define TPROF_MODEL_FLOP_WORK_TORCH_IMPL_H

#include "model/flop/work_impl.h"
#include "model/flop/work_torch.h"
#include "trace/shapes.h"

/* How the work of an operator follows from the sizes and types of its tensors. n: elements of the result. */
enum tp_torch_rule {
	/* Makes a view, or memory without contents: nothing is moved, whatever the sizes */
	TP_TORCH_NOTHING,
	TP_TORCH_UNSIZED, /* does work itself that the sizes don't determine */
	TP_TORCH_EACH,	  /* broadcasts its operands: `each` FLOP for each element of the result */
	TP_TORCH_REAL,	  /* the same, but integers become real numbers */
	TP_TORCH_TEST,	  /* the same; the result is truth values */
	TP_TORCH_LIKE,	  /* the result is like the first operand, whatever the others */
	TP_TORCH_COPY,	  /* the first is overwritten by the second */
	TP_TORCH_FILL,	  /* the first is overwritten */
	TP_TORCH_READ,	  /* all are read, and the result is not a tensor */
	TP_TORCH_CHOOSE,  /* the first operand, of truth values, selects from the others */
	TP_TORCH_JOIN,	  /* a list becomes one tensor */
	TP_TORCH_LISTS,	  /* lists of tensors, element by element; the first is overwritten in place */
	TP_TORCH_SUM,	  /* of all elements: n - 1 additions */
	TP_TORCH_MEAN,	  /* the same, and a division */
	TP_TORCH_SOFTMAX,
	TP_TORCH_SOFTMAX_BACKWARD,    /* gradient, result */
	TP_TORCH_LAYER_NORM,	      /* input, weight, bias */
	TP_TORCH_LAYER_NORM_BACKWARD, /* gradient, input, mean, deviation, weight, bias */
	TP_TORCH_BATCH_NORM,	      /* input, weight, bias, running mean and variance */
	TP_TORCH_BATCH_NORM_BACKWARD, /* gradient, input, weight, running ones, saved ones */
	TP_TORCH_MATMUL,	      /* the last two operands, of 1 to 3 dimensions; one more operand is added */
	TP_TORCH_EMBEDDING,	      /* table, indices */
	TP_TORCH_POOL_BACKWARD, /* gradient, input (only its sizes), indices: an addition for each of the gradient */
};

#define TP_TORCH_UNCOUNTED 255 /* `each`: can't be counted */

struct tp_torch_row {
	/* The function's name in at::_ops, without the overload's name and the mark of in-place operators */
	const char *name;
	uint8_t rule; /* enum tp_torch_rule */
	uint8_t each; /* FLOP for each element, by the operator's definition */
};

/* The row for an operator's base name, of length `length`. NULL: none. */
const struct tp_torch_row *tp_torch_row(const char *name, size_t length);

enum { TP_TORCH_TRUTH = 1, TP_TORCH_INTEGER, TP_TORCH_FLOATING, TP_TORCH_COMPLEX };

/* c10::ScalarType. */
struct tp_torch_type {
	uint8_t bytes; /* 0: unknown */
	uint8_t dtype; /* enum tprof_dtype, for real and complex numbers */
	uint8_t order; /* types of a higher order prevail */
};
#define TP_TORCH_LONG 4u
#define TP_TORCH_BOOL 11u
#define TP_TORCH_NO_TYPE UINT32_MAX

struct tp_torch_type tp_torch_type(uint32_t type);

/* The type that arithmetic on the two types gives. TP_TORCH_NO_TYPE: unknown. */
uint32_t tp_torch_promote(uint32_t a, uint32_t b);

/* ---- a call ---- */

#define TP_TORCH_OPERANDS 16u
/* No tensor has more: larger sizes are damage, and give no figure */
#define TP_TORCH_ELEMENTS_MAX 0x1p60L

struct tp_torch_operand {
	bool there, list;
	uint32_t type; /* of a list: common to all its tensors; TP_TORCH_NO_TYPE: unknown */
	uint64_t dims;
	uint64_t sizes[TP_TENSOR_DIMS];
	tp_real elements, bytes; /* of a list: of its tensors together */
};

struct tp_torch_call {
	const struct tp_torch_row *row; /* of its operator */
	struct tp_torch_operand operand[TP_TORCH_OPERANDS];
	size_t count; /* of operands, without `out` */
	struct tp_torch_operand out;
	bool in_place;
};

/*
 * False: the row's rule does not apply to such a call; *work is then undefined. The rule must not be TP_TORCH_UNSIZED.
 */
bool tp_torch_apply(const struct tp_torch_call *call, struct tp_torch_work *work);

#endif
