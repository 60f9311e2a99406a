/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of what was found in the groups: by rank, by rank and step, by function, by communicator. */
#ifndef TPROF_MODEL_RANKS_SUMS_H
#define TPROF_MODEL_RANKS_SUMS_H

#include "model/ranks/analyze.h"

void tpa_ranks_sum(struct tpa_ranks *ranks, tpa_rank_op_name *name, void *context);

#endif
