/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/presets/onednn_library.h"

#include <string.h>

#include "core/lookup.h"
#include "hooks/ops/told/itt.h"
#include "tprof/work.h"

enum {
	QUERY_KIND = 2,
	QUERY_INPUTS = 3,
	QUERY_IMPLEMENTATION = 8,
	QUERY_PROPAGATION = 11,
	QUERY_ALGORITHM_3 = 20,
	QUERY_KERNEL_3 = 31,
	QUERY_ELTWISE = 69,
	QUERY_POOLING = 71,
	QUERY_POOLING_V2 = 82,
	MEMORY_COUNT_3 = 256,
	MEMORY_DIMS_3 = 257,
	MEMORY_TYPE_3 = 258,
	KERNEL_AT = 2896, /* in both descriptors of pooling */
};

static int (*get_descriptor)(const void *primitive, const void **descriptor);
static int (*query)(const void *descriptor, int what, int index, void *result);
static const void *(*query_memory)(const void *descriptor, int what, int index);
static int (*ask_memory)(const void *memory, int what, void *result); /* version 3 */
static int major;

struct kind_name {
	const char *name;
	enum tpc_onednn_kind kind;
};

static const struct kind_name kinds_2[] = {
	{ "primitive", TPC_ONEDNN_OTHER },
	{ "reorder", TPC_ONEDNN_REORDER },
	{ "shuffle", TPC_ONEDNN_OTHER },
	{ "concat", TPC_ONEDNN_CONCAT },
	{ "sum", TPC_ONEDNN_SUM },
	{ "convolution", TPC_ONEDNN_CONVOLUTION },
	{ "deconvolution", TPC_ONEDNN_DECONVOLUTION },
	{ "eltwise", TPC_ONEDNN_ELTWISE },
	{ "softmax", TPC_ONEDNN_SOFTMAX },
	{ "pooling", TPC_ONEDNN_POOLING },
	{ "lrn", TPC_ONEDNN_OTHER },
	{ "batch_normalization", TPC_ONEDNN_BATCH_NORMALIZATION },
	{ "layer_normalization", TPC_ONEDNN_LAYER_NORMALIZATION },
	{ "inner_product", TPC_ONEDNN_INNER_PRODUCT },
	{ "rnn", TPC_ONEDNN_OTHER },
	{ "gemm", TPC_ONEDNN_OTHER },
	{ "binary", TPC_ONEDNN_BINARY },
	{ "logsoftmax", TPC_ONEDNN_SOFTMAX },
	{ "matmul", TPC_ONEDNN_MATMUL },
	{ "resampling", TPC_ONEDNN_OTHER },
	{ "pooling", TPC_ONEDNN_POOLING },
	{ "reduction", TPC_ONEDNN_REDUCTION },
	{ "prelu", TPC_ONEDNN_OTHER },
	{ "softmax", TPC_ONEDNN_SOFTMAX },
};

static const struct kind_name kinds_3[] = {
	{ "primitive", TPC_ONEDNN_OTHER },
	{ "reorder", TPC_ONEDNN_REORDER },
	{ "shuffle", TPC_ONEDNN_OTHER },
	{ "concat", TPC_ONEDNN_CONCAT },
	{ "sum", TPC_ONEDNN_SUM },
	{ "convolution", TPC_ONEDNN_CONVOLUTION },
	{ "deconvolution", TPC_ONEDNN_DECONVOLUTION },
	{ "eltwise", TPC_ONEDNN_ELTWISE },
	{ "lrn", TPC_ONEDNN_OTHER },
	{ "batch_normalization", TPC_ONEDNN_BATCH_NORMALIZATION },
	{ "inner_product", TPC_ONEDNN_INNER_PRODUCT },
	{ "rnn", TPC_ONEDNN_OTHER },
	{ "gemm", TPC_ONEDNN_OTHER },
	{ "binary", TPC_ONEDNN_BINARY },
	{ "matmul", TPC_ONEDNN_MATMUL },
	{ "resampling", TPC_ONEDNN_OTHER },
	{ "pooling", TPC_ONEDNN_POOLING },
	{ "reduction", TPC_ONEDNN_REDUCTION },
	{ "prelu", TPC_ONEDNN_OTHER },
	{ "softmax", TPC_ONEDNN_SOFTMAX },
	{ "layer_normalization", TPC_ONEDNN_LAYER_NORMALIZATION },
	{ "group_normalization", TPC_ONEDNN_BATCH_NORMALIZATION },
};

/*
 * Finds the functions that are needed, in the hooked library. Not by dlopen(RTLD_NOLOAD) and dlsym: for a library that
 * was loaded as a dependency the loader then allocates memory that it frees much later, and no event shows where that
 * came from.
 */
void tpc_onednn_find(void *target)
{
	const struct version {
		int major;
	} * (*version)(void);

	if (query)
		return;
	*(void **)&version = tpc_lookup_beside(target, "dnnl_version");
	*(void **)&get_descriptor = tpc_lookup_beside(target, "dnnl_primitive_get_primitive_desc");
	*(void **)&query_memory = tpc_lookup_beside(target, "dnnl_primitive_desc_query_md");
	major = version ? version()->major : 0;
	if (major == 3)
		*(void **)&ask_memory = tpc_lookup_beside(target, "dnnl_memory_desc_query");
	if (get_descriptor && query_memory && (major == 2 || ask_memory))
		*(void **)&query = tpc_lookup_beside(target, "dnnl_primitive_desc_query");
	if (query)
		tpc_itt_mute_onednn();
}

