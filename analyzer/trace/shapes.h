/* SPDX-License-Identifier: Apache-2.0 */
/* SHAPE records of the tables: what tensors calls of an op's number had, as text. */
#ifndef TPROF_TRACE_SHAPES_H
#define TPROF_TRACE_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The fields behind the op's number, [at, end): "64x128, 128x10, 10 f32". The type stands once if all tensors have the same;
 * "()" is a tensor of no dimension, "-" one that is undefined or keeps no sizes, "(8, 8) f32" a list. False: no memory.
 * *text NULL: they are damaged. The caller frees it.
 */
bool tp_shape_text(const uint8_t *at, const uint8_t *end, char **text);

#endif
