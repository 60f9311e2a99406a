/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of a typed kernel: shape, FLOP and bytes of a WORK record. One table has a row for each kind, with the
 * formulas and their sources. Work without a formula is unknown; nothing is guessed.
 */
#ifndef TPROF_MODEL_FLOP_WORK_H
#define TPROF_MODEL_FLOP_WORK_H

#include "trace/payload.h"

/* The precision of the arithmetic, if processors have units for it; complex numbers are two real ones. */
enum tpa_precision {
	TPA_SINGLE,
	TPA_DOUBLE,
	TPA_BF16,
	TPA_HALF,
	TPA_INT8,
	TPA_PRECISIONS,
	TPA_UNSAID = TPA_PRECISIONS, /* unknown, or another one */
};
extern const char *const tpa_precision_names[TPA_PRECISIONS]; /* "single", "double", "bf16", "f16", "int8" */

/*
 * FLOP: additions, subtractions, multiplications, divisions and comparisons with arithmetic of real numbers; a complex
 * addition is 2, a complex multiplication 6.
 * Bytes: the least that must be moved: each element of an operand is read once, and each element of a result written
 * once. What is read and overwritten counts twice, but a C that beta scales only once, because beta is unknown and
 * mostly 0.
 */
struct tpa_work_amount {
	bool flop_known, bytes_known; /* false: the number is 0 */
	uint64_t flop, bytes;
	enum tpa_precision precision;
};

/* The work of all calls together. */
struct tpa_work_amount tpa_fold_amount(const struct tpa_folded *folded);

/* Like tpa_work_shape(); "n=64..127" if the calls' dimension was not always the same. */
void tpa_fold_shape(const struct tpa_folded *folded, char *text, size_t size);

/* The work of `count` calls; the largest number if it does not fit. */
uint64_t tpa_work_times(uint64_t amount, uint64_t count);

/* Numbers that don't fit become the largest number. */
struct tpa_work_amount tpa_work_amount(const struct tpa_work *work);

/* "m=64 n=10 k=128 TN"; "kind 99: 1 2 3" for an unknown kind. Always terminated. */
void tpa_work_shape(const struct tpa_work *work, char *text, size_t size);

/*
 * Whether its FLOP count for utilisation (model FLOP; Chowdhery et al., PaLM, 2022, appendix B): matrix products and
 * the like do, element-wise work does not. An unknown kind does.
 */
bool tpa_work_is_matrix(uint32_t kind);

/* The kind's name ("gemm"); "?" if it is unknown. */
const char *tpa_work_name(uint32_t kind);

#endif