bool tpc_onednn_ask(const void *primitive, struct tpc_onednn_primitive *to)
{
	const struct kind_name *kinds = major == 2 ? kinds_2 : kinds_3;
	int number = 0, count = major == 2 ? TPC_LENGTH(kinds_2) : TPC_LENGTH(kinds_3);

	*to = (struct tpc_onednn_primitive){ 0 };
	if (!query || get_descriptor(primitive, &to->descriptor) || !to->descriptor ||
	    query(to->descriptor, QUERY_KIND, 0, &number))
		return false;
	kinds += number > 0 && number < count ? number : 0;
	to->name = kinds->name;
	to->kind = kinds->kind;
	query(to->descriptor, QUERY_PROPAGATION, 0, &to->propagation);
	if (query(to->descriptor, QUERY_IMPLEMENTATION, 0, &to->implementation))
		to->implementation = NULL;
	return true;
}

uint8_t tpc_onednn_type(const struct tpc_onednn_memory *memory)
{
	static const uint8_t types[] = { TPROF_DTYPE_NONE, TPROF_DTYPE_F16, TPROF_DTYPE_BF16, TPROF_DTYPE_F32,
					 TPROF_DTYPE_S32,  TPROF_DTYPE_S8,  TPROF_DTYPE_U8,   TPROF_DTYPE_F64 };

	return memory->type > 0 && (size_t)memory->type < TPC_LENGTH(types) ? types[memory->type] : TPROF_DTYPE_NONE;
}

/* False: there is none, or nothing is known of it. */
static bool read_memory(const void *memory, struct tpc_onednn_memory *to)
{
	const int64_t *dims = NULL;

	if (!memory)
		return false;
	if (major == 2) {
		*to = *(const struct tpc_onednn_memory *)memory;
		return to->count > 0 && to->count <= TPC_ONEDNN_DIMS;
	}
	if (ask_memory(memory, MEMORY_COUNT_3, &to->count) || to->count <= 0 || to->count > TPC_ONEDNN_DIMS ||
	    ask_memory(memory, MEMORY_DIMS_3, &dims) || !dims || ask_memory(memory, MEMORY_TYPE_3, &to->type))
		return false;
	memcpy(to->dims, dims, (size_t)to->count * sizeof(*dims));
	return true;
}

const struct tpc_onednn_memory *tpc_onednn_tensor(const void *descriptor, enum tpc_onednn_tensor what,
						  struct tpc_onednn_memory *memory)
{
	if (!read_memory(query_memory(descriptor, (int)what, 0), memory) &&
	    !read_memory(query_memory(descriptor, (int)what + 1, 0), memory))
		return NULL;
	for (int i = 0; i < memory->count; i++) {
		if (memory->dims[i] < 0)
			return NULL;
	}
	return memory;
}

const struct tpc_onednn_memory *tpc_onednn_second(const void *descriptor, struct tpc_onednn_memory *memory)
{
	return read_memory(query_memory(descriptor, TPC_ONEDNN_SRC, 1), memory) ? memory : NULL;
}

const int64_t *tpc_onednn_kernel(const void *descriptor)
{
	const char *description = NULL;
	const int64_t *kernel = NULL;

	if (major == 3)
		return query(descriptor, QUERY_KERNEL_3, 0, &kernel) ? NULL : kernel;
	if ((query(descriptor, QUERY_POOLING, 0, &description) &&
	     query(descriptor, QUERY_POOLING_V2, 0, &description)) ||
	    !description)
		return NULL;
	return (const int64_t *)(description + KERNEL_AT);
}

uint64_t tpc_onednn_operations(const void *descriptor)
{
	/* dnnl_alg_kind_t: relu, square, abs, linear in version 2; in version 3, each by its distance from relu. */
	static const struct {
		int algorithm[2];
		uint64_t operations;
	} counted[] = { { { 0x1f, 0x20 }, 1 }, { { 0x4f, 0x23 }, 1 }, { { 0x5f, 0x24 }, 1 }, { { 0x7f, 0x26 }, 2 } };
	const int *description = NULL;
	int algorithm = 0;

	if (major == 3)
		query(descriptor, QUERY_ALGORITHM_3, 0, &algorithm);
	else if (!query(descriptor, QUERY_ELTWISE, 0, &description) && description)
		algorithm = description[2];
	for (size_t i = 0; i < TPC_LENGTH(counted); i++) {
		if (algorithm == counted[i].algorithm[major == 3])
			return counted[i].operations;
	}
	return 0;
}

uint64_t tpc_onednn_inputs(const void *descriptor)
{
	int inputs = 1;

	query(descriptor, QUERY_INPUTS, 0, &inputs);
	return inputs > 0 ? (uint64_t)inputs : 1;
}
