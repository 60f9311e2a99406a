/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed kernels: hooked functions whose arguments are understood. When such a call begins, a WORK event tells what it
 * works on (include/tprof/work.h): the raw dimensions, no text and no FLOP.
 *
 * Another kernel is added so:
 *   - a kind in include/tprof/work.h, if none fits, and its row in analyzer/model/flop/work.c (shape, FLOP, bytes, source);
 *   - a preset's choose() that fills in choice->signature (hooks/ops/select.h). If the dimensions are plain arguments,
 *     by tpc_signature_add() as blas.c does it; else by `read`, which gets the stub's frame, takes arguments with
 *     tpc_argument(), and fills *work. It runs before each call, between two calls that must not touch vector registers:
 *     no libc, no allocation, no lock; what it needs of the library it looks up when the object it is about is made.
 */
#ifndef TPROF_HOOKS_OPS_TYPED_H
#define TPROF_HOOKS_OPS_TYPED_H

#include "core/fold.h"

#define TPC_SIGNATURE_PARTS 7u
#define TPC_OP_SILENT UINT32_MAX
#define TPC_OP_OWN (UINT32_MAX - 1)
#define TPC_OP_WAITS (UINT32_MAX - 2)

/* 32 bytes of the stub's frame that the hook may use while the call lasts. */
#define TPC_OP_SPACE(frame) ((void *)((frame)-14))

/* Where the function is that is called, while the call lasts. */
#define TPC_OP_CALLED(frame) ((void *)(frame)[-9])

/* What the function returned in rax, once it has. */
#define TPC_OP_RESULT(frame) ((frame)[-7])

enum tpc_part {
	TPC_PART_DIM,	  /* the next dimension */
	TPC_PART_TRANS_A, /* BLAS's N, T, C, R or CBLAS's 111 to 114; R and 114 only conjugate, in OpenBLAS */
	TPC_PART_TRANS_B,
	TPC_PART_SIDE,	 /* L, R or 141, 142 */
	TPC_PART_QUERY,	 /* LAPACK's lwork: -1 asks for its size */
	TPC_PART_TENSOR, /* + enum tpc_tensor_part (hooks/ops/parameters.h) */
};

struct tpc_signature {
	uint16_t kind;	       /* enum tprof_work; 0: not typed */
	uint8_t dtype;	       /* enum tprof_dtype */
	uint8_t flags;	       /* of each call */
	bool by_reference : 1; /* arguments are pointers (Fortran) */
	bool wide : 1;	       /* integers have 64 bits */
	bool stack_known : 1;
	bool tells_usage : 1; /* its end may end a step: a USAGE record is written (core/usage.h) */
	/* The next two may change while other threads read them: hooks/ops/shapes.h. */
	tpc_shared_bool learns; /* the next calls will tell where its tensors are; `parts` are a guess */
	tpc_shared_bool shaped; /* `parts` are its tensors; not typed */
	uint8_t stack;		/* if known: 8-byte words of stack arguments; more do no harm */
	uint8_t parts;
	struct {
		uint8_t part;  /* enum tpc_part */
		int8_t offset; /* relative to the stub's frame, in 8-byte words */
	} part[TPC_SIGNATURE_PARTS];

	/*
	 * Tells which op a call is, if not always the function's own (else NULL): its number, 0 if unknown, TPC_OP_OWN
	 * for the function's own, or TPC_OP_SILENT for no op at all: such a call causes no event within the op around
	 * it; or TPC_OP_WAITS for no op either, whose end may cause an event (hooks/ops/waits.h). It is asked first with
	 * `may_write` false, when no vector register may be touched; if it returns 0, again with true, when it may ask the
	 * library and make a number.
	 */
	uint32_t (*op)(const uintptr_t *frame, bool may_write);
	/* Called when the op has begun; may change arguments; NULL: nothing. */
	void (*begun)(const struct tpc_signature *signature, uintptr_t *frame);
	bool (*read)(const uintptr_t *frame, struct tpc_work *work); /* replaces the parts; false: unknown */
	/* Called when the call has returned; NULL: nothing. Arguments 0 and 1 are available. */
	void (*after)(const uintptr_t *frame);
	/*
	 * Called when the call has returned, before its end is recorded, in the recording thread; each call has events of
	 * its own then. It may touch vector registers, so only for functions that neither take nor return any. Of the
	 * arguments in registers number 2 is lost, and what the function returned is in TPC_OP_RESULT(). NULL: nothing.
	 */
	void (*ended)(const struct tpc_signature *signature, const uintptr_t *frame, uint64_t ticks);
	/*
	 * Of functions that are called again and again until something is there: has the call, which has returned, found nothing?
	 * Then it is counted with others like it, and `ended` is not called. `begun` is called while such a call is
	 * pending, and must cause no event. NULL: each call is for `ended`.
	 */
	bool (*idle)(const struct tpc_signature *signature, const uintptr_t *frame);
	const void *about;	     /* for `begun` and `ended` */
	uint8_t way;		     /* the same */
	bool unhooked;		     /* the function itself is no op: `bound` handles what it leads to */
	void (*bound)(void *target); /* called when the function was found, outside of any hook; NULL: nothing */
};

