/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/shapes.h"

#include "core/assert.h"
#include "core/space.h"
#include "core/sys.h"
#include "core/tables.h"
#include "core/varint.h"
#include "hooks/ops/names.h"

#define CONFIRMED 2u /* calls that confirm a guess */
#define TRIED 256u   /* calls after which the function stops learning */
#define BYTES 1024u  /* for the tensors of a SHAPE record */
#define RESULT (-7)  /* where trampoline.S keeps rax, when the call has returned */
#define MARK UINT64_C(0x7368617065730000)

#define FIRST_BITS 10u /* size of the first table */
#define MORE_BITS 2u   /* by which the next one is larger */

tpc_shapes_pointer tpc_shapes TPC_LOOKED_AT; /* NULL: there is none yet */

/* In the frame of a call while its function learns (TPC_OP_SPACE). */
struct noted {
	uint64_t mark;	/* MARK ^ frame, if it was noted */
	uint64_t third; /* argument */
	uint64_t op;	/* what the call is if the guess is right; or 0 */
};

enum { AS_SAID, MOVING, MOVED }; /* struct tpc_op_function's `moved`; MOVING: a thread is moving them */

/* ---- by the symbol ---- */

/* Do these functions return a tensor with the sizes of their first parameter? */
static bool makes(const char *name, size_t length)
{
	static const char *const names[] = {
		"empty_memory_format", "empty_strided", "zeros", "ones", "full", "rand", "randn"
	};

	for (size_t i = 0; i < TPC_LENGTH(names); i++)
		if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
			return true;
	return false;
}

/* add_ and add__Tensor, by libtorch's rule, and not __and__ */
static bool is_in_place(const char *name, size_t length)
{
	for (size_t i = length - 1; i > 0; i--)
		if (name[i - 1] == '_' && name[i] == '_' &&
		    (i + 1 == length || (name[i + 1] >= 'A' && name[i + 1] <= 'Z')))
			return i > 1 && name[0] != '_';
	return length > 1 && name[0] != '_' && name[length - 1] == '_';
}

void tpc_shapes_choose(const char *symbol, const char *name, size_t length, struct tpc_signature *signature)
{
	struct tpc_tensor_parts parts;

	_Static_assert(TPC_TENSOR_PARTS <= TPC_SIGNATURE_PARTS, "room for each");
	if (!tpc_parameter_tensors(symbol, is_in_place(name, length), &parts) || parts.mutable_count > 1)
		return; /* whether several are returned in memory depends on the library */
	signature->parts = parts.count;
	for (uint32_t i = 0; i < parts.count; i++) {
		signature->part[i].part = (uint8_t)(TPC_PART_TENSOR + parts.part[i]);
		signature->part[i].offset = parts.offset[i];
	}
	tpc_unshared(signature->learns) = parts.count || (parts.sizes_first && makes(name, length));
}

/* ---- numbers ---- */

static inline uint64_t hash_of(const struct tpc_signature *signature, uint32_t index, const uintptr_t *frame)
{
	uint64_t hash = index * TPC_FOLD_MIX;

	for (uint32_t i = 0; i < signature->parts; i++)
		hash = tpc_tensors_hash(hash, signature->part[i].part - TPC_PART_TENSOR, frame,
					signature->part[i].offset);
	return hash;
}

uint64_t tpc_shapes_hash(const struct tpc_signature *signature, uint32_t index, const uintptr_t *frame)
{
	return hash_of(signature, index, frame);
}

static inline struct tpc_shape *slot_of(struct tpc_shapes *in, uint64_t i)
{
	return &in->slots[i & ((UINT64_C(1) << in->bits) - 1)];
}

struct tpc_shape_found tpc_shapes_find(const struct tpc_signature *signature, uint32_t index, const uintptr_t *frame)
{
	uint64_t hash = hash_of(signature, index, frame);
	struct tpc_shapes *in = tpc_load_acquire(&tpc_shapes); /* pairs with grow(): it is filled */

