/* SPDX-License-Identifier: Apache-2.0 */
/* Of a C++ function's parameters, by its symbol: how much of them can be on the stack. */
#ifndef TPROF_OPS_PARAMETERS_H
#define TPROF_OPS_PARAMETERS_H

#include "core/base.h"

/*
 * `symbol` is of a static function of a class. *words, of 8 bytes, may be more than there are, and are not fewer. False: it
 * can't be told.
 *
 * A class that is passed by value is taken for one of at most TPC_CLASS_WORDS. Libtorch's largest is c10::optional of a
 * c10::ArrayRef, with 3; what is not copied byte by byte goes by its address.
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

/* Of a function of libtorch. */
struct tpc_tensor_parts {
	uint8_t count, mutable_count;
	bool sizes_first; /* its first parameter is the sizes of what it makes */
	uint8_t part[TPC_TENSOR_PARTS];
	int8_t offset
		[TPC_TENSOR_PARTS]; /* from the stub's frame, as tpc_argument_offset() (hooks/ops/typed.h) counts */
};

/*
 * Where its tensors are when it is called. A result is taken to be returned in memory, whose address comes before the
 * parameters, unless one of these is written to, or the first is (`in_place`); a symbol does not say. False: it can't be told.
 */
bool tpc_parameter_tensors(const char *symbol, bool in_place, struct tpc_tensor_parts *parts);

#endif