/* Where trampoline.S keeps general-purpose argument `i` (0, 1, ...; floating-point arguments don't count). */
static inline int tpc_argument_offset(unsigned i)
{
	return i < 6 ? -1 - (int)i : (int)i - 4;
}

static inline uintptr_t tpc_argument(const uintptr_t *frame, unsigned i)
{
	return frame[tpc_argument_offset(i)];
}

/* Says that argument `i` is that part. At most TPC_SIGNATURE_PARTS. */
static inline void tpc_signature_add(struct tpc_signature *signature, enum tpc_part part, unsigned i)
{
	signature->part[signature->parts].part = (uint8_t)part;
	signature->part[signature->parts++].offset = (int8_t)tpc_argument_offset(i);
}

/* Is the work of a call given by one 32-bit length, its first argument? */
static inline bool tpc_typed_by_first(const struct tpc_signature *signature)
{
	return signature->parts == 1 && !signature->wide && signature->part[0].part == TPC_PART_DIM &&
	       signature->part[0].offset == tpc_argument_offset(0);
}

/* Likewise, and nothing else needs to be known, and no argument is on the stack. */
static inline bool tpc_op_is_short(const struct tpc_signature *signature)
{
	return signature->kind && tpc_typed_by_first(signature) && signature->stack_known && !signature->stack &&
	       !signature->op && !signature->read && !signature->begun && !signature->after && !signature->ended;
}

static inline int64_t tpc_typed_number(const struct tpc_signature *signature, uintptr_t value)
{
	if (signature->wide)
		return signature->by_reference ? *(const int64_t *)value : (int64_t)value;
	return signature->by_reference ? *(const int32_t *)value : (int32_t)value;
}

static inline void tpc_typed_flag(const struct tpc_signature *signature, uint8_t part, uintptr_t value,
				  struct tpc_work *work)
{
	bool usual;

	if (part == TPC_PART_QUERY) {
		if (tpc_typed_number(signature, value) == -1)
			work->flags |= TPROF_WORK_QUERY;
		return;
	}
	value = signature->by_reference ? *(const uint8_t *)value & 0xdf : (uint32_t)value;
	if (part == TPC_PART_SIDE)
		usual = value == (signature->by_reference ? 'L' : 141);
	else
		usual = signature->by_reference ? value == 'N' || value == 'R' : value == 111 || value == 114;
	if (!usual)
		work->flags |= part == TPC_PART_TRANS_A	  ? TPROF_WORK_TRANS_A
			       : part == TPC_PART_TRANS_B ? TPROF_WORK_TRANS_B
							  : TPROF_WORK_RIGHT;
}

/* Fills *work from the call's arguments. work->kind 0: not typed, or unknown. */
static inline void tpc_typed_read(const struct tpc_signature *signature, const uintptr_t *frame, struct tpc_work *work)
{
	uint8_t dims = 0;

	work->kind = signature->kind;
	if (!signature->kind)
		return;
	work->dtype = signature->dtype;
	work->flags = signature->flags;
	work->dims = 0;
	if (tpc_unlikely(signature->read)) {
		if (!signature->read(frame, work))
			work->kind = 0;
		return;
	}
	for (uint32_t i = 0; i < signature->parts; i++) {
		uintptr_t value = frame[signature->part[i].offset];

		if (tpc_likely(signature->part[i].part == TPC_PART_DIM)) {
			int64_t n = tpc_typed_number(signature, value);

			work->dim[dims++] = (uint64_t)(n & ~(n >> 63)); /* at least 0 */
		} else {
			tpc_typed_flag(signature, signature->part[i].part, value, work);
		}
	}
	work->dims = dims;
}

#endif
