/* SPDX-License-Identifier: Apache-2.0 */
#include "model/holders/dominators.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* All arrays except `number` are indexed by the depth-first number of a vertex; the top has 0. */
struct finding {
	const struct tpa_holders_graph *graph;
	uint32_t count;
	uint32_t *number; /* depth-first number of each vertex; TPA_NO_VERTEX: not reached */
	uint32_t *vertex, *parent, *semi, *ancestor, *label, *above;
	uint32_t *bucket, *next; /* lists of vertices with the same semidominator */
	uint32_t *path;
	uint64_t *first; /* where the predecessors of each vertex begin in `sources` */
	uint32_t *sources;
};

static uint32_t *numbers(size_t count)
{
	return tpa_zalloc(count, sizeof(uint32_t));
}

/* Searches depth-first, without recursion. next[n]: how many targets of an open vertex are done. */
static void number_vertices(struct finding *finding)
{
	const struct tpa_holders_graph *graph = finding->graph;
	uint32_t *next = finding->next, depth = 0;

	memset(finding->number, 0xff, graph->vertices * sizeof(*finding->number));
	finding->number[0] = 0;
	finding->vertex[0] = 0;
	finding->count = 1;
	for (finding->path[depth++] = 0; depth;) {
		uint32_t number = finding->path[depth - 1], vertex = finding->vertex[number], target;

		if (next[number] == graph->count[vertex]) {
			depth--;
			continue;
		}
		target = graph->targets[graph->first[vertex] + next[number]++];
		if (finding->number[target] != TPA_NO_VERTEX)
			continue;
		finding->number[target] = finding->count;
		finding->vertex[finding->count] = target;
		finding->parent[finding->count] = number;
		finding->path[depth++] = finding->count++;
	}
}

static void turn_edges(struct finding *finding)
{
	const struct tpa_holders_graph *graph = finding->graph;
	uint64_t sum = 0;

	for (uint32_t n = 0; n < finding->count; n++) {
		uint32_t vertex = finding->vertex[n];

		for (uint32_t i = 0; i < graph->count[vertex]; i++)
			finding->first[finding->number[graph->targets[graph->first[vertex] + i]] + 1]++;
	}
	for (uint32_t n = 0; n <= finding->count + 1; n++)
		sum = finding->first[n] += sum;
	for (uint32_t n = finding->count; n-- > 0;) {
		uint32_t vertex = finding->vertex[n];

		for (uint32_t i = 0; i < graph->count[vertex]; i++)
			finding->sources[--finding->first[finding->number[graph->targets[graph->first[vertex] + i]] +
							  1]] = n;
	}
}

/* Returns the vertex with the least semidominator on the path up through linked vertices; compresses that path. */
static uint32_t evaluate(struct finding *finding, uint32_t n)
{
	uint32_t length = 0, at = n;

	if (finding->ancestor[n] == TPA_NO_VERTEX)
		return n;
	while (finding->ancestor[finding->ancestor[at]] != TPA_NO_VERTEX) {
		finding->path[length++] = at;
		at = finding->ancestor[at];
	}
	while (length) {
		uint32_t v = finding->path[--length], up = finding->ancestor[v];

		if (finding->semi[finding->label[up]] < finding->semi[finding->label[v]])
			finding->label[v] = finding->label[up];
		finding->ancestor[v] = finding->ancestor[up];
	}
	return finding->label[n];
}

static void settle_bucket(struct finding *finding, uint32_t parent)
{
	for (uint32_t v = finding->bucket[parent]; v != TPA_NO_VERTEX; v = finding->next[v]) {
		uint32_t u = evaluate(finding, v);

		finding->above[v] = finding->semi[u] < finding->semi[v] ? u : parent;
	}
	finding->bucket[parent] = TPA_NO_VERTEX;
}

