/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of libtorch's tensors in memory, without its headers: an at::Tensor is a pointer to a c10::TensorImpl,
 * whose sizes and type are at an offset that depends on the version. It is found at run time, from tensors whose sizes
 * are known (tpc_tensor_learn); before that nothing is read.
 *
 * From the sizes on, in 64-bit words (c10::impl::SizesAndStrides, 1.10 to 2.x): their number; 5 of them, or a pointer
 * to all if there are more; 5 strides; the storage's offset; the number of elements; the type, 16 bits
 * (caffe2::TypeMeta).
 */
#ifndef TPROF_OPS_TENSORS_H
#define TPROF_OPS_TENSORS_H

#include "core/fold.h"
#include "hooks/ops/parameters.h"

#define TPC_TENSOR_DIMS 64u /* libtorch's own limit */
#define TPC_TENSOR_INLINE 5u
#define TPC_TENSOR_LENGTH 1024u /* longest list that is read */

enum { TPC_TENSOR_OFFSET = 11, TPC_TENSOR_ELEMENTS = 12, TPC_TENSOR_TYPE = 13 }; /* in words after the sizes */

enum tpc_optional {
	TPC_OPTIONAL_UNKNOWN,
	TPC_OPTIONAL_AHEAD,  /* the flag, then the tensor: c10::optional */
	TPC_OPTIONAL_BEHIND, /* std::optional */
};

struct tpc_tensor_layout {
	/* The vtable of plain tensors. Tensors of derived classes keep no sizes there. 0: not known yet. */
	tpc_shared_address vtable;
	uint32_t sizes;		 /* offset */
	tpc_shared_u32 optional; /* enum tpc_optional */
};
extern struct tpc_tensor_layout tpc_tensor_layout TPC_NEAR;

/* Is the layout known? */
static inline bool tpc_tensor_known(void)
{
	return tpc_load_acquire(&tpc_tensor_layout.vtable) != 0; /* pairs with tpc_tensor_learn(): the rest is there */
}

/* A function returned a tensor that it made with these sizes. `type`: its c10::ScalarType + 1; 0: unknown. */
void tpc_tensor_learn(uintptr_t tensor, const int64_t *sizes, size_t count, uint32_t type);

/* The result of a look at an argument that can't fault: does it contain a plain tensor? */
enum tpc_tensor_look {
	TPC_LOOK_WRONG, /* not such an argument */
	TPC_LOOK_NONE,	/* maybe, but it contains no such tensor */
	TPC_LOOK_GOOD,
};
enum tpc_tensor_look tpc_tensor_look(uint8_t part, const uintptr_t *frame, int offset);

/* ---- for calls whose tensors are where they should be ---- */

/*
 * The sizes of a tensor, by the address of its c10::TensorImpl. NULL: they are elsewhere. *count is below
 * TPC_TENSOR_DIMS.
 */
static inline const uint64_t *tpc_tensor_sizes(uintptr_t impl, uint64_t *count, uint64_t *head)
{
	const uint64_t *words = (const uint64_t *)(impl + tpc_tensor_layout.sizes);

	if (tpc_unlikely(*(const uintptr_t *)impl != tpc_load(&tpc_tensor_layout.vtable)))
		return NULL;
	*count = words[0];
	*head = words[0] ^ (words[TPC_TENSOR_TYPE] & UINT16_MAX) << 8 ^ words[TPC_TENSOR_ELEMENTS] << 24;
	if (tpc_likely(*count <= TPC_TENSOR_INLINE))
		return words + 1;
	return *count <= TPC_TENSOR_DIMS ? (const uint64_t *)words[1] : NULL;
}

static inline uint64_t tpc_tensor_hash(uint64_t hash, uintptr_t impl)
{
	uint64_t count, head;
	const uint64_t *sizes = tpc_tensor_sizes(impl, &count, &head);

	if (tpc_unlikely(!sizes))
		return (hash ^ 0x80) * TPC_FOLD_MIX;
	hash = (hash ^ head) * TPC_FOLD_MIX;
	for (uint64_t i = 0; i < count; i++)
		hash = (hash ^ sizes[i]) * TPC_FOLD_MIX;
	return hash;
}

/* The tensors of an argument: one, or none if it is an empty optional, or a list of an unknown kind. */
struct tpc_tensors {
	const uintptr_t *tensors;
	uint64_t count;
	bool is_list;
};

/* From the words that it is passed in, at `frame` + `offset`. In registers, the second word is below the first. */
static inline struct tpc_tensors tpc_tensors_of(uint8_t part, const uintptr_t *frame, int offset)
{
	const uintptr_t *at = (const uintptr_t *)frame[offset];
	bool ahead;

	switch (part) {
	case TPC_TENSOR_OPTIONAL:
		ahead = tpc_load(&tpc_tensor_layout.optional) == TPC_OPTIONAL_AHEAD;
		return (struct tpc_tensors){ at + ahead, *(const uint8_t *)&at[!ahead], false };
	case TPC_TENSOR_LIST:
		return (struct tpc_tensors){ at, frame[offset < 0 ? offset - 1 : offset + 1], true };
	case TPC_TENSOR_LIST_REF: /* a list by its address and length, if it is of the first kind */
		return (struct tpc_tensors){ (const uintptr_t *)at[0], (uint32_t)at[2] ? 0 : at[1], true };
	default:
		return (struct tpc_tensors){ at, 1, false };
	}
}

static inline uint64_t tpc_tensors_hash(uint64_t hash, uint8_t part, const uintptr_t *frame, int offset)
{
	struct tpc_tensors all;

	if (tpc_likely(part <= TPC_TENSOR_OUT))
		return tpc_tensor_hash(hash, *(const uintptr_t *)frame[offset]);
	all = tpc_tensors_of(part, frame, offset);
	hash = (hash ^ (0x81 + all.count)) * TPC_FOLD_MIX;
	for (uint64_t i = 0; i < all.count && all.count <= TPC_TENSOR_LENGTH; i++)
		hash = tpc_tensor_hash(hash, all.tensors[i]);
	return hash;
}

#endif
