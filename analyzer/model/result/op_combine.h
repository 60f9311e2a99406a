/* SPDX-License-Identifier: Apache-2.0 */
/* The ops of all processes of a run together: those of the same name and category are one. */
#ifndef TPROF_MODEL_RESULT_OP_COMBINE_H
#define TPROF_MODEL_RESULT_OP_COMBINE_H

#include "model/result/result.h"

/*
 * By total time; to be freed with tpa_ops_result_free(). Counts, times, work and bytes are sums, peaks the largest of any
 * process; percentiles are of all calls, moments of all that are no warm-up in their process. `op` numbers say nothing.
 */
struct tpa_op_stats *tpa_ops_combine(const struct tpa_run *run, size_t *count);

#endif
