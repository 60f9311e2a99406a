/* SPDX-License-Identifier: Apache-2.0 */
/* For whom an operation waits that does not wait for all, or for the root. */
#ifndef TPROF_MODEL_RANKS_SOURCES_H
#define TPROF_MODEL_RANKS_SOURCES_H

#include "model/ranks/ranks.h"

/*
 * Of an operation of a flow TPA_FLOW_NEIGHBOURS or TPA_FLOW_PARTS: the index of the one in its group that came last of those from
 * which it receives something. TPA_RANK_NONE: there is none, or which they are is not known.
 */
uint32_t tpa_sources_last(const struct tpa_ranks *ranks, const struct tpa_rank_match *group,
			  const struct tpa_rank_op *op);

#endif
