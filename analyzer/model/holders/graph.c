/* SPDX-License-Identifier: Apache-2.0 */
#include "model/holders/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

#define WORDS 8192u /* words read at once */

struct pointer {
	uint64_t at; /* address of the pointer; 0: in a register */
	uint32_t block;
};

struct building {
	struct tpa_holders_graph *graph;
	const struct tpa_holders_input *input;
	struct pointer *pointers; /* pointers in roots */
	size_t pointer_count, pointer_room;
	uint32_t *queue;
	size_t queued;
	uint32_t *from; /* by vertex: the last vertex from which an edge to it was added */
	uint64_t words[WORDS];
};

size_t tpa_holders_find(const struct tpa_holders_block *blocks, size_t count, uint64_t address)
{
	size_t low = TPA_UP_TO(blocks, count, address, address);
	const struct tpa_holders_block *block;

	if (!low)
		return SIZE_MAX;
	block = &blocks[low - 1];
	return address == block->address || address - block->address < block->size ? low - 1 : SIZE_MAX;
}

static size_t find(const struct building *building, uint64_t address)
{
	const struct tpa_holders_graph *graph = building->graph;
	const struct tpa_holders_block *last = graph->block_count ? &graph->blocks[graph->block_count - 1] : NULL;

	if (!last || address < graph->blocks[0].address || address > last->address + last->size)
		return SIZE_MAX;
	return tpa_holders_find(graph->blocks, graph->block_count, address);
}

/* ---- roots ---- */

static void add_pointer(struct building *building, uint64_t at, uint64_t value, bool exact_only)
{
	size_t block = find(building, value);

	if (block == SIZE_MAX || (exact_only && building->graph->blocks[block].address != value))
		return;
	if (building->input->skip && building->input->skip(building->input->context, 0, at, block, value))
		return;
	*TPA_APPEND(building->pointers, building->pointer_count, building->pointer_room) =
		(struct pointer){ at, (uint32_t)block };
}

