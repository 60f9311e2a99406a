/* SPDX-License-Identifier: Apache-2.0 */
/* Paths from roots to blocks, as links that many paths share; used by model/holders/paths.c. */
#ifndef TPROF_MODEL_HOLDERS_LINKS_H
#define TPROF_MODEL_HOLDERS_LINKS_H

#include "base/pairs.h"
#include "model/holders/paths.h"

struct tpa_links {
	const struct tpa_holders_graph *graph;
	const struct tpa_dominators *dominators;
	const struct tpa_holders_labels *labels;
	struct tpa_holders_result *result;
	uint32_t *label;	  /* by vertex: vertices with the same label have the same type; 0: not known yet */
	struct tpa_pairs numbers; /* numbers of labels, by kind and hash of the name */
	uint32_t label_count;
	struct tpa_pairs made; /* numbers of links, by first and last vertex */
	uint32_t *path;	       /* vertices of the current path */
	size_t path_room;
};

void tpa_links_init(struct tpa_links *links, const struct tpa_holders_graph *graph,
		    const struct tpa_dominators *dominators, const struct tpa_holders_labels *labels,
		    struct tpa_holders_result *result);
void tpa_links_free(struct tpa_links *links);

/*
 * Adds the path from a root through `holder` to `end` to the result. Sets *last to the number of the path's last link,
 * and *holding to that of the link with `holder`. False: there are too many links.
 */
bool tpa_links_path(struct tpa_links *links, uint32_t end, uint32_t holder, uint32_t *last, uint32_t *holding);

/* Do both vertices have the same type? False if the second is a part of another object. */
bool tpa_links_same(struct tpa_links *links, uint32_t vertex, uint32_t other);

#endif
