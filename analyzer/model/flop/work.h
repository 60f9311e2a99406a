/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of a typed kernel: shape, FLOP and bytes of a WORK record. One table has a row for each kind, with the
 * formulas and their sources. Work without a formula is unknown; nothing is guessed.
 */
#ifndef TPROF_MODEL_FLOP_WORK_H
#define TPROF_MODEL_FLOP_WORK_H

#include "trace/payload.h"

/* Precision of the arithmetic, for the precisions that processors have units for. A complex number has that of its real parts. */
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
 * FLOP: additions, subtractions, multiplications, divisions and comparisons of real numbers; a complex addition is 2 FLOP, a
 * complex multiplication 6.
 * Bytes: the least that must be moved. Each element of an operand is read once, and each element of a result is written once. An
 * operand that is read and overwritten counts twice, but a C that is scaled by beta counts once, because beta is unknown and
 * usually 0.
 */
struct tpa_work_amount {
	bool flop_known, bytes_known; /* false: the number is 0 */
	uint64_t flop, bytes;
	enum tpa_precision precision;
};

/* Work of all folded calls together. */
struct tpa_work_amount tpa_fold_amount(const struct tpa_folded *folded);

/*
 * Like tpa_work_shape(). If the calls' dimension varied: a range between powers of two, such as "n=64..127". "": the calls were not
 * typed.
 */
void tpa_fold_shape(const struct tpa_folded *folded, char *text, size_t size);

/* Returns amount * count; UINT64_MAX if that does not fit. */
uint64_t tpa_work_times(uint64_t amount, uint64_t count);

/* FLOP and bytes of one call. Numbers that don't fit become UINT64_MAX. */
struct tpa_work_amount tpa_work_amount(const struct tpa_work *work);

/* Writes the shape as text: "m=64 n=10 k=128 TN"; "kind 99: 1 2 3" for an unknown kind. Cut at `size` bytes, always terminated. */
void tpa_work_shape(const struct tpa_work *work, char *text, size_t size);

/*
 * Do the FLOP of this kind count for utilisation (model FLOP; Chowdhery et al., PaLM, 2022, appendix B)? Those of matrix products
 * and the like do, those of element-wise work don't. Those of an unknown kind do.
 */
bool tpa_work_is_matrix(uint32_t kind);

/* The kind's name ("gemm"); "?" if it is unknown. */
const char *tpa_work_name(uint32_t kind);

#endif
