/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer of a search for what holds blocks: of each stack's blocks the vertex that dominates nine tenths of them, and a path from
 * a root through that vertex to one of them, as links, in which blocks of one type that follow each other are one.
 */
#ifndef TPROF_MODEL_HOLDERS_PATHS_H
#define TPROF_MODEL_HOLDERS_PATHS_H

#include "model/holders/dominators.h"
#include "model/holders/types.h"
#include "trace/append.h"

/* What a vertex is called, and by what name its parent holds it. */
typedef void tpa_holders_describe(void *context, uint32_t vertex, struct tpa_holders_type *type);
typedef void tpa_holders_edge(void *context, uint32_t vertex, char *name, size_t size);

struct tpa_holders_labels {
	tpa_holders_describe *describe;
	tpa_holders_edge *edge;
	void *context;
};

void tpa_holders_paths(const struct tpa_holders_graph *graph, const struct tpa_dominators *dominators,
		       const struct tpa_holders_labels *labels, uint64_t ticks, struct tpa_holders_result *result);
void tpa_holders_result_free(struct tpa_holders_result *result);

#endif
