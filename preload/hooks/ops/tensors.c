/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/tensors.h"

#include "core/sys.h"

#define FIRST 2u   /* word: a vtable pointer and a reference count come first */
#define PLACES 24u /* words at which the sizes may start */
#define AGREE 3u   /* tensors of different sizes that confirm a place */
#define TYPES 45u  /* values of c10::ScalarType; there will be more */

struct tpc_tensor_layout tpc_tensor_layout;

/* What is being learned, by one thread at a time; other threads skip it. */
static struct {
	uint32_t taken;
	uint32_t left;	      /* bit i: the sizes may be at word FIRST + i */
	uint64_t seen[AGREE]; /* hashes of sizes */
	uint32_t count;	      /* number of them; 0: starts from scratch */
	uintptr_t vtable;
} learned;

/* ---- the sizes ---- */

/* Are the sizes there, with the storage's offset, the number of elements and the type? `type`: + 1; 0: any. */
static bool stands_at(const uint64_t *words, const int64_t *sizes, size_t count, uint32_t type)
{
	uint16_t there = (uint16_t)words[TPC_TENSOR_TYPE];
	int64_t elements = 1;

	if (words[0] != count || words[TPC_TENSOR_OFFSET] != 0 || there >= TYPES || (type && there + 1u != type))
		return false;
	for (size_t i = 0; i < count; i++) {
		if ((int64_t)words[1 + i] != sizes[i])
			return false;
		elements *= sizes[i];
	}
	return (int64_t)words[TPC_TENSOR_ELEMENTS] == elements;
}

static bool is_new(const int64_t *sizes, size_t count)
{
	uint64_t hash = count + 1;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ (uint64_t)sizes[i]) * TPC_FOLD_MIX;
	for (uint32_t i = 0; i < learned.count; i++)
		if (learned.seen[i] == hash)
			return false;
	learned.seen[learned.count] = hash;
	return true;
}

static void look_at(uintptr_t impl, const int64_t *sizes, size_t count, uint32_t type)
{
	uint64_t words[FIRST + PLACES + TPC_TENSOR_TYPE + 1];

	if (!tpc_sys_copy(words, impl, sizeof(words)) || !is_new(sizes, count))
		return;
	if (!learned.count) {
		learned.left = (1u << PLACES) - 1;
		learned.vtable = words[0];
	}
	for (uint32_t i = 0; i < PLACES; i++)
		if (!stands_at(words + FIRST + i, sizes, count, type))
			learned.left &= ~(1u << i);
	learned.count = learned.vtable == words[0] && learned.left ? learned.count + 1 : 0;
	if (learned.count < AGREE)
		return;
	learned.count = 0;
	if (learned.left & (learned.left - 1)) /* more than one place */
		return;
	tpc_tensor_layout.sizes = (FIRST + (uint32_t)__builtin_ctz(learned.left)) * sizeof(uint64_t);
	tpc_store_release(&tpc_tensor_layout.vtable, learned.vtable); /* pairs with tpc_tensor_known() */
}

void tpc_tensor_learn(uintptr_t tensor, const int64_t *sizes, size_t count, uint32_t type)
{
	uintptr_t impl = 0;

	if (count < 1 || count > TPC_TENSOR_INLINE || tpc_tensor_known() || !tpc_swap_if(&learned.taken, 0u, 1u))
		return;
	if (!tpc_tensor_known() && tpc_sys_copy(&impl, tensor, sizeof(impl)))
		look_at(impl, sizes, count, type);
	tpc_store_release(&learned.taken, 0u); /* pairs with the swap of the next thread */
}

/* ---- arguments ---- */

static enum tpc_tensor_look look_at_impl(uintptr_t impl)
{
	uintptr_t vtable = 0, function;
	uint64_t count;

	if (!tpc_sys_copy(&vtable, impl, sizeof(vtable)) || !tpc_sys_copy(&function, vtable, sizeof(function)))
		return TPC_LOOK_WRONG;
	if (vtable != tpc_load(&tpc_tensor_layout.vtable))
		return TPC_LOOK_NONE;
	return tpc_sys_copy(&count, impl + tpc_tensor_layout.sizes, sizeof(count)) && count <= TPC_TENSOR_DIMS
		       ? TPC_LOOK_GOOD
		       : TPC_LOOK_WRONG;
}

/* One is enough: a pointer to a tensor is aligned, so its lowest byte is not 1. */
static void learn_optional(const uintptr_t *words)
{
	if ((uint8_t)words[0] == 1 && look_at_impl(words[1]) == TPC_LOOK_GOOD)
		tpc_store(&tpc_tensor_layout.optional, TPC_OPTIONAL_AHEAD);
	else if ((uint8_t)words[1] == 1 && look_at_impl(words[0]) == TPC_LOOK_GOOD)
		tpc_store(&tpc_tensor_layout.optional, TPC_OPTIONAL_BEHIND);
}

static enum tpc_tensor_look look_at_optional(const uintptr_t *words)
{
	uint32_t layout = tpc_load(&tpc_tensor_layout.optional);
	bool ahead;

	if (layout == TPC_OPTIONAL_UNKNOWN)
		learn_optional(words);
	layout = tpc_load(&tpc_tensor_layout.optional);
	ahead = layout == TPC_OPTIONAL_AHEAD;
	if (layout == TPC_OPTIONAL_UNKNOWN || !(uint8_t)words[!ahead])
		return TPC_LOOK_NONE;
	return (uint8_t)words[!ahead] == 1 ? look_at_impl(words[ahead]) : TPC_LOOK_WRONG;
}

static enum tpc_tensor_look look_at_list(const uintptr_t *words)
{
	uintptr_t impl = 0;

	if (words[1] > TPC_TENSOR_LENGTH)
		return TPC_LOOK_WRONG;
	if (!words[1])
		return TPC_LOOK_NONE;
	return tpc_sys_copy(&impl, words[0], sizeof(impl)) ? look_at_impl(impl) : TPC_LOOK_WRONG;
}

enum tpc_tensor_look tpc_tensor_look(uint8_t part, const uintptr_t *frame, int offset)
{
	uintptr_t words[3] = { frame[offset],
			       part == TPC_TENSOR_LIST ? frame[offset < 0 ? offset - 1 : offset + 1] : 0 };

	switch (part) {
	case TPC_TENSOR_LIST:
		return look_at_list(words);
	case TPC_TENSOR_LIST_REF:
		if (!tpc_sys_copy(words, frame[offset], sizeof(words)))
			return TPC_LOOK_WRONG;
		return (uint32_t)words[2] ? TPC_LOOK_NONE : look_at_list(words);
	case TPC_TENSOR_OPTIONAL:
		if (!tpc_sys_copy(words, frame[offset], 2 * sizeof(*words)))
			return TPC_LOOK_WRONG;
		return look_at_optional(words);
	default:
		if (!tpc_sys_copy(words, frame[offset], sizeof(*words)))
			return TPC_LOOK_WRONG;
		return look_at_impl(words[0]);
	}
}
