/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would be freed if a block went: its dominator subtree, that is, all to which every path from a root leads through it. By the
 * algorithm of Lengauer and Tarjan with path compression, O(edges * log vertices) for any graph. (The iterative one of Cooper, Harvey
 * and Kennedy is shorter, and quadratic in the length of a list to whose nodes an array points as well.)
 */
#ifndef TPROF_MODEL_HOLDERS_DOMINATORS_H
#define TPROF_MODEL_HOLDERS_DOMINATORS_H

#include "model/holders/graph.h"

struct tpa_dominators {
	uint32_t *above;  /* the immediate dominator of each vertex; TPA_NO_VERTEX: not reached */
	uint32_t *place;  /* in preorder of the dominator tree, by vertex */
	uint32_t *vertex; /* and back */
	uint32_t reached; /* vertices that have a place */
	uint64_t *bytes;  /* retained: of the subtree */
	uint32_t *blocks;
	uint32_t *subtree; /* vertices in it; those of v have places from place[v] on */
};

void tpa_dominators_find(struct tpa_dominators *dominators, const struct tpa_holders_graph *graph);
void tpa_dominators_free(struct tpa_dominators *dominators);

static inline bool tpa_dominates(const struct tpa_dominators *dominators, uint32_t above, uint32_t vertex)
{
	return dominators->place[vertex] - dominators->place[above] < dominators->subtree[above];
}

#endif
