/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distinguishes libtorch's ops by the sizes and types of their tensors. The number of an op includes them: a function
 * has one number for each combination it was called with, so the events of a call are no longer for it
 * (TPROF_TABLE_SHAPE).
 *
 * Where a function's tensors are is guessed from its symbol (hooks/ops/parameters.h), and its first calls check the
 * guess (signature.learns): rax holds what it returns, the address of a result in memory or of the parameter that is
 * written to. An unconfirmed function has no shapes.
 */
#ifndef TPROF_OPS_SHAPES_H
#define TPROF_OPS_SHAPES_H

#include "hooks/ops/stubs.h"
#include "hooks/ops/tensors.h"

struct tpc_shape {
	tpc_shared_u64 key;	/* 0: empty */
	tpc_shared_u32 op;	/* 0: not yet published */
} __attribute__((aligned(16))); /* within one cache line */

/*
 * At most half full, and no larger than needed: the steps of a program use few shapes. In a large table each would be
 * on a page of its own, used too rarely to stay in the processor's caches.
 */
struct tpc_shapes {
	uint32_t bits;	     /* an index is this many upper bits of a hash, at most TPC_SHAPES_BITS */
	tpc_shared_u32 used; /* slots */
	struct tpc_shape slots[];
};
typedef TPC_SHARED(struct tpc_shapes *) tpc_shapes_pointer;
extern tpc_shapes_pointer tpc_shapes TPC_NEAR;
#define TPC_SHAPES_BITS 16u

/* Fills in what the symbol of a libtorch function tells. `name`: of the operator, without its overload. */
void tpc_shapes_choose(const char *symbol, const char *name, size_t length, struct tpc_signature *signature);

/* A hash of its tensors. Not inlined, like the next: it would cost registers in calls without tensors. */
uint64_t tpc_shapes_hash(const struct tpc_signature *signature, uint32_t index, const uintptr_t *frame);

struct tpc_shape_found {
	uint32_t op;	/* its number; 0: it has none yet */
	uint32_t place; /* for tpc_shapes_fetch() */
};

/* The op of a call with these tensors. */
struct tpc_shape_found tpc_shapes_find(const struct tpc_signature *signature, uint32_t index, const uintptr_t *frame);

/* Prefetches what was found at that place, which may be any: it will probably be found again. */
TPC_HOT void tpc_shapes_fetch(uint32_t place)
{
	__builtin_prefetch(&tpc_load(&tpc_shapes)->slots[place]);
}

/*
 * The same; makes the op if it is missing. 0: nothing is known, or there is no room. Not where vector registers must be
 * left alone. `function` has a number of its own.
 */
uint32_t tpc_shapes_number(const struct tpc_op_function *function, const uintptr_t *frame);

/* ---- of a function that learns ---- */

/* The function was called: notes what it needs in its frame. */
void tpc_shapes_begun(struct tpc_op_function *function, const uintptr_t *frame);

/* The function has returned, and rax is in the frame, too: the op number with the call's shapes; 0: unknown. */
uint32_t tpc_shapes_returned(struct tpc_op_function *function, const uintptr_t *frame);

/* In a forked child: numbers are to be asked for again. */
void tpc_shapes_forget(void);

#endif
