/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a typed kernel does: shape, FLOP and bytes of a WORK record, by one table with a row for each kind, where the
 * formulas stand with their sources. What has no formula is not known; nothing is guessed.
 */
#ifndef TPROF_MODEL_FLOP_WORK_H
#define TPROF_MODEL_FLOP_WORK_H

#include "trace/payload.h"

/* What the arithmetic is done in, as far as processors have units for it; complex numbers are two of their parts. */
enum tp_precision {
	TP_SINGLE,
	TP_DOUBLE,
	TP_BF16,
	TP_HALF,
	TP_INT8,
	TP_PRECISIONS,
	TP_UNSAID = TP_PRECISIONS, /* nobody said, or it is another */
};
extern const char *const tp_precision_names[TP_PRECISIONS]; /* "single", "double", "bf16", "f16", "int8" */

/*
 * FLOP: additions, subtractions, multiplications, divisions and comparisons with arithmetic of real numbers; a complex
 * addition is 2, a complex multiplication 6. Bytes: what must be moved at least, each element of an operand read once
 * and of a result written once; what is read and overwritten counts twice, but a C that beta scales only once, as
 * beta is not known and mostly 0.
 */
struct tp_work_amount {
	bool flop_known, bytes_known; /* false: the number is 0 */
	uint64_t flop, bytes;
	enum tp_precision precision;
};

/* Of all calls together. */
struct tp_work_amount tp_fold_amount(const struct tp_folded *folded);

/* As tp_work_shape(); "n=64..127" if the calls' dimension was not always the same. */
void tp_fold_shape(const struct tp_folded *folded, char *text, size_t size);

/* Of so many calls; the largest number if it is more. */
uint64_t tp_work_times(uint64_t amount, uint64_t count);

/* Numbers that don't fit are the largest that do. */
struct tp_work_amount tp_work_amount(const struct tp_work *work);

/* "m=64 n=10 k=128 TN"; "kind 99: 1 2 3" if it is not known. Always terminated. */
void tp_work_shape(const struct tp_work *work, char *text, size_t size);

/*
 * Whether its FLOP are those of the model as utilisation has it (Chowdhery et al., PaLM, 2022, appendix B): products of
 * matrices and their like, and not what is done element by element. So is a kind that is not known, or not said.
 */
bool tp_work_is_matrix(uint32_t kind);

/* The kind's name ("gemm"); "?" if it is not known. */
const char *tp_work_name(uint32_t kind);

#endif
