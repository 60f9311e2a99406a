/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/hot.h"

#include "core/clock.h"
#include "hooks/ops/shapes.h"

/* Of trampoline.S. */
extern const char tpc_op_copied[], tpc_op_copied_kept[], tpc_op_copy_many[], tpc_op_copy_many_kept[];

_Static_assert(TPC_FOLD_PARTS == TPC_SIGNATURE_PARTS, "raw has room for each");

/* The value of an argument that is compared, uninterpreted. */
static inline uint64_t raw_part(const struct tpc_signature *signature, uint32_t i, const uintptr_t *frame)
{
	uintptr_t value = frame[signature->part[i].offset];
	uint8_t part = signature->part[i].part;

	if (signature->by_reference) {
		if (part != TPC_PART_DIM && part != TPC_PART_QUERY)
			return *(const uint8_t *)value;
		return signature->wide ? *(const uint64_t *)value : *(const uint32_t *)value;
	}
	return signature->wide && (part == TPC_PART_DIM || part == TPC_PART_QUERY) ? value : (uint32_t)value;
}

/* Another length of vectors: it is added to the others of the same power of two. */
static bool another_length(const struct tpc_signature *signature, struct tpc_fold_hot *hot, uint64_t raw)
{
	int64_t n = signature->wide ? (int64_t)raw : (int32_t)raw;

	if (n <= 0 || hot->work.dims != 1 || tpc_fold_size((uint64_t)n) != tpc_fold_size(hot->units) || !hot->count ||
	    !(hot->count->flags & TPROF_FOLD_MIXED))
		return false;
	hot->units = hot->work.dim[0] = (uint64_t)n;
	return true;
}

bool tpc_op_same(const uintptr_t *frame, struct tpc_fold_hot *hot, uint32_t index)
{
	const struct tpc_signature *signature = &tpc_op_functions[index].signature;

	if (hot->typed & TPC_HOT_BY_FP)
		return frame[0] - (uintptr_t)frame == hot->raw[0];
	if (tpc_load(&signature->shaped))
		return tpc_shapes_hash(signature, index, frame) == hot->raw[0];
	for (uint32_t i = 0; i < signature->parts; i++) {
		uint64_t raw = raw_part(signature, i, frame);

		if (tpc_likely(raw == hot->raw[i]))
			continue;
		if (signature->part[i].part != TPC_PART_DIM || !another_length(signature, hot, raw))
			return false;
		hot->raw[i] = raw;
	}
	return true;
}

/* From now on calls of that function from that place are found here. */
static void place(struct tpc_fold_hot *hot, uint32_t index, uintptr_t caller, uint64_t window)
{
	bool kept = tpc_op_functions[index].trampoline == TPC_TRAMPOLINE_KEPT;

	hot->caller = caller;
	hot->function = tpc_op_functions[index].address;
	hot->epoch = tpc_modules_renew();
	hot->window = (uint32_t)window;
	hot->align = (uint8_t)(-hot->window & 63);
	hot->copy = (uintptr_t)(kept ? tpc_op_copied_kept : tpc_op_copied) - window / 8 * TPC_ARCH_COPY_BYTES;
	if (window > TPC_WINDOW_NEAR)
		hot->copy = (uintptr_t)(kept ? tpc_op_copy_many_kept : tpc_op_copy_many);
	hot->typed = 0;
}

/* Which arguments are compared: for vectors mostly one length, the first argument. */
static uint16_t typed_by(const struct tpc_signature *signature)
{
	if (!tpc_typed_by_first(signature))
		return TPC_HOT_BY_PARTS;
	return TPC_HOT_BY_PARTS | TPC_HOT_BY_FIRST | (signature->by_reference ? TPC_HOT_BY_REFERENCE : 0);
}

/* Stores what trampoline.S needs to recognize a call like this. False: each call must be examined. */
static bool remember(struct tpc_fold_hot *hot, const struct tpc_hot_call *call)
{
	const struct tpc_signature *signature = &tpc_op_functions[call->index].signature;
	bool shaped = tpc_load(&signature->shaped), typed = (signature->kind || shaped) && signature->parts;

	if (tpc_clock_kind != TPROF_CLOCK_TSC || signature->ended || signature->op || signature->read ||
	    signature->begun || call->window.kind == TPC_WINDOW_VARIES ||
	    (typed && call->window.kind == TPC_WINDOW_BY_FP))
		return false;
	place(hot, call->index, call->frame[1], call->window.bytes);
	hot->typed = typed ? typed_by(signature) : 0;
	if (shaped)
		hot->raw[0] = tpc_shapes_hash(signature, call->index, call->frame);
	for (uint32_t i = 0; typed && !shaped && i < signature->parts; i++)
		hot->raw[i] = raw_part(signature, i, call->frame);
	if (call->window.kind == TPC_WINDOW_BY_FP) {
		hot->typed = TPC_HOT_BY_FP;
		hot->raw[0] = call->frame[0] - (uintptr_t)call->frame;
	}
	return true;
}

void tpc_hot_begin(struct tpc_thread *thread, const struct tpc_hot_call *call)
{
	const struct tpc_op_function *function = &tpc_op_functions[call->index];
	struct tpc_fold *fold = &thread->fold;
	/* A short op is looked up without its caller: trampoline.S. */
	uintptr_t caller = tpc_op_is_without_caller(function) ? 0 : call->frame[1];
	struct tpc_fold_hot *hot = tpc_fold_hot(fold, call->index, caller);
	const struct tpc_op_function *ending = function->signature.idle ? tpc_load(&function->ending) : NULL;
	bool by_counter = tpc_clock_kind == TPROF_CLOCK_TSC && !ending;

	hot->typed = 0;
	hot->key = remember(hot, call) ? fold->scope | call->index : 0;
	if (ending) {
		hot->typed = TPC_FOLD_POLL;
		hot->ending = ending;
	}
	tpc_fold_fill(fold, hot, call->slot, call->shape, call->op);
	tpc_fold_begin(fold, &thread->limit, hot, (uintptr_t)call->frame | !by_counter,
		       tpc_fold_times(fold, hot) ? call->ticks : 0);
}
