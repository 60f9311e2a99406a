/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the trace's nodes of the file's, each with one parent and frame once, when they are asked for. */
#include <stdlib.h>

#include "trace/jit.h"
#include "trace/made.h"
#include "trace/records.h"

/* ---- children ---- */

static size_t slot_of(const struct tpa_children *children, const struct tpa_node *node)
{
	uint64_t key = (uint64_t)node->parent << 32 | node->frame;

	key *= UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)((key ^ key >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> (64 - children->bits));
}

/* Slot with the node's twin, or the free one for it. */
static uint32_t *find(const struct tpa_children *children, const struct tpa_node *nodes, const struct tpa_node *node)
{
	size_t mask = ((size_t)1 << children->bits) - 1, i = slot_of(children, node);

	for (; children->table[i]; i = (i + 1) & mask) {
		const struct tpa_node *other = &nodes[children->table[i]];

		if (other->parent == node->parent && other->frame == node->frame)
			break;
	}
	return &children->table[i];
}

static void grow(struct tpa_children *children, const struct tpa_node *nodes)
{
	struct tpa_children larger = { .bits = children->table ? children->bits + 1 : 10 };
	size_t i;

	larger.table = tpa_zalloc((size_t)1 << larger.bits, sizeof(*larger.table));
	for (i = 0; children->table && i < (size_t)1 << children->bits; i++)
		if (children->table[i])
			*find(&larger, nodes, &nodes[children->table[i]]) = children->table[i];
	free(children->table);
	children->table = larger.table;
	children->bits = larger.bits;
}

/* Where the number of the node belongs; *slot is 0 if it is new. */
static uint32_t *place_of(struct tpa_children *children, const struct tpa_node *nodes, const struct tpa_node *node)
{
	uint32_t *only = &children->only[node->parent], *slot;

	if (!*only || nodes[*only].frame == node->frame)
		return only;
	if (!children->table || children->count >= (uint32_t)1 << (children->bits - 1))
		grow(children, nodes);
	slot = find(children, nodes, node);
	children->count += !*slot;
	return slot;
}

/* `place` may move. */
static void append(struct tpa_trace_impl *impl, const struct tpa_node *node, uint32_t origin, uint32_t *place)
{
	struct tpa_made *made = &impl->made;
	struct tpa_trace *trace = &impl->trace;
	size_t number = trace->node_count++;

	*place = (uint32_t)number;
	tpa_grow(&trace->nodes, &made->node_room, number + 1, sizeof(*trace->nodes));
	tpa_grow(&made->origin, &made->origin_room, number + 1, sizeof(*made->origin));
	tpa_grow(&made->children.only, &made->children.only_room, number + 1, sizeof(*made->children.only));
	trace->nodes[number] = *node;
	made->origin[number] = origin;
	made->children.only[number] = 0;
}

uint32_t tpa_node_child(struct tpa_trace_impl *impl, uint32_t parent, uint32_t frame, uint32_t origin)
{
	const struct tpa_node node = { parent, frame };
	uint32_t *place, number = (uint32_t)impl->trace.node_count;

	if (!frame || number >= UINT32_MAX - 1)
		return 0;
	place = place_of(&impl->made.children, impl->trace.nodes, &node);
	if (*place)
		number = *place;
	else
		append(impl, &node, origin, place);
	return number;
}

/* ---- numbers of the file ---- */

static uint32_t note(struct tpa_made *made, uint32_t number, uint32_t node)
{
	made->of_node[number] = node + 1;
	if (node >= TPROF_NODE_FIRST && made->of_node[made->origin[node]] != node + 1)
		made->origin[node] = number;
	return node;
}

/* Where it is missing, it may still come. */
static bool has_record(const struct tpa_node_record *record)
{
	return record->frame || record->parent;
}

uint32_t tpa_native_number(const struct tpa_trace_impl *impl, uint32_t number)
{
	const struct tpa_node_record *records = impl->records->nodes;

	while (number >= TPROF_NODE_FIRST && (tpa_is_join(&records[number]) || !records[number].frame))
		number = records[number].parent; /* 0 where the record is missing */
	return number <= TPROF_NODE_SHORT || number >= TPROF_NODE_FIRST ? number : TPROF_NODE_NONE;
}