	if (tpc_unlikely(!in))
		return (struct tpc_shape_found){ 0, 0 };
	for (uint64_t i = hash >> (64 - in->bits);; i++) {
		const struct tpc_shape *at = slot_of(in, i);
		uint64_t there = tpc_load_acquire(&at->key); /* pairs with keep() */

		if (tpc_likely(there == (hash | 1)))
			return (struct tpc_shape_found){ tpc_load_acquire(&at->op), (uint32_t)(at - in->slots) };
		if (!there)
			return (struct tpc_shape_found){ 0, 0 };
	}
}

struct writer {
	uint8_t bytes[BYTES];
	uint8_t *at; /* NULL: there was no room */
};

static void put(struct writer *to, uint64_t number)
{
	if (to->at && to->at - to->bytes <= (ptrdiff_t)(BYTES - 10))
		to->at = tpc_put_uvarint(to->at, number);
	else
		to->at = NULL;
}

/* Symbolic sizes are stored elsewhere: then the words do not agree with the number of elements. */
static bool agrees(const uint64_t *sizes, uint64_t count, uint64_t head)
{
	uint64_t elements = 1;

	for (uint64_t i = 0; i < count; i++)
		elements *= sizes[i];
	return head >> 24 == (elements & UINT64_MAX >> 24);
}

static void put_tensor(struct writer *to, uintptr_t impl)
{
	uint64_t count, head;
	const uint64_t *sizes = tpc_tensor_sizes(impl, &count, &head);

	if (!sizes || !agrees(sizes, count, head)) {
		put(to, TPROF_TENSOR_NONE);
		return;
	}
	put(to, TPROF_TENSOR_TYPE + (head >> 8 & UINT16_MAX));
	put(to, count);
	for (uint64_t i = 0; i < count; i++)
		put(to, sizes[i]);
}

static void put_tensors(struct writer *to, const struct tpc_signature *signature, const uintptr_t *frame)
{
	for (uint32_t i = 0; i < signature->parts; i++) {
		uint8_t part = signature->part[i].part - TPC_PART_TENSOR;
		struct tpc_tensors all = tpc_tensors_of(part, frame, signature->part[i].offset);

		if (all.is_list) {
			put(to, TPROF_TENSOR_LIST);
			put(to, all.count);
		} else if (!all.count) {
			put(to, TPROF_TENSOR_NONE);
		}
		for (uint64_t k = 0; k < all.count && to->at; k++)
			put_tensor(to, all.tensors[k]);
	}
}

/* The op with that key, of a function and its shapes; the lowest bit tells a key from an empty slot. 0: none. */
static uint32_t kept(struct tpc_shapes *in, uint64_t key)
{
	for (uint64_t i = key >> (64 - in->bits);; i++) {
		const struct tpc_shape *at = slot_of(in, i);
		uint64_t there = tpc_load_acquire(&at->key); /* pairs with keep(), as does the next */

		if (there == key)
			return tpc_load_acquire(&at->op);
		if (!there)
			return 0;
	}
}

/*
 * Stores the op; there is an empty slot. Another thread may store the same key with another number, which means the
 * same.
 */
static void keep(struct tpc_shapes *in, uint64_t key, uint32_t op)
{
	for (uint64_t i = key >> (64 - in->bits);; i++) {
		struct tpc_shape *at = slot_of(in, i);

		if (tpc_load(&at->key) == key)
			return;
		if (!tpc_load(&at->key) && tpc_swap_if(&at->key, UINT64_C(0), key)) {
			tpc_add(&in->used, 1);
			tpc_store_release(&at->op, op); /* pairs with tpc_shapes_find(): its records are there */
			return;
		}
	}
}

static size_t bytes_of(uint32_t bits)
{
	return sizeof(struct tpc_shapes) + (sizeof(struct tpc_shape) << bits);
}

static bool is_full(const struct tpc_shapes *in)
{
	return tpc_load(&in->used) >= 1u << (in->bits - 1);
}

