/* SPDX-License-Identifier: Apache-2.0 */
#include "model/holders/links.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

#define LINKS_MOST 100000u
#define PATH_MOST 40u /* maximum number of links of a path */
#define PERIOD_MOST 4u
/* Bits of a label */
#define PART (UINT32_C(1) << 31)    /* part of the object that points to it */
#define CXX (UINT32_C(1) << 30)	    /* an object of C++ */
#define UNKNOWN (UINT32_C(1) << 29) /* of unknown type */

void tpa_links_init(struct tpa_links *links, const struct tpa_holders_graph *graph,
		    const struct tpa_dominators *dominators, const struct tpa_holders_labels *labels,
		    struct tpa_holders_result *result)
{
	*links = (struct tpa_links){ .graph = graph, .dominators = dominators, .labels = labels, .result = result };
	links->label = tpa_zalloc(graph->vertices, sizeof(*links->label));
}

void tpa_links_free(struct tpa_links *links)
{
	free(links->label);
	free(links->path);
	tpa_pairs_free(&links->numbers);
	tpa_pairs_free(&links->made);
}

/* ---- labels ---- */

static void describe(const struct tpa_links *links, uint32_t vertex, struct tpa_holders_type *type)
{
	const struct tpa_holders_graph *graph = links->graph;

	*type = (struct tpa_holders_type){ 0 };
	if (tpa_holders_is_block(graph, vertex))
		links->labels->describe(links->labels->context, vertex, type);
	else
		type->kind = graph->roots[vertex - 1].kind;
}

static uint32_t label_of(struct tpa_links *links, uint32_t vertex)
{
	struct tpa_holders_type type;
	uint32_t *number;
	uint64_t name;
	bool found;

	if (links->label[vertex])
		return links->label[vertex];
	describe(links, vertex, &type);
	if (!tpa_holders_is_block(links->graph, vertex))
		name = vertex;
	else if (type.name[0])
		name = tpa_hash_text(TPA_HASH_BEGIN, type.name);
	else /* of unknown type: told apart by the stack that allocated it */
		name = tpa_holders_block_of(links->graph, vertex)->node;
	number = tpa_pairs_at(&links->numbers, type.kind, name, &found);
	if (!found)
		*number = ++links->label_count;
	return links->label[vertex] = *number | (type.part ? PART : 0) | (type.kind == TPROF_HOLDER_CXX ? CXX : 0) |
				      (type.kind == TPROF_HOLDER_BLOCK ? UNKNOWN : 0);
}

bool tpa_links_same(struct tpa_links *links, uint32_t vertex, uint32_t other)
{
	uint32_t second = label_of(links, other);

	return !(second & PART) && label_of(links, vertex) == second;
}

/* ---- paths ---- */

/* Collects the path from the root down to `end`. Returns its length. */
static size_t collect(struct tpa_links *links, uint32_t end)
{
	size_t length = links->graph->depth[end];
	uint32_t vertex = end;

	tpa_grow(&links->path, &links->path_room, length + 1, sizeof(*links->path));
	for (size_t i = length; i-- > 0; vertex = links->graph->parent[vertex])
		links->path[i] = vertex;
	return length;
}

static bool is_variable(const struct tpa_links *links, uint32_t vertex)
{
	return !tpa_holders_is_block(links->graph, vertex) &&
	       links->graph->roots[vertex - 1].kind == TPROF_HOLDER_PYTHON;
}

/*
 * Does vertex i of the path belong to the object before it? The first one never does. What a Python variable refers to
 * belongs to the variable.
 */
static bool is_part(struct tpa_links *links, size_t length, size_t i)
{
	uint32_t label;

	if (!i)
		return false;
	if (is_variable(links, links->path[i - 1]))
		return true;
	label = label_of(links, links->path[i]);
	/* A block of unknown type between two C++ objects is the first one's array, or the like */
	return tpa_holders_is_block(links->graph, links->path[i - 1]) &&
	       (label & PART || (label & UNKNOWN && i + 1 < length && label_of(links, links->path[i - 1]) & CXX &&
				 label_of(links, links->path[i + 1]) & CXX));
}

