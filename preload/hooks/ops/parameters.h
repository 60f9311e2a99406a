/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out from a C++ function's symbol how its parameters are passed. */
#ifndef TPROF_OPS_PARAMETERS_H
#define TPROF_OPS_PARAMETERS_H

#include "core/base.h"

/*
 * How many words of 8 bytes its parameters can take on the stack. `symbol` is a class's static function. *words may be
 * too large, but never too small. False: unknown.
 *
 * A class that is passed by value counts as one of TPC_CLASS_WORDS. Libtorch's largest is c10::optional of a
 * c10::ArrayRef, with 3; a class that is not trivially copyable is passed by address.
 */
bool tpc_parameter_words(const char *symbol, uint8_t *words);

#define TPC_CLASS_WORDS 4u

enum tpc_tensor_part {
	TPC_TENSOR_NONE,
	TPC_TENSOR_IN,	     /* Tensor const & */
	TPC_TENSOR_OUT,	     /* Tensor & */
	TPC_TENSOR_OPTIONAL, /* optional<Tensor> const & */
	TPC_TENSOR_LIST,     /* ArrayRef<Tensor>: two words */
	TPC_TENSOR_LIST_REF, /* IListRef<Tensor> const & */
	TPC_TENSOR_SIZES,    /* no tensor: ArrayRef of integers */
};

#define TPC_TENSOR_PARTS 7u

/* The tensors among a libtorch function's parameters. */
struct tpc_tensor_parts {
	uint8_t count, mutable_count;
	bool sizes_first; /* its first parameter holds the sizes of the result */
	uint8_t part[TPC_TENSOR_PARTS];
	int8_t offset
		[TPC_TENSOR_PARTS]; /* relative to the stub's frame, as tpc_argument_offset() (hooks/ops/typed.h) counts */
};

/*
 * Where its tensors are when it is called. Assumes that the result is returned in memory, whose address precedes the
 * parameters, unless one of them is written to, or the first one is (`in_place`); a symbol does not tell. False:
 * unknown.
 */
bool tpc_parameter_tensors(const char *symbol, bool in_place, struct tpc_tensor_parts *parts);

#endif
