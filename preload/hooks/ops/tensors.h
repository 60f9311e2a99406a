/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libtorch's tensors are like in memory, without its headers: an at::Tensor is a pointer to a c10::TensorImpl, whose
 * sizes and type stand at some offset that differs by version. It is found at run time, from tensors whose sizes are known
 * (tp_tensor_learn), and before that nothing is read.
 *
 * From the sizes on, in 64-bit words (c10::impl::SizesAndStrides, 1.10 to 2.x): how many; 5 of them, or a pointer to all
 * where there are more; 5 strides; the storage's offset; the number of elements; the type, 16 bits (caffe2::TypeMeta).
 */
#ifndef TPROF_OPS_TENSORS_H
#define TPROF_OPS_TENSORS_H

#include "core/fold.h"
#include "hooks/ops/parameters.h"

#define TP_TENSOR_DIMS 64u /* libtorch's own limit */
#define TP_TENSOR_INLINE 5u
#define TP_TENSOR_LENGTH 1024u /* of a list whose tensors are looked at */

enum { TP_TENSOR_OFFSET = 11, TP_TENSOR_ELEMENTS = 12, TP_TENSOR_TYPE = 13 }; /* words from the sizes on */

enum tp_optional {
	TP_OPTIONAL_UNKNOWN,
	TP_OPTIONAL_AHEAD,  /* whether there is one, then the tensor: c10::optional */
	TP_OPTIONAL_BEHIND, /* std::optional */
};

struct tp_tensor_layout {
	/* Of tensors that are nothing but that. Those of classes of their own keep no sizes there. 0: not known yet */
	uintptr_t vtable;
	uint32_t sizes;	   /* offset */
	uint32_t optional; /* enum tp_optional */
};
extern struct tp_tensor_layout tp_tensor_layout TP_NEAR;

/* Is that known? */
static inline bool tp_tensor_known(void)
{
	return tp_load_acquire(&tp_tensor_layout.vtable) != 0; /* pairs with tp_tensor_learn(): the rest is there */
}

/* A function that makes a tensor of these sizes returned it. `type`: of it, + 1 (c10::ScalarType); 0: not known. */
void tp_tensor_learn(uintptr_t tensor, const int64_t *sizes, size_t count, uint32_t type);

/* What is known of an argument of that kind, after a look that can't fault: is a tensor in it, that is nothing but that? */
enum tp_tensor_look {
	TP_LOOK_WRONG, /* it is no such argument */
	TP_LOOK_NONE,  /* it may be, but has no such tensor */
	TP_LOOK_GOOD,
};
enum tp_tensor_look tp_tensor_look(uint8_t part, const uintptr_t *frame, int offset);

/* ---- of a call whose tensors are where they should be ---- */

/* The sizes of a tensor, by the address of its c10::TensorImpl. NULL: it keeps none there. *count is below TP_TENSOR_DIMS. */
static inline const uint64_t *tp_tensor_sizes(uintptr_t impl, uint64_t *count, uint64_t *head)
{
	const uint64_t *words = (const uint64_t *)(impl + tp_tensor_layout.sizes);

	if (tp_unlikely(*(const uintptr_t *)impl != tp_load(&tp_tensor_layout.vtable)))
		return NULL;
	*count = words[0];
	*head = words[0] ^ (words[TP_TENSOR_TYPE] & UINT16_MAX) << 8 ^ words[TP_TENSOR_ELEMENTS] << 24;
	if (tp_likely(*count <= TP_TENSOR_INLINE))
		return words + 1;
	return *count <= TP_TENSOR_DIMS ? (const uint64_t *)words[1] : NULL;
}

static inline uint64_t tp_tensor_hash(uint64_t hash, uintptr_t impl)
{
	uint64_t count, head;
	const uint64_t *sizes = tp_tensor_sizes(impl, &count, &head);

	if (tp_unlikely(!sizes))
		return (hash ^ 0x80) * TP_FOLD_MIX;
	hash = (hash ^ head) * TP_FOLD_MIX;
	for (uint64_t i = 0; i < count; i++)
		hash = (hash ^ sizes[i]) * TP_FOLD_MIX;
	return hash;
}

/* An argument's tensors. A tensor is one; an optional that is empty, and a list of a kind that is not known, has none. */
struct tp_tensors {
	const uintptr_t *tensors;
	uint64_t count;
	bool is_list;
};

/* Of the words that it is passed in, `frame` + `offset`. The second one in registers is kept below the first. */
static inline struct tp_tensors tp_tensors_of(uint8_t part, const uintptr_t *frame, int offset)
{
	const uintptr_t *at = (const uintptr_t *)frame[offset];
	bool ahead;

	switch (part) {
	case TP_TENSOR_OPTIONAL:
		ahead = tp_load(&tp_tensor_layout.optional) == TP_OPTIONAL_AHEAD;
		return (struct tp_tensors){ at + ahead, *(const uint8_t *)&at[!ahead], false };
	case TP_TENSOR_LIST:
		return (struct tp_tensors){ at, frame[offset < 0 ? offset - 1 : offset + 1], true };
	case TP_TENSOR_LIST_REF: /* a list by its address and length, if it is of the first kind */
		return (struct tp_tensors){ (const uintptr_t *)at[0], (uint32_t)at[2] ? 0 : at[1], true };
	default:
		return (struct tp_tensors){ at, 1, false };
	}
}

static inline uint64_t tp_tensors_hash(uint64_t hash, uint8_t part, const uintptr_t *frame, int offset)
{
	struct tp_tensors all;

	if (tp_likely(part <= TP_TENSOR_OUT))
		return tp_tensor_hash(hash, *(const uintptr_t *)frame[offset]);
	all = tp_tensors_of(part, frame, offset);
	hash = (hash ^ (0x81 + all.count)) * TP_FOLD_MIX;
	for (uint64_t i = 0; i < all.count && all.count <= TP_TENSOR_LENGTH; i++)
		hash = tp_tensor_hash(hash, all.tensors[i]);
	return hash;
}

#endif
