/* SPDX-License-Identifier: Apache-2.0 */
/* Who in a group waits for whom. */
#ifndef TPROF_MODEL_RANKS_FLOWS_H
#define TPROF_MODEL_RANKS_FLOWS_H

#include "model/ranks/ranks.h"

/*
 * Whether the operation waits for others, and whether others wait for it. One that receives nothing does not wait; one that sends nothing
 * is not waited for, but by a barrier.
 */
static inline bool tpa_flow_waits(const struct tpa_rank_op *op)
{
	switch (op->flow) {
	case TPA_FLOW_BARRIER:
		return true;
	case TPA_FLOW_ALL:
	case TPA_FLOW_PREFIX:
		return op->received > 0;
	case TPA_FLOW_FROM_ROOT:
		return op->received > 0 && op->root >= 0 && op->place != (uint32_t)op->root;
	case TPA_FLOW_TO_ROOT:
		return op->received > 0 && op->root >= 0 && op->place == (uint32_t)op->root;
	default:
		return false;
	}
}

static inline bool tpa_flow_is_awaited(const struct tpa_rank_op *op)
{
	switch (op->flow) {
	case TPA_FLOW_BARRIER:
		return true;
	case TPA_FLOW_ALL:
	case TPA_FLOW_PREFIX:
		return op->sent > 0;
	case TPA_FLOW_FROM_ROOT:
		return op->sent > 0 && op->root >= 0 && op->place == (uint32_t)op->root;
	case TPA_FLOW_TO_ROOT:
		return op->sent > 0 && op->root >= 0 && op->place != (uint32_t)op->root;
	default:
		return false;
	}
}

#endif
