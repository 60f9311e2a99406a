/* SPDX-License-Identifier: Apache-2.0 */
/* SHAPE records of the tables: the tensors that the calls of an op number work on. */
#ifndef TPROF_TRACE_SHAPES_H
#define TPROF_TRACE_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

#define TPA_TENSOR_DIMS 64u /* libtorch's own limit; a record with more is damaged */

enum tpa_shape_item {
	TPA_SHAPE_END,	  /* of the record, */
	TPA_SHAPE_DAMAGE, /* or of what can be read of it */
	TPA_SHAPE_NONE,	  /* no tensor, or one that keeps no sizes */
	TPA_SHAPE_TENSOR, /* its type and sizes */
	TPA_SHAPE_LIST,	  /* `count` items follow that are one argument */
};

struct tpa_tensor {
	uint64_t type;	/* c10::ScalarType */
	uint64_t count; /* of sizes, or of a list's tensors */
	uint64_t sizes[TPA_TENSOR_DIMS];
};

/* The fields behind the op's number, of which [at, end) are still to be read. */
struct tpa_shape_reader {
	const uint8_t *at, *end;
	uint64_t in_list; /* items of a list that are still to come */
};

/* What comes next, in the order of the arguments. */
enum tpa_shape_item tpa_shape_next(struct tpa_shape_reader *reader, struct tpa_tensor *tensor);

/*
 * The same as text: "64x128, 128x10, 10 f32". The type stands once if all tensors have the same; "()" is a tensor of no
 * dimension, "-" one that is undefined or keeps no sizes, "(8, 8) f32" a list. The caller frees the text. NULL: the fields are
 * damaged.
 */
char *tpa_shape_text(const uint8_t *at, const uint8_t *end);

#endif
