/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rounding shapes up to a few buckets would save. The first call with a shape costs more than the rest (a kernel
 * is compiled, a primitive created, a plan made), but rounding up adds work.
 *
 *   each number of a shape is rounded up to a power of two; shapes that are then equal share a bucket
 *   excess   = mean, over shapes with more than one call, of max(0, first call - mean of its others)
 *   saved    = (shapes - buckets) * excess
 *   padding  = sum over shapes of calls * mean of its others * (work(rounded) / work(shape) - 1)
 *   work     = sum over operands, which commas separate, of the product of their numbers
 */
#ifndef TPROF_MODEL_OPS_BUCKETS_H
#define TPROF_MODEL_OPS_BUCKETS_H

#include "model/ops/op_stats.h"

struct tpa_buckets {
	size_t shapes, buckets;
	double excess_ns, saved_ns, padding_ns;
};

/* Leaves out shapes without an entry of their own (text NULL) and shapes without a number. */
struct tpa_buckets tpa_buckets_of(const struct tpa_op_stats *op);

/*
 * The work of a shape. *rounded_work: the work of its bucket. `rounded`: NULL, or at least 4 * strlen(shape) + 1 bytes
 * for the bucket's name.
 */
double tpa_shape_work(const char *shape, char *rounded, double *rounded_work);

#endif
