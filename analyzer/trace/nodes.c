/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes nodes with the same parent and frame one. A node's parent has a lower number, so one pass in order of numbers sees
 * each parent before its children. Most nodes are their parent's only child, which an array finds by the parent; only further
 * children go to a hash table. Also makes nodes that the file does not have, each once.
 */
#include <stdlib.h>

#include "trace/impl.h"
#include "base/memory.h"
#include "base/pairs.h"

struct children {
	uint32_t *only;	 /* a node's first child; 0: none */
	uint32_t *table; /* further children; 0: empty slot */
	unsigned bits;
	uint32_t count;
};

static size_t slot_of(const struct children *children, const struct tpa_node *node)
{
	uint64_t key = (uint64_t)node->parent << 32 | node->frame;

	key *= UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)((key ^ key >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> (64 - children->bits));
}

/* Slot with the node's twin, or the free one for it. */
static uint32_t *find(const struct children *children, const struct tpa_node *nodes, const struct tpa_node *node)
{
	size_t mask = ((size_t)1 << children->bits) - 1, i = slot_of(children, node);

	for (; children->table[i]; i = (i + 1) & mask) {
		const struct tpa_node *other = &nodes[children->table[i]];

		if (other->parent == node->parent && other->frame == node->frame)
			break;
	}
	return &children->table[i];
}

static void grow(struct children *children, const struct tpa_node *nodes)
{
	struct children larger = { .bits = children->table ? children->bits + 1 : 10 };
	size_t i;

	larger.table = tpa_zalloc((size_t)1 << larger.bits, sizeof(*larger.table));
	for (i = 0; children->table && i < (size_t)1 << children->bits; i++)
		if (children->table[i])
			*find(&larger, nodes, &nodes[children->table[i]]) = children->table[i];
	free(children->table);
	children->table = larger.table;
	children->bits = larger.bits;
}

/* The first node that equals nodes[number], which may be that node itself. */
static uint32_t unify(struct children *children, const struct tpa_node *nodes, uint32_t number)
{
	const struct tpa_node *node = &nodes[number];
	uint32_t only = children->only[node->parent], *slot;

	if (!only) {
		children->only[node->parent] = number;
		return number;
	}
	if (nodes[only].frame == node->frame)
		return only;
	if (!children->table || children->count >= (uint32_t)1 << (children->bits - 1))
		grow(children, nodes);
	slot = find(children, nodes, node);
	if (!*slot) {
		*slot = number;
		children->count++;
	}
	return *slot;
}

void tpa_nodes_unify(struct tpa_trace *trace, const uint32_t *frame_alias)
{
	struct children children = { .only = tpa_zalloc(trace->node_count, sizeof(*children.only)) };
	struct tpa_node *nodes = trace->nodes;
	uint32_t i, same;

	for (i = TPROF_NODE_FIRST; i < trace->node_count; i++) {
		uint32_t parent = tpa_trace_node(trace, nodes[i].parent);

		nodes[i].parent = parent;
		if (!nodes[i].frame)
			continue;
		nodes[i].frame = frame_alias[nodes[i].frame];
		same = unify(&children, nodes, i);
		if (same != i)
			nodes[i] = (struct tpa_node){ same, 0 };
	}
	free(children.only);
	free(children.table);
}

uint32_t tpa_nodes_child(struct tpa_trace *trace, size_t *node_room, struct tpa_pairs *children, uint32_t parent,
			 uint32_t frame)
{
	uint32_t number = tpa_pairs_find(children, parent, frame);

	if (number || trace->node_count >= UINT32_MAX)
		return number;
	number = (uint32_t)trace->node_count;
	tpa_grow(&trace->nodes, node_room, trace->node_count + 1, sizeof(*trace->nodes));
	tpa_pairs_set(children, parent, frame, number);
	trace->nodes[trace->node_count++] = (struct tpa_node){ parent, frame };
	return number;
}
