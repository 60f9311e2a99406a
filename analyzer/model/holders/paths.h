/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of a search for what holds blocks. For the blocks of each stack: the vertex that dominates nine tenths of
 * them, and a path from a root through that vertex to one of them. A path consists of links; blocks of one type that
 * follow each other are one link.
 */
#ifndef TPROF_MODEL_HOLDERS_PATHS_H
#define TPROF_MODEL_HOLDERS_PATHS_H

#include "model/holders/dominators.h"
#include "model/holders/types.h"
#include "trace/append.h"

/* Describes a vertex; sets the name by which its parent holds it. */
typedef void tpa_holders_describe(void *context, uint32_t vertex, struct tpa_holders_type *type);
typedef void tpa_holders_edge(void *context, uint32_t vertex, char *name, size_t size);

struct tpa_holders_labels {
	tpa_holders_describe *describe;
	tpa_holders_edge *edge;
	void *context;
};

/* Adds the holders and their paths to *result, which must be all zero. `ticks`: the time of the search. */
void tpa_holders_paths(const struct tpa_holders_graph *graph, const struct tpa_dominators *dominators,
		       const struct tpa_holders_labels *labels, uint64_t ticks, struct tpa_holders_result *result);
void tpa_holders_result_free(struct tpa_holders_result *result);

#endif
