/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a primitive is, is asked of the library when it was made, or at its first call, and kept by its address until it is
 * destroyed. The numbers are those of oneDNN's C interface; version 2's structures can be read, version 3 hides them and
 * answers what is asked about them.
 */
#include "hooks/ops/onednn.h"

#include "core/lookup.h"
#include "core/space.h"
#include "hooks/ops/itt.h"
#include "hooks/ops/names.h"

/* ---- the library ---- */

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
	QUERY_SRC = 129, /* and at the next number the same of the gradient */
	QUERY_WEIGHTS = 131,
	QUERY_DST = 133,
	MEMORY_COUNT_3 = 256,
	MEMORY_DIMS_3 = 257,
	MEMORY_TYPE_3 = 258,
	BACKWARD_DATA = 160,
	BACKWARD_WEIGHTS = 192,
	DIMS_MAX = 12,
	KERNEL_AT = 2896, /* in both descriptors of pooling */
};

struct memory { /* as version 2's dnnl_memory_desc_t begins */
	int count;
	int64_t dims[DIMS_MAX];
	int type;
};

static int (*get_descriptor)(const void *primitive, const void **descriptor);
static int (*query)(const void *descriptor, int what, int index, void *result);
static const void *(*query_memory)(const void *descriptor, int what, int index);
static int (*ask_memory)(const void *memory, int what, void *result); /* version 3 */
static int major;

enum kind {
	OTHER,
	REORDER,
	CONCAT,
	SUM,
	CONVOLUTION,
	DECONVOLUTION,
	ELTWISE,
	SOFTMAX,
	POOLING,
	BATCH_NORMALIZATION,
	LAYER_NORMALIZATION,
	INNER_PRODUCT,
	BINARY,
	MATMUL,
	REDUCTION,
};

struct kind_name {
	const char *name;
	enum kind kind;
};

static const struct kind_name kinds_2[] = {
	{ "primitive", OTHER },
	{ "reorder", REORDER },
	{ "shuffle", OTHER },
	{ "concat", CONCAT },
	{ "sum", SUM },
	{ "convolution", CONVOLUTION },
	{ "deconvolution", DECONVOLUTION },
	{ "eltwise", ELTWISE },
	{ "softmax", SOFTMAX },
	{ "pooling", POOLING },
	{ "lrn", OTHER },
	{ "batch_normalization", BATCH_NORMALIZATION },
	{ "layer_normalization", LAYER_NORMALIZATION },
	{ "inner_product", INNER_PRODUCT },
	{ "rnn", OTHER },
	{ "gemm", OTHER },
	{ "binary", BINARY },
	{ "logsoftmax", SOFTMAX },
	{ "matmul", MATMUL },
	{ "resampling", OTHER },
	{ "pooling", POOLING },
	{ "reduction", REDUCTION },
	{ "prelu", OTHER },
	{ "softmax", SOFTMAX },
};

static const struct kind_name kinds_3[] = {
	{ "primitive", OTHER },
	{ "reorder", REORDER },
	{ "shuffle", OTHER },
	{ "concat", CONCAT },
	{ "sum", SUM },
	{ "convolution", CONVOLUTION },
	{ "deconvolution", DECONVOLUTION },
	{ "eltwise", ELTWISE },
	{ "lrn", OTHER },
	{ "batch_normalization", BATCH_NORMALIZATION },
	{ "inner_product", INNER_PRODUCT },
	{ "rnn", OTHER },
	{ "gemm", OTHER },
	{ "binary", BINARY },
	{ "matmul", MATMUL },
	{ "resampling", OTHER },
	{ "pooling", POOLING },
	{ "reduction", REDUCTION },
	{ "prelu", OTHER },
	{ "softmax", SOFTMAX },
	{ "layer_normalization", LAYER_NORMALIZATION },
	{ "group_normalization", BATCH_NORMALIZATION },
};

/*
 * The functions that are needed, of the library that is hooked. Not by dlopen(RTLD_NOLOAD) and dlsym: for a library that
 * came as another's dependency the loader then allocates what it frees much later, and no event says where it was from.
 */
static void find_library(void *target)
{
	const struct version {
		int major;
	} * (*version)(void);

	if (query)
		return;
	*(void **)&version = tp_lookup_beside(target, "dnnl_version");
	*(void **)&get_descriptor = tp_lookup_beside(target, "dnnl_primitive_get_primitive_desc");
	*(void **)&query_memory = tp_lookup_beside(target, "dnnl_primitive_desc_query_md");
	major = version ? version()->major : 0;
	if (major == 3)
		*(void **)&ask_memory = tp_lookup_beside(target, "dnnl_memory_desc_query");
	if (get_descriptor && query_memory && (major == 2 || ask_memory))
		*(void **)&query = tp_lookup_beside(target, "dnnl_primitive_desc_query");
	if (query)
		tp_itt_mute_onednn();
}