static size_t skip_parts(struct tpa_links *links, size_t length, size_t i)
{
	while (i < length && is_part(links, length, i))
		i++;
	return i;
}

/* Returns where the object that begins at i ends, with its parts. */
static size_t object_end(struct tpa_links *links, size_t length, size_t i)
{
	return skip_parts(links, length, i + 1);
}

/*
 * Returns how many times the `period` objects from `begin` on follow each other. Sets *end to the end of the last
 * repetition.
 */
static uint32_t repeats(struct tpa_links *links, size_t length, size_t begin, uint32_t period, size_t *end)
{
	size_t at = begin, from = begin;
	uint32_t objects = 0;

	for (uint32_t i = 0; i < period; i++) {
		if (at == length)
			return 0;
		at = object_end(links, length, at);
	}
	*end = at;
	while (at < length && label_of(links, links->path[at]) == label_of(links, links->path[from])) {
		at = object_end(links, length, at);
		from = object_end(links, length, from);
		if (++objects % period == 0)
			*end = at;
	}
	return 1 + objects / period;
}

/* Finds the objects from i on that become one link. Returns how many times they repeat, and sets *end to their end. */
static uint32_t fold(struct tpa_links *links, size_t length, size_t i, size_t *end)
{
	size_t until;

	for (uint32_t period = 1; period <= PERIOD_MOST; period++) {
		uint32_t times = repeats(links, length, i, period, &until);

		if (times < (period == 1 ? 2 : 3))
			continue;
		*end = until;
		return times;
	}
	*end = object_end(links, length, i);
	return 1;
}

static void name_link(const struct tpa_links *links, struct tpa_holder_link *link, size_t i,
		      const struct tpa_holders_type *type)
{
	const struct tpa_holders_graph *graph = links->graph;
	uint32_t vertex = links->path[i];
	char name[256] = "";

	if (!tpa_holders_is_block(graph, vertex))
		link->name = tpa_strdup(graph->roots[vertex - 1].name);
	else {
		links->labels->edge(links->labels->context, vertex, name, sizeof(name));
		link->name = tpa_strdup(name);
	}
	link->type = tpa_strdup(type->name);
}

/* `next`: where the following link begins. */
static uint32_t add_link(struct tpa_links *links, uint32_t parent, size_t i, size_t next, uint32_t count)
{
	struct tpa_holders_result *result = links->result;
	bool variable = is_variable(links, links->path[i]);
	uint32_t vertex = links->path[variable && i + 1 < next ? i + 1 : i];
	struct tpa_holders_type type;
	struct tpa_holder_link *link;

	link = TPA_APPEND(result->links, result->link_count, result->link_room);
	describe(links, vertex, &type);
	if (variable)
		type.kind = TPROF_HOLDER_PYTHON;
	*link = (struct tpa_holder_link){ .ticks = result->search.ticks,
					  .number = (uint32_t)result->link_count,
					  .parent = parent,
					  .kind = type.kind,
					  .count = count,
					  .items = type.items,
					  .blocks = links->dominators->blocks[vertex],
					  .bytes = links->dominators->bytes[vertex] };
	if (tpa_holders_is_block(links->graph, vertex)) {
		const struct tpa_holders_block *block = tpa_holders_block_of(links->graph, vertex);

		link->node = block->node;
		link->size = block->size;
	}
	name_link(links, link, i, &type);
	return link->number;
}

bool tpa_links_path(struct tpa_links *links, uint32_t end, uint32_t holder, uint32_t *last, uint32_t *holding)
{
	size_t length = collect(links, end), next;
	uint32_t parent = 0, made = 0;

	*holding = 0;
	for (size_t i = 0; i < length; i = next, made++) {
		uint32_t count = fold(links, length, i, &next), *number;
		bool found;

		if (made == PATH_MOST)
			next = length;
		number = tpa_pairs_at(&links->made, links->path[i], links->path[next - 1], &found);
		if (!found) {
			if (links->result->link_count == LINKS_MOST)
				return false;
			*number = add_link(links, parent, i, next, count);
		}
		parent = *number;
		for (size_t k = i; !*holding && k < next; k++)
			if (links->path[k] == holder)
				*holding = parent;
	}
	*last = parent;
	return parent;
}
