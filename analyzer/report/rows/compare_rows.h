/* SPDX-License-Identifier: Apache-2.0 */
/* Variants side by side: what a column is called, and the ops that are rows. */
#ifndef TPROF_REPORT_ROWS_COMPARE_ROWS_H
#define TPROF_REPORT_ROWS_COMPARE_ROWS_H

#include "machine/roofline.h"
#include "model/result/variants.h"
#include "report/rows/column.h"

#define TPA_LABEL_MAX 25u /* bytes, with the end */

/*
 * The trace's file, without folder, suffix and the pid that the collector put into it. Where another variant's is called
 * the same: the program, and those of its arguments that one of these others lacks.
 */
void tpa_compare_label(const struct tpa_variants *variants, size_t number, char *label);

/* In the steps; 0: there are none. */
double tpa_compare_gflops(const struct tpa_variant *variant);

/* Of the model's FLOP, see tpa_roof_utilisation(). Of the first run's cores and precision; -1: not known. */
double tpa_compare_utilisation(const struct tpa_machine *machine, const struct tpa_variant *variant);

/* All ops of all variants, each once, the largest part that it has in any first. */
struct tpa_compare_op {
	const struct tpa_variant_op *op;
	double share;
	uint64_t peak;
	bool chosen;
};

/* The caller frees it. */
struct tpa_compare_op *tpa_compare_ops(const struct tpa_variants *variants, size_t *count);

/* Of the variant's runs the largest; zeros: none was sampled. */
struct tpa_unseen tpa_compare_unseen(const struct tpa_variant *variant);

/* What is told of a variant but its ops. Wants a context whose `more` is the machine, NULL: it is not known. */
extern const struct tpa_column tpa_variant_columns[];

/* For qsort(). */
int tpa_compare_by_share(const void *left, const void *right);
int tpa_compare_by_peak(const void *left, const void *right);

/* Of a variant: the op of a row, NULL: it has none; its place under the roof (`machine` NULL: not known). */
const struct tpa_variant_op *tpa_compare_op_in(const struct tpa_variant *variant, const struct tpa_compare_op *row);
struct tpa_roof_place tpa_compare_place(const struct tpa_machine *machine, const struct tpa_variant *variant,
					const struct tpa_variant_op *op);

#endif