/* ---- what a primitive is ---- */

#define SETS 2048u
#define WAYS 4u

struct primitive {
	uintptr_t address; /* 0: free, or being written */
	uint32_t op;
	struct tp_work work;
};

static struct primitive *primitives;
static uint32_t turn;

static struct primitive *set_of(struct primitive *all, uintptr_t address)
{
	return &all[((uint64_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 53) * WAYS];
}

/* The copy is good if the address is the same after it. */
static bool find(uintptr_t address, uint32_t *op, struct tp_work *work)
{
	struct primitive *all = tp_load_acquire(&primitives), *set = all ? set_of(all, address) : NULL;

	for (size_t i = 0; set && i < WAYS; i++) {
		if (tp_load_acquire(&set[i].address) != address)
			continue;
		*op = set[i].op;
		*work = set[i].work;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		return tp_load(&set[i].address) == address;
	}
	return false;
}

static void forget(uintptr_t address)
{
	struct primitive *all = tp_load_acquire(&primitives), *set = all ? set_of(all, address) : NULL;

	for (size_t i = 0; set && i < WAYS; i++)
		tp_swap_if(&set[i].address, address, (uintptr_t)0);
}

static void keep(uintptr_t address, uint32_t op, const struct tp_work *work)
{
	struct primitive *all = tp_load_acquire(&primitives), *at, *made;

	if (!all) {
		made = tp_space_take(SETS * WAYS * sizeof(*made));
		if (made && !tp_swap_if(&primitives, (struct primitive *)NULL, made))
			tp_space_give_back(made, SETS * WAYS * sizeof(*made)); /* another thread was first */
		all = tp_load_acquire(&primitives);
	}
	if (!all)
		return;
	at = set_of(all, address);
	for (size_t i = 0; i < WAYS; i++) {
		if (!tp_load(&at[i].address)) {
			at = &at[i];
			break;
		}
		if (i + 1 == WAYS)
			at = &at[tp_add(&turn, 1) % WAYS]; /* one that will be asked about again */
	}
	tp_store(&at->address, (uintptr_t)0);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	at->op = op;
	at->work = *work;
	tp_store_release(&at->address, address); /* pairs with find(): the rest is there */
}

static uint8_t type_of(const struct memory *memory)
{
	static const uint8_t types[] = { TPROF_DTYPE_NONE, TPROF_DTYPE_F16, TPROF_DTYPE_BF16, TPROF_DTYPE_F32,
					 TPROF_DTYPE_S32,  TPROF_DTYPE_S8,  TPROF_DTYPE_U8,   TPROF_DTYPE_F64 };

	return memory->type > 0 && (size_t)memory->type < TP_LENGTH(types) ? types[memory->type] : TPROF_DTYPE_NONE;
}

/* False: there is none, or nothing is known of it. */
static bool read_memory(const void *memory, struct memory *to)
{
	const int64_t *dims = NULL;

	if (!memory)
		return false;
	if (major == 2) {
		*to = *(const struct memory *)memory;
		return to->count > 0 && to->count <= DIMS_MAX;
	}
	if (ask_memory(memory, MEMORY_COUNT_3, &to->count) || to->count <= 0 || to->count > DIMS_MAX ||
	    ask_memory(memory, MEMORY_DIMS_3, &dims) || !dims || ask_memory(memory, MEMORY_TYPE_3, &to->type))
		return false;
	memcpy(to->dims, dims, (size_t)to->count * sizeof(*dims));
	return true;
}

/*
 * The tensor, or, of a primitive that has it not, its gradient; read into *memory. NULL: none, or its dimensions come with
 * the call.
 */
static const struct memory *tensor(const void *descriptor, int what, struct memory *memory)
{
	if (!read_memory(query_memory(descriptor, what, 0), memory) &&
	    !read_memory(query_memory(descriptor, what + 1, 0), memory))
		return NULL;
	for (int i = 0; i < memory->count; i++) {
		if (memory->dims[i] < 0)
			return NULL;
	}
	return memory;
}

static uint64_t product(const struct memory *memory, int from, int to)
{
	uint64_t all = 1;

	for (int i = from; i < to && i < memory->count; i++)
		all *= (uint64_t)memory->dims[i];
	return all;
}

static void add(struct tp_work *work, uint64_t dim)
{
	work->dim[work->dims++] = dim;
}

/* Depth, height and width behind the first `from` dimensions; what there is not is 1. */
static void add_space(struct tp_work *work, const int64_t *dims, int count, int from)
{
	for (int i = 0; i < 3; i++) {
		int at = count - 3 + i;

		add(work, at >= from && at < count ? (uint64_t)dims[at] : 1);
	}
}

static bool convolution(struct tp_work *work, const struct memory *src, const struct memory *weights,
			const struct memory *dst)
{
	bool grouped;

	if (!src || !weights || !dst || src->count < 3 || src->count > 5)
		return false;
	grouped = weights->count == src->count + 1;
	work->kind = TPROF_WORK_CONV;
	add(work, (uint64_t)src->dims[0]);
	add(work, grouped ? (uint64_t)weights->dims[0] : 1);
	add(work, (uint64_t)src->dims[1]);
	add(work, (uint64_t)dst->dims[1]);
	add_space(work, src->dims, src->count, 2);
	add_space(work, dst->dims, dst->count, 2);
	add_space(work, weights->dims, weights->count, 2 + grouped);
	return true;
}

static bool matmul(struct tp_work *work, const struct memory *src, const struct memory *dst)
{
	if (!src || !dst || src->count < 2 || dst->count != src->count)
		return false;
	work->kind = TPROF_WORK_MATMUL;
	add(work, product(dst, 0, dst->count - 2));
	add(work, (uint64_t)dst->dims[dst->count - 2]);
	add(work, (uint64_t)dst->dims[dst->count - 1]);
	add(work, (uint64_t)src->dims[src->count - 1]);
	return true;
}

static bool inner_product(struct tp_work *work, const struct memory *src, const struct memory *dst)
{
	if (!src || !dst || src->count < 2 || dst->count != 2)
		return false;
	work->kind = TPROF_WORK_MATMUL;
	add(work, 1);
	add(work, (uint64_t)dst->dims[0]);
	add(work, (uint64_t)dst->dims[1]);
	add(work, product(src, 1, src->count));
	return true;
}

static const int64_t *kernel_of(const void *descriptor)
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

static bool pooling(struct tp_work *work, const void *descriptor, const struct memory *src, const struct memory *dst)
{
	const int64_t *kernel = kernel_of(descriptor);

	if (!kernel || !src || !dst || src->count < 3 || src->count > 5)
		return false;
	work->kind = TPROF_WORK_POOL;
	add(work, (uint64_t)src->dims[0]);
	add(work, (uint64_t)src->dims[1]);
	add_space(work, src->dims, src->count, 2);
	add_space(work, dst->dims, dst->count, 2);
	add_space(work, kernel, src->count - 2, 0);
	return true;
}

static bool elements(struct tp_work *work, enum tprof_work kind, const struct memory *of, uint64_t second, bool two)
{
	if (!of)
		return false;
	work->kind = (uint16_t)kind;
	add(work, product(of, 0, of->count));
	if (two)
		add(work, second);
	return true;
}

/* On each element; 0: no count says so. */
static uint64_t operations_of(const void *descriptor)
{
	/* dnnl_alg_kind_t: relu, square, abs, linear of version 2; of version 3, each by its number from relu's on. */
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
	for (size_t i = 0; i < TP_LENGTH(counted); i++) {
		if (algorithm == counted[i].algorithm[major == 3])
			return counted[i].operations;
	}
	return 0;
}

/* Fills *work as far as it is known. */
static bool describe(struct tp_work *work, const void *descriptor, enum kind kind)
{
	struct memory room[3];
	const struct memory *src = tensor(descriptor, QUERY_SRC, &room[0]);
	const struct memory *dst = tensor(descriptor, QUERY_DST, &room[1]);
	int inputs = 1;

	if (src || dst)
		work->dtype = type_of(src ? src : dst);
	switch (kind) {
	case CONVOLUTION:
		return convolution(work, src, tensor(descriptor, QUERY_WEIGHTS, &room[2]), dst);
	case DECONVOLUTION: /* the products of the convolution that it is the gradient of */
		return convolution(work, dst, tensor(descriptor, QUERY_WEIGHTS, &room[2]), src);
	case MATMUL:
		return matmul(work, src, dst);
	case INNER_PRODUCT:
		return inner_product(work, src, dst);
	case POOLING:
		return pooling(work, descriptor, src, dst);
	case BATCH_NORMALIZATION:
		return elements(work, TPROF_WORK_NORM, src, src ? (uint64_t)src->dims[src->count > 1] : 0, true);
	case LAYER_NORMALIZATION:
		return elements(work, TPROF_WORK_NORM, src, src ? (uint64_t)src->dims[src->count - 1] : 0, true);
	case SOFTMAX:
		return elements(work, TPROF_WORK_SOFTMAX, dst ? dst : src, 0, false);
	case ELTWISE:
		return elements(work, TPROF_WORK_ACTIVATION, src ? src : dst, operations_of(descriptor), true);
	case BINARY:
		return elements(work, TPROF_WORK_ELEMENTWISE, dst, 2, true);
	case SUM:
		query(descriptor, QUERY_INPUTS, 0, &inputs);
		return elements(work, TPROF_WORK_ELEMENTWISE, dst, inputs > 0 ? (uint64_t)inputs : 1, true);
	case REORDER:
	case CONCAT:
		return elements(work, TPROF_WORK_REORDER, dst, 0, false);
	case REDUCTION:
		return elements(work, TPROF_WORK_REDUCE, src, dst ? product(dst, 0, dst->count) : 0, dst != NULL);
	default:
		return false;
	}
}

static void add_implementation(struct tp_text *text, const void *descriptor)
{
	const char *implementation = NULL;

	if (query(descriptor, QUERY_IMPLEMENTATION, 0, &implementation) || !implementation)
		return;
	tp_text_add(text, " [");
	tp_text_add(text, implementation);
	tp_text_add(text, "]");
}

/* Asks the library. Not where vector registers must be left alone. */
static uint32_t look_at(const void *primitive, struct tp_work *work)
{
	const struct kind_name *kinds = major == 2 ? kinds_2 : kinds_3, *kind;
	int number = 0, propagation = 0, count = major == 2 ? TP_LENGTH(kinds_2) : TP_LENGTH(kinds_3);
	const void *descriptor = NULL;
	struct tp_text text;
	char name[160];
	uint32_t op;

	memset(work, 0, sizeof(*work));
	if (!query || get_descriptor(primitive, &descriptor) || !descriptor ||
	    query(descriptor, QUERY_KIND, 0, &number))
		return 0;
	kind = &kinds[number > 0 && number < count ? number : 0];
	query(descriptor, QUERY_PROPAGATION, 0, &propagation);
	text = tp_text_in(name, sizeof(name));
	tp_text_add(&text, kind->name);
	if (propagation >= 128) {
		tp_text_add(&text, propagation == BACKWARD_WEIGHTS ? "_backward_weights"
				   : propagation == BACKWARD_DATA  ? "_backward_data"
								   : "_backward");
		work->flags = propagation == BACKWARD_WEIGHTS ? TPROF_WORK_WEIGHTS : TPROF_WORK_BACKWARD;
	}
	add_implementation(&text, descriptor);
	if (!describe(work, descriptor, kind->kind) || !work->dtype)
		work->kind = 0;
	op = tp_op_number(name, "onednn", TPROF_OP_FUNCTION);
	if (op)
		keep((uintptr_t)primitive, op, work);
	return op;
}

/* ---- the hooks ---- */

static uint32_t execute_op(const uintptr_t *frame, bool may_write)
{
	uintptr_t primitive = tp_argument(frame, 0);
	struct tp_work work;
	uint32_t op;

	if (find(primitive, &op, &work))
		return op;
	return may_write && primitive ? look_at((const void *)primitive, &work) : 0;
}

/* The op's number was found just before. */
static bool execute_read(const uintptr_t *frame, struct tp_work *work)
{
	struct tp_work found;
	uint32_t op;

	if (!find(tp_argument(frame, 0), &op, &found) || !found.kind)
		return false;
	*work = found;
	return true;
}

/* dnnl_primitive_create(primitive **, descriptor): the primitive is there now. */
static void created(const uintptr_t *frame)
{
	void *const *primitive = (void *const *)tp_argument(frame, 0);
	struct tp_work work;

	if (!primitive || !*primitive)
		return;
	forget((uintptr_t)*primitive);
	look_at(*primitive, &work);
}

static uint32_t destroy_op(const uintptr_t *frame, bool may_write)
{
	(void)may_write;
	forget(tp_argument(frame, 0));
	return TP_OP_SILENT;
}

bool tp_onednn_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature)
{
	if (strncmp(symbol, "dnnl_primitive_", 15) != 0)
		return false;
	if (strcmp(symbol, "dnnl_primitive_execute") == 0) {
		signature->bound = find_library;
		signature->op = execute_op;
		signature->kind = TPROF_WORK_KINDS; /* whichever execute_read() says */
		signature->read = execute_read;
	} else if (strncmp(symbol, "dnnl_primitive_create", 21) == 0) {
		signature->bound = find_library;
		signature->after = created;
	} else if (strcmp(symbol, "dnnl_primitive_destroy") == 0) {
		signature->op = destroy_op;
	} else {
		return false;
	}
	tp_text_add(to, symbol);
	return true;
}

void tp_onednn_forget(void)
{
	if (primitives)
		tp_space_give_back(primitives, SETS * WAYS * sizeof(*primitives));
	primitives = NULL;
}
