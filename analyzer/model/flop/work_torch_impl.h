/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of model/flop/work_torch.h share: a table with a row for each operator (work_torch_table.c), and its rules. */
#ifndef TPROF_MODEL_FLOP_WORK_TORCH_IMPL_H
#define TPROF_MODEL_FLOP_WORK_TORCH_IMPL_H

#include "model/flop/work_impl.h"
#include "model/flop/work_torch.h"
#include "trace/shapes.h"

/* How the work of an operator follows from the sizes and types of its tensors. n: elements of the result. */
enum tpa_torch_rule {
	/* Makes a view, or memory without contents: nothing is moved, whatever the sizes */
	TPA_TORCH_NOTHING,
	TPA_TORCH_UNSIZED, /* does work itself that the sizes don't determine */
	TPA_TORCH_EACH,	   /* broadcasts its operands: `each` FLOP for each element of the result */
	TPA_TORCH_REAL,	   /* the same, but integers become real numbers */
	TPA_TORCH_TEST,	   /* the same; the result is truth values */
	TPA_TORCH_LIKE,	   /* the result is like the first operand, whatever the others */
	TPA_TORCH_COPY,	   /* the first is overwritten by the second */
	TPA_TORCH_FILL,	   /* the first is overwritten */
	TPA_TORCH_READ,	   /* all are read, and the result is not a tensor */
	TPA_TORCH_CHOOSE,  /* the first operand, of truth values, selects from the others */
	TPA_TORCH_JOIN,	   /* a list becomes one tensor */
	TPA_TORCH_LISTS,   /* lists of tensors, element by element; the first is overwritten in place */
	TPA_TORCH_SUM,	   /* of all elements: n - 1 additions */
	TPA_TORCH_MEAN,	   /* the same, and a division */
	TPA_TORCH_SOFTMAX,
	TPA_TORCH_SOFTMAX_BACKWARD,    /* gradient, result */
	TPA_TORCH_LAYER_NORM,	       /* input, weight, bias */
	TPA_TORCH_LAYER_NORM_BACKWARD, /* gradient, input, mean, deviation, weight, bias */
	TPA_TORCH_BATCH_NORM,	       /* input, weight, bias, running mean and variance */
	TPA_TORCH_BATCH_NORM_BACKWARD, /* gradient, input, weight, running ones, saved ones */
	TPA_TORCH_MATMUL,	       /* the last two operands, of 1 to 3 dimensions; one more operand is added */
	TPA_TORCH_EMBEDDING,	       /* table, indices */
	TPA_TORCH_POOL_BACKWARD, /* gradient, input (only its sizes), indices: an addition for each of the gradient */
};

#define TPA_TORCH_UNCOUNTED 255 /* `each`: can't be counted */

struct tpa_torch_row {
	/* The function's name in at::_ops, without the overload's name and the mark of in-place operators */
	const char *name;
	uint8_t rule; /* enum tpa_torch_rule */
	uint8_t each; /* FLOP for each element, by the operator's definition */
};

/* The row for an operator's base name, of length `length`. NULL: none. */
const struct tpa_torch_row *tpa_torch_row(const char *name, size_t length);

enum { TPA_TORCH_TRUTH = 1, TPA_TORCH_INTEGER, TPA_TORCH_FLOATING, TPA_TORCH_COMPLEX };

/* c10::ScalarType. */
struct tpa_torch_type {
	uint8_t bytes; /* 0: unknown */
	uint8_t dtype; /* enum tprof_dtype, for real and complex numbers */
	uint8_t order; /* types of a higher order prevail */
};
#define TPA_TORCH_LONG 4u
#define TPA_TORCH_BOOL 11u
#define TPA_TORCH_NO_TYPE UINT32_MAX

struct tpa_torch_type tpa_torch_type(uint32_t type);

/* The type that arithmetic on the two types gives. TPA_TORCH_NO_TYPE: unknown. */
uint32_t tpa_torch_promote(uint32_t a, uint32_t b);

/* ---- a call ---- */

#define TPA_TORCH_OPERANDS 16u
/* No tensor has more: larger sizes are damage, and give no figure */
#define TPA_TORCH_ELEMENTS_MAX 0x1p60L

struct tpa_torch_operand {
	bool there, list;
	uint32_t type; /* of a list: common to all its tensors; TPA_TORCH_NO_TYPE: unknown */
	uint64_t dims;
	uint64_t sizes[TPA_TENSOR_DIMS];
	tpa_real elements, bytes; /* of a list: of its tensors together */
};

struct tpa_torch_call {
	const struct tpa_torch_row *row; /* of its operator */
	struct tpa_torch_operand operand[TPA_TORCH_OPERANDS];
	size_t count; /* of operands, without `out` */
	struct tpa_torch_operand out;
	bool in_place;
};

/*
 * False: the row's rule does not apply to such a call; *work is then undefined. The rule must not be TPA_TORCH_UNSIZED.
 */
bool tpa_torch_apply(const struct tpa_torch_call *call, struct tpa_torch_work *work);

#endif
