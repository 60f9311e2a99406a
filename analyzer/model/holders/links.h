/* SPDX-License-Identifier: Apache-2.0 */
/* Paths from roots to blocks, as links that many paths share; a part of model/holders/paths.h. */
#ifndef TPROF_MODEL_HOLDERS_LINKS_H
#define TPROF_MODEL_HOLDERS_LINKS_H

#include "base/pairs.h"
#include "model/holders/paths.h"

struct tpa_links {
	const struct tpa_holders_graph *graph;
	const struct tpa_dominators *dominators;
	const struct tpa_holders_labels *labels;
	struct tpa_holders_result *result;
	uint32_t *label;	  /* of each vertex: vertices with the same are of one type; 0: not asked yet */
	struct tpa_pairs numbers; /* of labels, by kind and hash of the name */
	uint32_t label_count;
	struct tpa_pairs made; /* links, by first and last vertex */
	uint32_t *path;	       /* room for one */
	size_t path_room;
};

void tpa_links_init(struct tpa_links *links, const struct tpa_holders_graph *graph,
		    const struct tpa_dominators *dominators, const struct tpa_holders_labels *labels,
		    struct tpa_holders_result *result);
void tpa_links_free(struct tpa_links *links);

/* The path from a root through `holder` to `end`: the numbers of the last link and of the one with `holder`. False: there are too many. */
bool tpa_links_path(struct tpa_links *links, uint32_t end, uint32_t holder, uint32_t *last, uint32_t *holding);

/* Are both of one type, or is the second a part of the first? */
bool tpa_links_same(struct tpa_links *links, uint32_t vertex, uint32_t other);

#endif
