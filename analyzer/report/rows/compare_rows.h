/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of variants shown side by side: labels of the columns, facts of each variant, and ops. */
#ifndef TPROF_REPORT_ROWS_COMPARE_ROWS_H
#define TPROF_REPORT_ROWS_COMPARE_ROWS_H

#include "machine/roofline.h"
#include "model/result/variants.h"
#include "report/rows/column.h"

#define TPA_LABEL_MAX 25u /* bytes, with the terminator */

/*
 * Writes a variant's label to `label` (TPA_LABEL_MAX bytes): the name of its trace file without folder, ".bin" and
 * the PID that the collector added. If another variant has the same name, or if only the PID is left: the program's
 * name, and those of its arguments that a variant of the same name lacks. "|" and control characters become "?".
 */
void tpa_compare_label(const struct tpa_variants *variants, size_t number, char *label);

/* GFLOP/s during the steps; 0: there are no steps. */
double tpa_compare_gflops(const struct tpa_variant *variant);

/*
 * The share of the cores' peak that the matrix FLOP of the steps reach, see tpa_roof_utilisation(). Cores and
 * precision are those of the first run. -1: unknown.
 */
double tpa_compare_utilisation(const struct tpa_machine *machine, const struct tpa_variant *variant);

/* An op, and the largest share and peak (bytes) that it has in any variant. */
struct tpa_compare_op {
	const struct tpa_variant_op *op;
	double share;
	uint64_t peak;
	bool chosen;
};

/* Lists the ops of all variants, each once, unsorted. The caller frees the list. */
struct tpa_compare_op *tpa_compare_ops(const struct tpa_variants *variants, size_t *count);

/* The largest of the variant's runs; zeros: no run was sampled. */
struct tpa_unseen tpa_compare_unseen(const struct tpa_variant *variant);

/*
 * All facts of a variant except its ops. Rows are struct tpa_variant. The context's `more` must be the struct
 * tpa_machine, or NULL if it is unknown.
 */
extern const struct tpa_column tpa_variant_columns[];

/* Comparison functions for qsort(): struct tpa_compare_op, largest first. */
int tpa_compare_by_share(const void *left, const void *right);
int tpa_compare_by_peak(const void *left, const void *right);

/*
 * The op of a row in a variant, NULL if the variant lacks it; and the place of an op under the roof. `machine` may be
 * NULL: unknown.
 */
const struct tpa_variant_op *tpa_compare_op_in(const struct tpa_variant *variant, const struct tpa_compare_op *row);
struct tpa_roof_place tpa_compare_place(const struct tpa_machine *machine, const struct tpa_variant *variant,
					const struct tpa_variant_op *op);

#endif