/* Another node's join in the chain of frames counts as its native stack. */
uint32_t tpa_native_node(struct tpa_trace_impl *impl, uint32_t number)
{
	const struct tpa_node_record *records = impl->records->nodes;
	struct tpa_made *made = &impl->made;
	uint32_t node;
	size_t count = 0;

	while (number >= TPROF_NODE_FIRST && (tpa_is_join(&records[number]) || !made->of_node[number])) {
		if (!tpa_is_join(&records[number]))
			*TPA_APPEND(made->numbers, count, made->numbers_room) = number;
		number = records[number].parent;
	}
	node = made->of_node[number] - 1;
	while (count-- > 0) {
		number = made->numbers[count];
		if (!has_record(&records[number]))
			continue;
		if (records[number].frame) /* else the frame was damaged, and the node is its parent's */
			node = tpa_node_child(impl, node, tpa_frame_made(impl, records[number].frame), number);
		note(made, number, node);
	}
	return node;
}

/* Makes the node of a number for the first time. */
static uint32_t make(struct tpa_trace_impl *impl, uint32_t number)
{
	const struct tpa_tables *records = impl->records;
	struct tpa_made *made = &impl->made;
	const struct tpa_node_record *record;

	if (number >= records->node_count || !has_record(&records->nodes[number]))
		return TPROF_NODE_NONE;
	tpa_extend(&made->of_node, &made->of_node_count, &made->of_node_room, records->node_count,
		   sizeof(*made->of_node));
	record = &records->nodes[number];
	if (!tpa_is_join(record))
		return tpa_native_node(impl, number);
	return note(made, number, tpa_nodes_join(impl, record->parent, record->frame & ~TPA_JOIN, number));
}

uint32_t tpa_trace_node(const struct tpa_trace *trace, uint32_t number)
{
	struct tpa_trace_impl *impl = tpa_impl(trace);
	uint32_t known = number < impl->made.of_node_count ? impl->made.of_node[number] : 0;

	return known ? known - 1 : make(impl, number);
}

uint32_t tpa_event_node(const struct tpa_trace *trace, const struct tpa_event *event)
{
	return tpa_impl(trace)->jit_times
		       ? tpa_jit_node(&tpa_impl(trace)->trace, (struct tpa_node_at){ event->node, event->time })
		       : tpa_trace_node(trace, event->node);
}

uint32_t tpa_trace_file_node(const struct tpa_trace *trace, uint32_t node)
{
	return tpa_jit_node_at(trace, node).node;
}

size_t tpa_trace_stack(const struct tpa_trace *trace, uint32_t node, uint32_t *frames, size_t max, uint32_t *end)
{
	size_t count = 0;

	if (node >= trace->node_count)
		node = TPROF_NODE_NONE;
	for (; node >= TPROF_NODE_FIRST; node = trace->nodes[node].parent) {
		if (count < max)
			frames[count] = trace->nodes[node].frame;
		count++;
	}
	*end = node;
	return count;
}

bool tpa_trace_call(const struct tpa_trace *trace, size_t number, struct tpa_call *call)
{
	struct tpa_trace_impl *impl = tpa_impl(trace);
	const struct tpa_node_record *records = impl->records->nodes, *record = &records[number];

	if (number >= impl->records->node_count)
		return false;
	*call = (struct tpa_call){ 0 };
	if (tpa_is_join(record) || !record->frame)
		return true;
	call->frame = tpa_frame_made(impl, record->frame);
	record = &records[record->parent];
	if (!tpa_is_join(record) && record->frame)
		call->caller = tpa_frame_made(impl, record->frame);
	return true;
}

/* ---- all of it ---- */

void tpa_made_begin(struct tpa_trace_impl *impl)
{
	static const struct tpa_node none = { 0 };
	uint32_t unused;
	struct tpa_made *made = &impl->made;

	*TPA_APPEND(impl->trace.frames, impl->trace.frame_count, made->frame_room) = (struct tpa_frame){ 0 };
	tpa_extend(&made->of_node, &made->of_node_count, &made->of_node_room, TPROF_NODE_FIRST, sizeof(*made->of_node));
	for (uint32_t i = 0; i < TPROF_NODE_FIRST; i++) {
		append(impl, &none, i, &unused);
		made->of_node[i] = (i <= TPROF_NODE_SHORT ? i : TPROF_NODE_NONE) + 1;
	}
}

void tpa_made_free(struct tpa_made *made)
{
	free(made->of_frame);
	free(made->of_node);
	free(made->origin);
	tpa_pairs_free(&made->frames);
	free(made->children.only);
	free(made->children.table);
	free(made->joins.first);
	tpa_pairs_free(&made->joins.further);
	free(made->numbers);
	free(made->steps);
	free(made->python);
}
