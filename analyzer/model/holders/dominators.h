/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would be freed together with a block: its dominator subtree, that is, all vertices to which every path from a
 * root leads through it. Uses the algorithm of Lengauer and Tarjan with path compression, O(edges * log vertices) for
 * any graph. (The iterative algorithm of Cooper, Harvey and Kennedy is shorter, but quadratic in the length of a list
 * whose nodes an array points to as well.)
 */
#ifndef TPROF_MODEL_HOLDERS_DOMINATORS_H
#define TPROF_MODEL_HOLDERS_DOMINATORS_H

#include "model/holders/graph.h"

struct tpa_dominators {
	uint32_t *above;   /* immediate dominator of each vertex; TPA_NO_VERTEX: not reached */
	uint32_t *place;   /* place of each vertex in preorder of the dominator tree */
	uint32_t *vertex;  /* vertex at each place */
	uint32_t reached;  /* number of vertices that have a place */
	uint64_t *bytes;   /* bytes that each vertex retains, that is, those of the blocks in its subtree */
	uint32_t *blocks;  /* the number of those blocks */
	uint32_t *subtree; /* number of vertices in the subtree; those of v have the places from place[v] on */
};

/* Finds the dominators of a graph; free them with tpa_dominators_free(). */
void tpa_dominators_find(struct tpa_dominators *dominators, const struct tpa_holders_graph *graph);
void tpa_dominators_free(struct tpa_dominators *dominators);

/* Does `above` dominate `vertex`? Each vertex dominates itself. Both must be reached. */
static inline bool tpa_dominates(const struct tpa_dominators *dominators, uint32_t above, uint32_t vertex)
{
	return dominators->place[vertex] - dominators->place[above] < dominators->subtree[above];
}

#endif