static void copy_all(struct tpc_shapes *to, struct tpc_shapes *from)
{
	for (uint64_t i = 0; i < UINT64_C(1) << from->bits && !is_full(to); i++) {
		uint64_t key = tpc_load_acquire(&from->slots[i].key); /* pairs with keep(), as does the next */
		uint32_t op = tpc_load_acquire(&from->slots[i].op);

		if (key && op)
			keep(to, key, op);
	}
}

/* Other threads may still use the old table: shapes that the copy misses get a second number. */
static struct tpc_shapes *grow(struct tpc_shapes *old)
{
	uint32_t bits = old ? old->bits + MORE_BITS : FIRST_BITS;
	struct tpc_shapes *larger;

	if (bits > TPC_SHAPES_BITS || !(larger = tpc_space_take(bytes_of(bits))))
		return NULL;
	larger->bits = bits;
	if (old)
		copy_all(larger, old);
	tpc_assert(tpc_load(&larger->used) <= 1u << (bits - 1)); /* an empty slot ends each search */
	if (!tpc_swap_if(&tpc_shapes, old, larger))		 /* pairs with tpc_shapes_find() */
		tpc_space_give_back(larger, bytes_of(bits));	 /* another thread was first */
	else if (old)
		tpc_space_retire(old, bytes_of(old->bits), sizeof(*old));
	return tpc_load_acquire(&tpc_shapes);
}

/* A call without sizes counts as one of the function itself. */
static uint32_t new_number(const struct tpc_op_function *function, const struct writer *tensors)
{
	struct tpc_op_record record = { .op = tpc_op_new_number(),
					.origin = TPROF_OP_FUNCTION,
					.category = function->category,
					.category_length = strlen(function->category),
					.name = function->name,
					.name_length = strlen(function->name) };

	if (!record.op)
		return 0;
	tpc_table_op(&record);
	tpc_table_shape(record.op, tensors->bytes, (size_t)(tensors->at - tensors->bytes));
	return record.op;
}

uint32_t tpc_shapes_number(const struct tpc_op_function *function, const uintptr_t *frame)
{
	uint64_t key = 1 | tpc_shapes_hash(&function->signature, (uint32_t)(function - tpc_op_functions), frame);
	struct tpc_shapes *in = tpc_load_acquire(&tpc_shapes);
	struct writer tensors;
	uint32_t op = in ? kept(in, key) : 0;

	if (op)
		return op;
	if ((!in || is_full(in)) && !(in = grow(in)))
		return 0;
	tensors.at = tensors.bytes;
	put_tensors(&tensors, &function->signature, frame);
	op = tensors.at ? new_number(function, &tensors) : tpc_load(&function->op);
	if (op)
		keep(in, key, op);
	return op;
}

void tpc_shapes_forget(void)
{
	struct tpc_shapes *all = tpc_unshared(tpc_shapes);

	if (all)
		tpc_space_give_back(all, bytes_of(all->bits));
	tpc_unshared(tpc_shapes) = NULL;
}

/* ---- learning ---- */

/* Can the function's tensors be where they should be? TPC_LOOK_NONE: this call does not tell. */
static enum tpc_tensor_look look(const struct tpc_signature *signature, const uintptr_t *frame)
{
	enum tpc_tensor_look all = TPC_LOOK_NONE;

	for (uint32_t i = 0; i < signature->parts; i++) {
		uint8_t part = signature->part[i].part - TPC_PART_TENSOR;
		enum tpc_tensor_look one = tpc_tensor_look(part, frame, signature->part[i].offset);

		if (one == TPC_LOOK_WRONG)
			return one;
		all = one > all ? one : all;
		if (part == TPC_TENSOR_OPTIONAL && !tpc_load(&tpc_tensor_layout.optional))
			return TPC_LOOK_NONE;
	}
	return all;
}

