/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks oneDNN about a primitive. The numbers are those of its C interface; version 2's structures can be read, version
 * 3 hides them and answers queries. Calls the library: not where vector registers must be left alone.
 */
#ifndef TPROF_OPS_PRESETS_ONEDNN_LIBRARY_H
#define TPROF_OPS_PRESETS_ONEDNN_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

enum {
	TPC_ONEDNN_BACKWARD = 128, /* dnnl_prop_kind_t: all from here on */
	TPC_ONEDNN_BACKWARD_DATA = 160,
	TPC_ONEDNN_BACKWARD_WEIGHTS = 192,
	TPC_ONEDNN_DIMS = 12,
};

struct tpc_onednn_memory { /* as version 2's dnnl_memory_desc_t begins */
	int count;
	int64_t dims[TPC_ONEDNN_DIMS];
	int type;
};

enum tpc_onednn_kind {
	TPC_ONEDNN_OTHER,
	TPC_ONEDNN_REORDER,
	TPC_ONEDNN_CONCAT,
	TPC_ONEDNN_SUM,
	TPC_ONEDNN_CONVOLUTION,
	TPC_ONEDNN_DECONVOLUTION,
	TPC_ONEDNN_ELTWISE,
	TPC_ONEDNN_SOFTMAX,
	TPC_ONEDNN_POOLING,
	TPC_ONEDNN_BATCH_NORMALIZATION,
	TPC_ONEDNN_LAYER_NORMALIZATION,
	TPC_ONEDNN_INNER_PRODUCT,
	TPC_ONEDNN_BINARY,
	TPC_ONEDNN_MATMUL,
	TPC_ONEDNN_REDUCTION,
};

/* dnnl_query_t: the next number is that of the gradient. */
enum tpc_onednn_tensor {
	TPC_ONEDNN_SRC = 129,
	TPC_ONEDNN_WEIGHTS = 131,
	TPC_ONEDNN_DST = 133,
};

struct tpc_onednn_primitive {
	const void *descriptor;
	const char *name, *implementation; /* the library's, or constants; no implementation: NULL */
	enum tpc_onednn_kind kind;
	int propagation;
};

/* Looks for the library's functions beside `target`, which is one of them. To be called once. */
void tpc_onednn_find(void *target);

/* False: it can't be asked. */
bool tpc_onednn_ask(const void *primitive, struct tpc_onednn_primitive *to);

/*
 * The tensor, or its gradient if the primitive lacks the tensor; read into *memory. NULL: none, or its dimensions come
 * with the call.
 */
const struct tpc_onednn_memory *tpc_onednn_tensor(const void *descriptor, enum tpc_onednn_tensor what,
						  struct tpc_onednn_memory *memory);

/* The second of several inputs. NULL: there is none, or nothing is known of it. */
const struct tpc_onednn_memory *tpc_onednn_second(const void *descriptor, struct tpc_onednn_memory *memory);

/* enum tprof_dtype */
uint8_t tpc_onednn_type(const struct tpc_onednn_memory *memory);

/* The dimensions of pooling's kernel. NULL: unknown. */
const int64_t *tpc_onednn_kernel(const void *descriptor);

/* Operations of an activation on each element; 0: not defined. */
uint64_t tpc_onednn_operations(const void *descriptor);

/* Number of tensors in a sum; at least 1. */
uint64_t tpc_onednn_inputs(const void *descriptor);

#endif
