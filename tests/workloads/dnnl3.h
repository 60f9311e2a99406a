/* SPDX-License-Identifier: Apache-2.0 */
/* Of oneDNN 3, which Debian 12 has not: what is called to make a primitive, to ask about it, and to execute it. */
#ifndef DNNL3_H
#define DNNL3_H

#include <stdint.h>

struct dnnl_memory; /* as the library's descriptors, nobody outside knows what is in it */
struct dnnl_descriptor;
struct dnnl_primitive;

enum { RELU = 0x20, TANH = 0x21, LINEAR = 0x26 };
enum { BF16 = 2, F32 = 3, S32, S8, U8, F64 };

/* The library's own would need an engine; these make descriptors without one. `dims` ends with 0. */
struct dnnl_memory *dnnl3_memory(int type, const int64_t *dims);
struct dnnl_descriptor *dnnl3_descriptor(int kind, int propagation, int algorithm, const int64_t *kernel);
/* `what`: the query's number of the tensor. */
void dnnl3_add(struct dnnl_descriptor *descriptor, int what, struct dnnl_memory *memory);

int dnnl_primitive_create(struct dnnl_primitive **primitive, const struct dnnl_descriptor *descriptor);
int dnnl_primitive_execute(const struct dnnl_primitive *primitive, void *stream, int count, const void *arguments);
int dnnl_primitive_destroy(struct dnnl_primitive *primitive);

#endif