void tpc_shapes_begun(struct tpc_op_function *function, const uintptr_t *frame)
{
	struct noted *noted = TPC_OP_SPACE(frame);

	_Static_assert(sizeof(struct noted) <= 32, "TPC_OP_SPACE");
	noted->third = tpc_argument(frame, 2);
	noted->op = 0;
	noted->mark = MARK ^ (uintptr_t)frame;
	if (tpc_tensor_known() && function->signature.parts && look(&function->signature, frame) == TPC_LOOK_GOOD)
		noted->op = tpc_shapes_number(function, frame);
}

static void stop(struct tpc_op_function *function, bool shaped)
{
	if (shaped)
		tpc_store_release(&function->signature.shaped, true); /* pairs with tpc_op_begin(): `parts` are there */
	tpc_store(&function->signature.learns, false);
	tpc_store(&function->ending, function->signature.tells_usage || function->signature.after ? function : NULL);
}

/* Learns from a function that makes a tensor. If the type is given, it follows the sizes: an optional, of two bytes. */
static void learn_layout(struct tpc_op_function *function, const uintptr_t *frame, const struct noted *noted)
{
	int64_t sizes[TPC_TENSOR_INLINE];
	uint64_t count = noted->third;

	if (!tpc_tensor_known() && frame[RESULT] == tpc_argument(frame, 0) && count <= TPC_LENGTH(sizes) &&
	    tpc_sys_copy(sizes, tpc_argument(frame, 1), count * sizeof(*sizes)))
		tpc_tensor_learn(frame[RESULT], sizes, count, 0);
	if (tpc_tensor_known())
		stop(function, false);
}

/* The parameter that is returned. NULL: none, a result is in memory. */
static const uintptr_t *returned(const struct tpc_signature *signature, const uintptr_t *frame)
{
	for (uint32_t i = 0; i < signature->parts; i++)
		if (signature->part[i].part == TPC_PART_TENSOR + TPC_TENSOR_OUT)
			return &frame[signature->part[i].offset];
	return NULL;
}

/* There is no result in memory, so all arguments are one register earlier. False: some are not in a register. */
static bool move(struct tpc_signature *signature)
{
	for (uint32_t i = 0; i < signature->parts; i++)
		if (signature->part[i].offset > -2 ||
		    (signature->part[i].part == TPC_PART_TENSOR + TPC_TENSOR_LIST && signature->part[i].offset == -6))
			return false;
	for (uint32_t i = 0; i < signature->parts; i++)
		signature->part[i].offset++;
	return true;
}

/* Is the parameter returned? rdx has changed meanwhile, but was noted. */
static bool is_returned(const uintptr_t *out, const uintptr_t *frame, const struct noted *noted)
{
	if (!out)
		return frame[RESULT] == tpc_argument(frame, 0);
	return frame[RESULT] == (out == &frame[tpc_argument_offset(2)] ? noted->third : *out);
}

uint32_t tpc_shapes_returned(struct tpc_op_function *function, const uintptr_t *frame)
{
	struct tpc_signature *signature = &function->signature;
	const struct noted *noted = TPC_OP_SPACE(frame);
	const uintptr_t *out = returned(signature, frame);

	if (noted->mark != (MARK ^ (uintptr_t)frame))
		return 0;
	if (!signature->parts) {
		learn_layout(function, frame, noted);
		return 0;
	}
	if (!tpc_tensor_known())
		return 0;
	if (tpc_add(&function->tried, 1u) + 1 >= TRIED) {
		stop(function, false);
		return 0;
	}
	/* Acquire: pairs with the release below. */
	if (tpc_load_acquire(&function->moved) == MOVED || is_returned(out, frame, noted)) {
		if (noted->op && tpc_add(&function->confirmed, 1) + 1u >= CONFIRMED)
			stop(function, true);
		return (uint32_t)noted->op;
	}
	if (!tpc_swap_if(&function->moved, (uint8_t)AS_SAID, (uint8_t)MOVING))
		return 0; /* another thread's call ended so */
	if (out || !move(signature))
		stop(function, false);
	tpc_store_release(&function->moved, (uint8_t)MOVED); /* pairs with the load above: all are moved */
	return 0;
}
