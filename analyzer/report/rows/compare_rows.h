/* SPDX-License-Identifier: Apache-2.0 */
/* Variants side by side: what a column is called, and the ops that are rows. */
#ifndef TPROF_REPORT_ROWS_COMPARE_ROWS_H
#define TPROF_REPORT_ROWS_COMPARE_ROWS_H

#include "machine/roofline.h"
#include "model/result/variants.h"

#define TP_LABEL_MAX 25u /* bytes, with the end */

/*
 * The trace's file, without folder, suffix and the pid that the collector put into it. Where another variant's is called
 * the same: the program, and those of its arguments that one of these others lacks.
 */
void tp_compare_label(const struct tp_variants *variants, size_t number, char *label);

/* In the steps; 0: there are none. */
double tp_compare_gflops(const struct tp_variant *variant);

/* Of the model's FLOP, see tp_roof_utilisation(). Of the first run's cores and precision; -1: not known. */
double tp_compare_utilisation(const struct tp_machine *machine, const struct tp_variant *variant);

/* All ops of all variants, each once, the largest part that it has in any first. */
struct tp_compare_op {
	const struct tp_variant_op *op;
	double share;
	uint64_t peak;
	bool chosen;
};

/* To be freed; NULL: memory is out. */
struct tp_compare_op *tp_compare_ops(const struct tp_variants *variants, size_t *count);

/* For qsort(). */
int tp_compare_by_share(const void *left, const void *right);
int tp_compare_by_peak(const void *left, const void *right);

/* Of a variant: the op of a row, NULL: it has none; its place under the roof (`machine` NULL: not known). */
const struct tp_variant_op *tp_compare_op_in(const struct tp_variant *variant, const struct tp_compare_op *row);
struct tp_roof_place tp_compare_place(const struct tp_machine *machine, const struct tp_variant *variant,
				      const struct tp_variant_op *op);

#endif
