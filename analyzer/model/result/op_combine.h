/* SPDX-License-Identifier: Apache-2.0 */
/* Combines the ops of all processes of a run: ops with the same name and category become one. */
#ifndef TPROF_MODEL_RESULT_OP_COMBINE_H
#define TPROF_MODEL_RESULT_OP_COMBINE_H

#include "model/result/result.h"

/*
 * Returns the combined ops, largest total time first, and sets *count; free them with tpa_ops_result_free(). Counts, times, work
 * and bytes are sums; peaks are the largest of any process. Percentiles cover all calls; moments (mean, interval) leave out the
 * warm-up calls of each process. The member `op` is not set. Names and categories point into the traces.
 */
struct tpa_op_stats *tpa_ops_combine(const struct tpa_run *run, size_t *count);

#endif
