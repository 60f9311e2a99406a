/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops of libtorch by the sizes and types of their tensors. A call's op number says them too: each function has one for each
 * combination that it was called with, and so a call's events are no longer for it (TPROF_TABLE_SHAPE).
 *
 * Where a function's tensors are when it is called is guessed by its symbol (hooks/ops/parameters.h), and its first calls
 * tell whether that is so (signature.learns): what it returns is in rax, which is the address of a result in memory, or of
 * the parameter that is written to. What is not confirmed has no shapes.
 */
#ifndef TPROF_OPS_SHAPES_H
#define TPROF_OPS_SHAPES_H

#include "hooks/ops/stubs.h"
#include "hooks/ops/tensors.h"

struct tpc_shape {
	tpc_shared_u64 key;	/* 0: empty */
	tpc_shared_u32 op;	/* 0: not yet published */
} __attribute__((aligned(16))); /* none is in two cache lines */

/*
 * At most half full, and no larger than that asks for: what a program's steps go round in has few shapes, and in a large
 * table each of them would be on a page of its own, which is met too seldom to stay in the processor's caches.
 */
struct tpc_shapes {
	uint32_t bits;	     /* an index is as many upper bits of a hash, TPC_SHAPES_BITS at most */
	tpc_shared_u32 used; /* slots */
	struct tpc_shape slots[];
};
typedef TPC_SHARED(struct tpc_shapes *) tpc_shapes_pointer;
extern tpc_shapes_pointer tpc_shapes TPC_NEAR;
#define TPC_SHAPES_BITS 16u

/* Fills in what the symbol of a function of libtorch says. `name`: the operator's, without its overload's. */
void tpc_shapes_choose(const char *symbol, const char *name, size_t length, struct tpc_signature *signature);

/* What its tensors are, as a number. Apart, like the next: in the way of calls that have none it would cost them registers. */
uint64_t tpc_shapes_hash(const struct tpc_signature *signature, uint32_t index, const uintptr_t *frame);

struct tpc_shape_found {
	uint32_t op;	/* its number; 0: none was given yet */
	uint32_t place; /* for tpc_shapes_fetch() */
};

/* The op that is called so. */
struct tpc_shape_found tpc_shapes_find(const struct tpc_signature *signature, uint32_t index, const uintptr_t *frame);

/* What was found at that place is soon to be found again: it is fetched. The place may be any. */
TPC_HOT void tpc_shapes_fetch(uint32_t place)
{
	__builtin_prefetch(&tpc_load(&tpc_shapes)->slots[place]);
}

/*
 * The same, made if it is not there. 0: nothing can be said of it, or there is no room. Not where vector registers must be
 * left alone. `function` has its own number.
 */
uint32_t tpc_shapes_number(const struct tpc_op_function *function, const uintptr_t *frame);

/* ---- of a function that learns ---- */

/* It is called: what is kept in its frame. */
void tpc_shapes_begun(struct tpc_op_function *function, const uintptr_t *frame);

/* It has returned, and that stands in the frame too: the op number that says the call's shapes; 0: not known. */
uint32_t tpc_shapes_returned(struct tpc_op_function *function, const uintptr_t *frame);

/* In a forked child: numbers are to be asked for again. */
void tpc_shapes_forget(void);

#endif
