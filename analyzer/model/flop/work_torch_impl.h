/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of model/flop/work_torch.h: a table with a row for each operator (work_torch_table.c), and the rules it uses. */
#ifndef TPROF_MODEL_FLOP_WORK_TORCH_IMPL_H
#define TPROF_MODEL_FLOP_WORK_TORCH_IMPL_H

#include "model/flop/work_impl.h"
#include "model/flop/work_torch.h"
#include "trace/shapes.h"

/* How the work of an operator follows from the sizes and types of its tensors. */
enum tpa_torch_rule {
	/* Makes a view or uninitialised memory: moves nothing, whatever the sizes */
	TPA_TORCH_NOTHING,
	TPA_TORCH_UNSIZED, /* does work itself that the sizes don't determine */
	TPA_TORCH_EACH,	   /* broadcasts its operands: `each` FLOP for each element of the result */
	TPA_TORCH_REAL,	   /* the same, but integers become floating-point numbers */
	TPA_TORCH_TEST,	   /* the same, but the result is boolean */
	TPA_TORCH_LIKE,	   /* the result has the first operand's size and type */
	TPA_TORCH_COPY,	   /* the first is overwritten by the second */
	TPA_TORCH_FILL,	   /* the first is overwritten */
	TPA_TORCH_READ,	   /* all are read, and the result is not a tensor */
	TPA_TORCH_CHOOSE,  /* the first operand, a boolean, selects from the others */
	TPA_TORCH_JOIN,	   /* a list becomes one tensor */
	TPA_TORCH_LISTS,   /* lists of tensors, element by element; the first is overwritten in place */
	TPA_TORCH_SUM,	   /* sum of all elements: n - 1 additions for n elements */
	TPA_TORCH_MEAN,	   /* the same, and a division */
	TPA_TORCH_SOFTMAX,
	TPA_TORCH_SOFTMAX_BACKWARD,    /* gradient, result */
	TPA_TORCH_LAYER_NORM,	       /* input, weight, bias */
	TPA_TORCH_LAYER_NORM_BACKWARD, /* gradient, input, mean, deviation, weight, bias */
	TPA_TORCH_BATCH_NORM,	       /* input, weight, bias, running mean and variance */
	TPA_TORCH_BATCH_NORM_BACKWARD, /* gradient, input, weight, running mean and variance, saved mean and deviation */
	TPA_TORCH_MATMUL,	 /* the last two operands, of 1 to 3 dimensions; an operand before them is added */
	TPA_TORCH_EMBEDDING,	 /* table, indices */
	TPA_TORCH_POOL_BACKWARD, /* gradient, input (only its sizes), indices: one addition for each gradient element */
};

#define TPA_TORCH_UNCOUNTED 255 /* `each`: can't be counted */

struct tpa_torch_row {
	/* The function's name in at::_ops, without the overload's name and the in-place underscore */
	const char *name;
	uint8_t rule; /* enum tpa_torch_rule */
	uint8_t each; /* FLOP for each element by the operator's definition, or TPA_TORCH_UNCOUNTED */
};

/* The row of the operator whose base name is the first `length` characters of `name`. NULL: none. */
const struct tpa_torch_row *tpa_torch_row(const char *name, size_t length);

enum { TPA_TORCH_TRUTH = 1, TPA_TORCH_INTEGER, TPA_TORCH_FLOATING, TPA_TORCH_COMPLEX };

/* A c10::ScalarType. */
struct tpa_torch_type {
	uint8_t bytes; /* 0: unknown */
	uint8_t dtype; /* enum tprof_dtype; TPROF_DTYPE_NONE: no FLOP formula applies */
	uint8_t order; /* TPA_TORCH_TRUTH to TPA_TORCH_COMPLEX: promotion picks the type of higher order */
};
#define TPA_TORCH_LONG 4u
#define TPA_TORCH_BOOL 11u
#define TPA_TORCH_NO_TYPE UINT32_MAX

/* `type`: number of the c10::ScalarType. All 0: unknown. */
struct tpa_torch_type tpa_torch_type(uint32_t type);

/* The result type of arithmetic on two types; TPA_TORCH_NO_TYPE: unknown. */
uint32_t tpa_torch_promote(uint32_t a, uint32_t b);

/* ---- a call ---- */

#define TPA_TORCH_OPERANDS 16u
/* No tensor has more elements: larger sizes are damage, and the work is unknown */
#define TPA_TORCH_ELEMENTS_MAX 0x1p60L

struct tpa_torch_operand {
	bool there, list;
	uint32_t type; /* for a list: common to all its tensors; TPA_TORCH_NO_TYPE: unknown */
	uint64_t dims;
	uint64_t sizes[TPA_TENSOR_DIMS];
	tpa_real elements, bytes; /* for a list: sums over its tensors */
};

struct tpa_torch_call {
	const struct tpa_torch_row *row; /* of the operator */
	struct tpa_torch_operand operand[TPA_TORCH_OPERANDS];
	size_t count; /* number of operands, without `out` */
	struct tpa_torch_operand out;
	bool in_place;
};

/* Applies the row's rule. False: it does not fit this call, and *work is undefined. The rule must not be TPA_TORCH_UNSIZED. */
bool tpa_torch_apply(const struct tpa_torch_call *call, struct tpa_torch_work *work);

#endif