static void scan_range(struct building *building, const struct tpa_holders_range *range)
{
	uint64_t at = (range->low + 7) & ~UINT64_C(7), end = range->high & ~UINT64_C(7);

	while (at < end) {
		size_t count = end - at < sizeof(building->words) ? (size_t)(end - at) / 8 : WORDS;

		building->input->read(building->input->context, at, building->words, 8 * count);
		for (size_t i = 0; i < count; i++)
			if (building->words[i])
				add_pointer(building, at + 8 * i, building->words[i], range->exact_only);
		at += 8 * count;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct pointer *x = a, *y = b;

	return TPA_UP(x->at, y->at) ?: TPA_UP(x->block, y->block);
}

static bool is_of(const struct tpa_holders_root *root, uint64_t at)
{
	return at >= root->low && at < root->high;
}

/* The words of one frame are one root. */
static bool is_same(const struct tpa_holders_root *a, const struct tpa_holders_root *b)
{
	return a->kind == TPROF_HOLDER_STACK && a->kind == b->kind && strcmp(a->name, b->name) == 0;
}

static void name_root(struct building *building, uint64_t at)
{
	struct tpa_holders_graph *graph = building->graph;
	struct tpa_holders_root *root, *last;

	tpa_grow(&graph->roots, &graph->root_room, graph->root_count + 1, sizeof(*graph->roots));
	root = &graph->roots[graph->root_count];
	last = graph->root_count ? root - 1 : NULL;
	memset(root, 0, sizeof(*root));
	building->input->name(building->input->context, at, root);
	if (!is_of(root, at))
		root->low = at, root->high = at + 1;
	if (last && is_same(last, root))
		last->high = root->high;
	else
		graph->root_count++;
}

/* Names the roots. Returns the number of each pointer's root, counted from 1; the caller frees the list. */
static uint32_t *name_roots(struct building *building)
{
	struct tpa_holders_graph *graph = building->graph;
	uint32_t *owners = tpa_zalloc(building->pointer_count + 1, sizeof(*owners));

	if (building->pointer_count)
		qsort(building->pointers, building->pointer_count, sizeof(*building->pointers), by_place);
	for (size_t i = 0; i < building->pointer_count; i++) {
		if (!graph->root_count || !is_of(&graph->roots[graph->root_count - 1], building->pointers[i].at))
			name_root(building, building->pointers[i].at);
		owners[i] = (uint32_t)graph->root_count;
	}
	if (building->input->is_orphan) {
		tpa_grow(&graph->roots, &graph->root_room, graph->root_count + 1, sizeof(*graph->roots));
		graph->roots[graph->root_count] = (struct tpa_holders_root){ .kind = TPROF_HOLDER_UNKNOWN };
		snprintf(graph->roots[graph->root_count].name, sizeof(graph->roots->name), "%s",
			 building->input->orphans);
		graph->root_count++;
	}
	return owners;
}

/* ---- edges ---- */

static void add_edge(struct building *building, uint32_t from, uint32_t to, uint64_t via)
{
	struct tpa_holders_graph *graph = building->graph;

	if (building->from[to] == from)
		return;
	building->from[to] = from;
	*TPA_APPEND(graph->targets, graph->target_count, graph->target_room) = to;
	graph->count[from]++;
	if (graph->parent[to] != TPA_NO_VERTEX)
		return;
	graph->parent[to] = from;
	graph->depth[to] = graph->depth[from] + 1;
	graph->via[to] = via;
	building->queue[building->queued++] = to;
}

static void add_pointers(struct building *building, const uint32_t *owners, unsigned round)
{
	struct tpa_holders_graph *graph = building->graph;

	for (size_t i = 0; i < building->pointer_count; i++) {
		uint32_t owner = owners[i];

		if (graph->roots[owner - 1].round != round)
			continue;
		if (!graph->count[owner]) {
			graph->first[owner] = graph->target_count;
			graph->parent[owner] = 0;
			graph->depth[owner] = 1;
		}
		add_edge(building, owner, (uint32_t)(1 + graph->root_count + building->pointers[i].block),
			 building->pointers[i].at);
	}
}

static void scan_words(struct building *building, uint32_t vertex, uint64_t at, size_t count)
{
	struct tpa_holders_graph *graph = building->graph;
	const struct tpa_holders_input *input = building->input;
	const struct tpa_holders_block *block = tpa_holders_block_of(graph, vertex);

	for (size_t i = 0; i < count; i++) {
		uint64_t value = building->words[i];
		size_t target = value ? find(building, value) : SIZE_MAX;

		if (target == SIZE_MAX || &graph->blocks[target] == block)
			continue;
		if (input->skip && input->skip(input->context, vertex, at + 8 * i, target, value))
			continue;
		graph->interior += value != graph->blocks[target].address;
		add_edge(building, vertex, (uint32_t)(1 + graph->root_count + target), at + 8 * i);
	}
}

static void scan_block(struct building *building, uint32_t vertex)
{
	struct tpa_holders_graph *graph = building->graph;
	const struct tpa_holders_block *block = tpa_holders_block_of(graph, vertex);
	uint64_t at = (block->address + 7) & ~UINT64_C(7), end = (block->address + block->size) & ~UINT64_C(7);

	graph->first[vertex] = graph->target_count;
	while (at < end && !block->cut) {
		size_t count = end - at < sizeof(building->words) ? (size_t)(end - at) / 8 : WORDS;

		building->input->read(building->input->context, at, building->words, 8 * count);
		scan_words(building, vertex, at, count);
		at += 8 * count;
	}
}

static void follow(struct building *building, size_t *done)
{
	while (*done < building->queued)
		scan_block(building, building->queue[(*done)++]);
}

static void make_vertices(struct building *building)
{
	struct tpa_holders_graph *graph = building->graph;
	size_t count = 1 + graph->root_count + graph->block_count;

	graph->vertices = (uint32_t)count;
	graph->parent = tpa_resize(NULL, count, sizeof(*graph->parent));
	memset(graph->parent, 0xff, count * sizeof(*graph->parent));
	graph->depth = tpa_zalloc(count, sizeof(*graph->depth));
	graph->via = tpa_zalloc(count, sizeof(*graph->via));
	graph->first = tpa_zalloc(count, sizeof(*graph->first));
	graph->count = tpa_zalloc(count, sizeof(*graph->count));
	building->queue = tpa_resize(NULL, count, sizeof(*building->queue));
	building->from = tpa_zalloc(count, sizeof(*building->from));
}

/* Adds the orphans below the last root. An orphan may lead to other blocks. */
static void add_orphans(struct building *building, size_t *done)
{
	struct tpa_holders_graph *graph = building->graph;
	uint32_t root = (uint32_t)graph->root_count;

	for (size_t i = 0; i < graph->block_count; i++) {
		uint32_t vertex = (uint32_t)(1 + graph->root_count + i);

		if (graph->parent[vertex] != TPA_NO_VERTEX || !building->input->is_orphan(&graph->blocks[i]))
			continue;
		graph->parent[vertex] = root;
		graph->depth[vertex] = 2;
		building->queue[building->queued++] = vertex;
		follow(building, done);
	}
	graph->first[root] = graph->target_count;
	for (uint32_t vertex = root + 1; vertex < graph->vertices; vertex++)
		if (graph->parent[vertex] == root)
			add_edge(building, root, vertex, 0);
	if (graph->count[root]) {
		graph->parent[root] = 0;
		graph->depth[root] = 1;
	}
}

/* Vertex 0 leads to all roots. */
static void add_top(struct tpa_holders_graph *graph)
{
	graph->first[0] = graph->target_count;
	tpa_grow(&graph->targets, &graph->target_room, graph->target_count + graph->root_count + 1,
		 sizeof(*graph->targets));
	for (uint32_t i = 1; i <= graph->root_count; i++)
		if (graph->parent[i] != TPA_NO_VERTEX)
			graph->targets[graph->target_count++] = i;
	graph->count[0] = (uint32_t)(graph->target_count - graph->first[0]);
	graph->parent[0] = 0;
}

void tpa_holders_graph_build(struct tpa_holders_graph *graph, struct tpa_holders_block *blocks, size_t count,
			     const struct tpa_holders_input *input)
{
	struct building *building = tpa_zalloc(1, sizeof(*building));
	uint32_t *owners;
	size_t done = 0;

	*graph = (struct tpa_holders_graph){ .blocks = blocks, .block_count = count };
	building->graph = graph;
	building->input = input;
	for (size_t i = 0; i < input->word_count; i++)
		add_pointer(building, 0, input->words[i], false);
	for (size_t i = 0; i < input->range_count; i++)
		scan_range(building, &input->ranges[i]);
	owners = name_roots(building);
	make_vertices(building);
	for (unsigned round = 0; round < TPA_ROUNDS; round++) {
		add_pointers(building, owners, round);
		follow(building, &done);
	}
	if (input->is_orphan)
		add_orphans(building, &done);
	add_top(graph);
	free(owners);
	free(building->pointers);
	free(building->queue);
	free(building->from);
	free(building);
}

void tpa_holders_graph_free(struct tpa_holders_graph *graph)
{
	free(graph->roots);
	free(graph->parent);
	free(graph->depth);
	free(graph->via);
	free(graph->first);
	free(graph->count);
	free(graph->targets);
	memset(graph, 0, sizeof(*graph));
}
