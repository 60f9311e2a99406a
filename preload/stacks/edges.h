/* SPDX-License-Identifier: Apache-2.0 */
/* Edges of stacks/recall.h, by key: (start) or (branch, value) -> branch or leaf. */
#ifndef TPROF_STACKS_EDGES_H
#define TPROF_STACKS_EDGES_H

#include "stacks/recall.h"

/* The edge of that key, or the unused one where it is to be. */
static inline struct tpc_recall_edge *tpc_edge_of(struct tpc_recall *recall, uint64_t key)
{
	for (uint64_t at = key >> 36;; at += sizeof(struct tpc_recall_edge)) {
		struct tpc_recall_edge *edge =
			(struct tpc_recall_edge *)((uintptr_t)recall->edges + (at & recall->edge_mask));

		if (edge->key == key || !edge->key)
			return edge;
	}
}

static inline void tpc_edge_set(struct tpc_recall *recall, uint64_t key, uint32_t to, uint32_t distance)
{
	struct tpc_recall_edge *edge = tpc_edge_of(recall, key);

	recall->edge_count += !edge->key;
	*edge = (struct tpc_recall_edge){ key, to, distance };
}

/* How many there may be. */
static inline uint32_t tpc_edges_of(const struct tpc_recall *recall)
{
	return (uint32_t)(recall->edge_mask / sizeof(struct tpc_recall_edge)) + 1;
}

#endif