static void find_above(struct finding *finding)
{
	for (uint32_t n = 0; n < finding->count; n++) {
		finding->semi[n] = finding->label[n] = n;
		finding->ancestor[n] = finding->bucket[n] = TPA_NO_VERTEX;
	}
	for (uint32_t n = finding->count; n-- > 1;) {
		for (uint64_t i = finding->first[n + 1]; i < finding->first[n + 2]; i++) {
			uint32_t u = evaluate(finding, finding->sources[i]);

			if (finding->semi[u] < finding->semi[n])
				finding->semi[n] = finding->semi[u];
		}
		finding->next[n] = finding->bucket[finding->semi[n]];
		finding->bucket[finding->semi[n]] = n;
		finding->ancestor[n] = finding->parent[n];
		settle_bucket(finding, finding->parent[n]);
	}
	for (uint32_t n = 1; n < finding->count; n++)
		if (finding->above[n] != finding->semi[n])
			finding->above[n] = finding->above[finding->above[n]];
}

/* Sums up from the leaves (a dominator has the lower number), then assigns places from the top down. */
static void sum_up(const struct finding *finding, struct tpa_dominators *dominators)
{
	const struct tpa_holders_graph *graph = finding->graph;
	uint32_t *used = finding->semi;

	for (uint32_t n = 0; n < finding->count; n++) {
		uint32_t vertex = finding->vertex[n];

		dominators->subtree[vertex] = 1;
		if (tpa_holders_is_block(graph, vertex)) {
			dominators->blocks[vertex] = 1;
			dominators->bytes[vertex] = tpa_holders_block_of(graph, vertex)->size;
		}
	}
	for (uint32_t n = finding->count; n-- > 1;) {
		uint32_t vertex = finding->vertex[n], above = finding->vertex[finding->above[n]];

		dominators->above[vertex] = above;
		dominators->subtree[above] += dominators->subtree[vertex];
		dominators->blocks[above] += dominators->blocks[vertex];
		dominators->bytes[above] += dominators->bytes[vertex];
	}
	dominators->above[0] = 0;
	dominators->place[0] = 0;
	memset(used, 0, finding->count * sizeof(*used));
	for (uint32_t n = 1; n < finding->count; n++) {
		uint32_t vertex = finding->vertex[n], above = dominators->above[vertex];

		dominators->place[vertex] = dominators->place[above] + 1 + used[finding->above[n]];
		used[finding->above[n]] += dominators->subtree[vertex];
	}
	for (uint32_t n = 0; n < finding->count; n++)
		dominators->vertex[dominators->place[finding->vertex[n]]] = finding->vertex[n];
}

void tpa_dominators_find(struct tpa_dominators *dominators, const struct tpa_holders_graph *graph)
{
	struct finding finding = { .graph = graph };
	uint32_t **arrays[] = { &finding.number, &finding.vertex, &finding.parent, &finding.semi, &finding.ancestor,
				&finding.label,	 &finding.above,  &finding.bucket, &finding.next, &finding.path };

	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
		*arrays[i] = numbers(graph->vertices);
	number_vertices(&finding);
	finding.first = tpa_zalloc((size_t)finding.count + 2, sizeof(*finding.first));
	finding.sources = numbers(graph->target_count + 1);
	turn_edges(&finding);
	find_above(&finding);
	free(finding.sources);
	free(finding.first);
	dominators->above = tpa_resize(NULL, graph->vertices, sizeof(*dominators->above));
	memset(dominators->above, 0xff, graph->vertices * sizeof(*dominators->above));
	dominators->place = numbers(graph->vertices);
	dominators->vertex = numbers(graph->vertices);
	dominators->subtree = numbers(graph->vertices);
	dominators->blocks = numbers(graph->vertices);
	dominators->bytes = tpa_zalloc(graph->vertices, sizeof(*dominators->bytes));
	dominators->reached = finding.count;
	sum_up(&finding, dominators);
	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
		free(*arrays[i]);
}

void tpa_dominators_free(struct tpa_dominators *dominators)
{
	free(dominators->above);
	free(dominators->place);
	free(dominators->vertex);
	free(dominators->subtree);
	free(dominators->blocks);
	free(dominators->bytes);
	memset(dominators, 0, sizeof(*dominators));
}
