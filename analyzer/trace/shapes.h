/* SPDX-License-Identifier: Apache-2.0 */
/* SHAPE records of the tables: what tensors calls of an op's number had. */
#ifndef TPROF_TRACE_SHAPES_H
#define TPROF_TRACE_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

#define TP_TENSOR_DIMS 64u /* libtorch's own limit; a record with more is damaged */

enum tp_shape_item {
	TP_SHAPE_END,	 /* of the record, */
	TP_SHAPE_DAMAGE, /* or of what can be read of it */
	TP_SHAPE_NONE,	 /* no tensor, or one that keeps no sizes */
	TP_SHAPE_TENSOR, /* its type and sizes */
	TP_SHAPE_LIST,	 /* `count` items follow that are one argument */
};

struct tp_tensor {
	uint64_t type;	/* c10::ScalarType */
	uint64_t count; /* of sizes, or of a list's tensors */
	uint64_t sizes[TP_TENSOR_DIMS];
};

/* The fields behind the op's number, of which [at, end) are still to be read. */
struct tp_shape_reader {
	const uint8_t *at, *end;
	uint64_t in_list; /* items that are to come of a list */
};

/* What comes next, in the order of the arguments. */
enum tp_shape_item tp_shape_next(struct tp_shape_reader *reader, struct tp_tensor *tensor);

/*
 * The same as text: "64x128, 128x10, 10 f32". The type stands once if all tensors have the same; "()" is a tensor of no
 * dimension, "-" one that is undefined or keeps no sizes, "(8, 8) f32" a list. False: no memory. *text NULL: they are damaged.
 * The caller frees it.
 */
bool tp_shape_text(const uint8_t *at, const uint8_t *end, char **text);

#endif
