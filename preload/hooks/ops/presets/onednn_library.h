/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What oneDNN says of a primitive. The numbers are those of its C interface; version 2's structures can be read, version 3
 * hides them and answers what is asked about them. Calls the library: not where vector registers must be left alone.
 */
#ifndef TPROF_OPS_PRESETS_ONEDNN_LIBRARY_H
#define TPROF_OPS_PRESETS_ONEDNN_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

enum {
	TP_ONEDNN_BACKWARD = 128, /* dnnl_prop_kind_t: all from here on */
	TP_ONEDNN_BACKWARD_DATA = 160,
	TP_ONEDNN_BACKWARD_WEIGHTS = 192,
	TP_ONEDNN_DIMS = 12,
};

struct tp_onednn_memory { /* as version 2's dnnl_memory_desc_t begins */
	int count;
	int64_t dims[TP_ONEDNN_DIMS];
	int type;
};

enum tp_onednn_kind {
	TP_ONEDNN_OTHER,
	TP_ONEDNN_REORDER,
	TP_ONEDNN_CONCAT,
	TP_ONEDNN_SUM,
	TP_ONEDNN_CONVOLUTION,
	TP_ONEDNN_DECONVOLUTION,
	TP_ONEDNN_ELTWISE,
	TP_ONEDNN_SOFTMAX,
	TP_ONEDNN_POOLING,
	TP_ONEDNN_BATCH_NORMALIZATION,
	TP_ONEDNN_LAYER_NORMALIZATION,
	TP_ONEDNN_INNER_PRODUCT,
	TP_ONEDNN_BINARY,
	TP_ONEDNN_MATMUL,
	TP_ONEDNN_REDUCTION,
};

/* dnnl_query_t: at the next number the same of the gradient. */
enum tp_onednn_tensor {
	TP_ONEDNN_SRC = 129,
	TP_ONEDNN_WEIGHTS = 131,
	TP_ONEDNN_DST = 133,
};

struct tp_onednn_primitive {
	const void *descriptor;
	const char *name, *implementation; /* the library's, or constants; no implementation: NULL */
	enum tp_onednn_kind kind;
	int propagation;
};

/* Looks for the library's functions beside `target`, which is one of them. Once is enough. */
void tp_onednn_find(void *target);

/* False: it can't be asked. */
bool tp_onednn_ask(const void *primitive, struct tp_onednn_primitive *to);

/*
 * The tensor, or, of a primitive that has it not, its gradient; read into *memory. NULL: none, or its dimensions come with
 * the call.
 */
const struct tp_onednn_memory *tp_onednn_tensor(const void *descriptor, enum tp_onednn_tensor what,
						struct tp_onednn_memory *memory);

/* The second of several inputs. NULL: there is none, or nothing is known of it. */
const struct tp_onednn_memory *tp_onednn_second(const void *descriptor, struct tp_onednn_memory *memory);

/* enum tprof_dtype */
uint8_t tp_onednn_type(const struct tp_onednn_memory *memory);

/* Of pooling: its kernel's dimensions. NULL: not known. */
const int64_t *tp_onednn_kernel(const void *descriptor);

/* Of an activation, on each element; 0: no count says so. */
uint64_t tp_onednn_operations(const void *descriptor);

/* Of a sum: how many tensors; at least 1. */
uint64_t tp_onednn_inputs(const void *descriptor);

#endif
