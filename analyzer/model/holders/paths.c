/* SPDX-License-Identifier: Apache-2.0 */
#include "model/holders/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "base/pairs.h"
#include "model/holders/links.h"

#define HELD_MOST 100000u
#define LARGEST 10u
#define SHARE 0.9 /* share of the bytes of a stack's blocks that their holder must hold */
#define FAIR 0.1  /* share that it must hold if several roots hold them */

struct member {
	uint32_t node, op, place; /* place: in preorder of the dominator tree; TPA_NO_VERTEX: not reached */
	uint64_t size;
};

struct choosing {
	const struct tpa_holders_graph *graph;
	const struct tpa_dominators *dominators;
	struct tpa_links links;
	struct tpa_holders_result *result;
	uint32_t *depth, *jump; /* by vertex, in the dominator tree; jump: an ancestor, far up */
	uint32_t *origin;	/* by vertex, 0: not known yet; see origin_of(). NULL until the first use */
};

/* ---- ancestors ---- */

/* Jump pointers of Myers (1983), which find each ancestor in O(log depth) steps. */
static void make_jumps(struct choosing *choosing)
{
	const struct tpa_dominators *dominators = choosing->dominators;

	choosing->depth = tpa_zalloc(choosing->graph->vertices, sizeof(*choosing->depth));
	choosing->jump = tpa_zalloc(choosing->graph->vertices, sizeof(*choosing->jump));
	for (uint32_t place = 1; place < dominators->reached; place++) {
		uint32_t vertex = dominators->vertex[place], up = dominators->above[vertex];
		uint32_t far = choosing->jump[up], farther = choosing->jump[far];

		choosing->depth[vertex] = choosing->depth[up] + 1;
		choosing->jump[vertex] =
			choosing->depth[up] - choosing->depth[far] == choosing->depth[far] - choosing->depth[farther]
				? farther
				: up;
	}
}

/* The lowest vertex that dominates both. */
static uint32_t common(const struct choosing *choosing, uint32_t vertex, uint32_t other)
{
	while (!tpa_dominates(choosing->dominators, vertex, other))
		vertex = tpa_dominates(choosing->dominators, choosing->jump[vertex], other)
				 ? choosing->dominators->above[vertex]
				 : choosing->jump[vertex];
	return vertex;
}

/* The ancestor directly below vertex 0. */
static uint32_t topmost(const struct choosing *choosing, uint32_t vertex)
{
	while (choosing->depth[vertex] > 1)
		vertex = choosing->depth[choosing->jump[vertex]] ? choosing->jump[vertex]
								 : choosing->dominators->above[vertex];
	return vertex;
}

/* ---- the holder of a stack's blocks ---- */

static uint32_t vertex_of(const struct choosing *choosing, const struct member *member)
{
	return choosing->dominators->vertex[member->place];
}

/* The lowest vertex that dominates the members from `begin` to `end`, in bytes. */
static uint32_t window(const struct choosing *choosing, const struct member *members, size_t count, double begin,
		       double end)
{
	double sum = 0;
	size_t first = 0, last = 0;

	for (size_t i = 0; i < count; i++) {
		if (sum <= begin)
			first = i;
		if (sum < end)
			last = i;
		sum += (double)members[i].size + 1;
	}
	return common(choosing, vertex_of(choosing, &members[first]), vertex_of(choosing, &members[last]));
}

static double total_bytes(const struct member *members, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (double)members[i].size + 1;
	return sum;
}

/*
 * The lowest vertex that dominates SHARE of the bytes of the members, which are sorted by place. 0: none but the top.
 */
static uint32_t lowest(const struct choosing *choosing, const struct member *members, size_t count)
{
	const double rest = 1 - SHARE, all = total_bytes(members, count);
	uint32_t best = 0;

	for (int i = 0; i <= 4; i++) {
		double begin = all * rest * i / 4;
		uint32_t vertex = window(choosing, members, count, begin, begin + all * SHARE);

		if (choosing->depth[vertex] > choosing->depth[best])
			best = vertex;
	}
	return best;
}

/* If several roots hold the members, keeps those below the root with the most bytes. */
static void keep_largest(const struct choosing *choosing, const struct member **members, size_t *count)
{
	const struct member *all = *members;
	size_t total = *count, first = 0;
	uint64_t most = 0;

	while (first < total) {
		uint32_t top = topmost(choosing, vertex_of(choosing, &all[first]));
		uint64_t bytes = 0;
		size_t next = first;

		for (; next < total && tpa_dominates(choosing->dominators, top, vertex_of(choosing, &all[next]));
		     next++)
			bytes += all[next].size + 1;
		if (bytes > most) {
			most = bytes;
			*members = &all[first];
			*count = next - first;
		}
		first = next > first ? next : first + 1;
	}
}

/* The root from which the breadth-first search reached the vertex. All calls together cost O(vertices). */
static uint32_t origin_of(const struct choosing *choosing, uint32_t vertex)
{
	const uint32_t *parent = choosing->graph->parent;
	uint32_t *origin = choosing->origin, top = vertex, found;

	while (!origin[top] && parent[top])
		top = parent[top];
	found = origin[top] ?: top;
	for (; vertex != top; vertex = parent[vertex])
		origin[vertex] = found;
	return found;
}

static uint64_t bytes_below(const struct choosing *choosing, uint32_t holder, const struct member *members,
			    size_t count)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		if (tpa_dominates(choosing->dominators, holder, vertex_of(choosing, &members[i])))
			bytes += members[i].size + 1;
	return bytes;
}

/* The root that is the fewest pointers away from one of the members. */
static uint32_t nearest_root(struct choosing *choosing, const struct member *members, size_t count)
{
	const uint32_t *depth = choosing->graph->depth;
	uint32_t nearest = vertex_of(choosing, &members[0]);

	for (size_t i = 1; i < count; i++)
		if (depth[vertex_of(choosing, &members[i])] < depth[nearest])
			nearest = vertex_of(choosing, &members[i]);
	if (!choosing->origin)
		choosing->origin = tpa_zalloc(choosing->graph->vertices, sizeof(*choosing->origin));
	return origin_of(choosing, nearest);
}

struct holder {
	uint32_t vertex;
	/* true: the vertex is a root, and holds what the search reached from it; false: it holds what it dominates */
	bool origin;
};

/*
 * Chooses what holds a stack's blocks. If several roots hold them: what holds those below the root with the most. If no
 * vertex holds a fair share, as when a second pointer leads into the middle of a doubly linked list: the nearest root.
 */
static struct holder choose_holder(struct choosing *choosing, const struct member *members, size_t count)
{
	const struct member *largest = members;
	size_t largest_count = count;
	uint32_t holder = lowest(choosing, members, count);

	if (holder)
		return (struct holder){ holder, false };
	keep_largest(choosing, &largest, &largest_count);
	holder = lowest(choosing, largest, largest_count) ?: topmost(choosing, vertex_of(choosing, largest));
	if ((double)bytes_below(choosing, holder, members, count) >= FAIR * total_bytes(members, count))
		return (struct holder){ holder, false };
	return (struct holder){ nearest_root(choosing, members, count), true };
}

static bool is_held(const struct choosing *choosing, const struct holder *holder, uint32_t vertex)
{
	return holder->origin ? origin_of(choosing, vertex) == holder->vertex
			      : tpa_dominates(choosing->dominators, holder->vertex, vertex);
}

/*
 * Sums up the held members in *held. Returns the one farthest from a root, because its path shows the most of the
 * structure.
 */
static const struct member *farthest(const struct choosing *choosing, const struct holder *holder,
				     const struct member *members, size_t count, struct tpa_held *held)
{
	const struct member *found = NULL;

	for (size_t i = 0; i < count; i++) {
		uint32_t vertex = vertex_of(choosing, &members[i]);

		if (!is_held(choosing, holder, vertex))
			continue;
		held->blocks++;
		held->bytes += members[i].size;
		if (!found || choosing->graph->depth[vertex] > choosing->graph->depth[vertex_of(choosing, found)])
			found = &members[i];
	}
	return found;
}

static void add_held(struct choosing *choosing, struct tpa_held *held, uint32_t holder, uint32_t end)
{
	struct tpa_holders_result *result = choosing->result;

	if (!tpa_links_path(&choosing->links, end, holder, &held->end, &held->holder)) {
		result->search.left_out++;
		return;
	}
	held->ticks = result->search.ticks;
	*TPA_APPEND(result->held, result->held_count, result->held_room) = *held;
}

static void add_stack(struct choosing *choosing, const struct member *members, size_t count)
{
	struct tpa_held held = { .what = TPROF_HELD_STACK, .node = members->node, .op = members->op };
	const struct member *end;
	struct holder holder;

	for (size_t i = 0; i < count; i++) {
		held.all_blocks++;
		held.all_bytes += members[i].size;
	}
	while (count && members[count - 1].place == TPA_NO_VERTEX)
		count--;
	if (!count)
		return;
	holder = choose_holder(choosing, members, count);
	while (holder.vertex && choosing->depth[holder.vertex] > 1 &&
	       tpa_links_same(&choosing->links, choosing->dominators->above[holder.vertex], holder.vertex))
		holder.vertex = choosing->dominators->above[holder.vertex]; /* the head of a list holds all of it */
	end = farthest(choosing, &holder, members, count, &held);
	if (end)
		add_held(choosing, &held, holder.vertex, vertex_of(choosing, end));
}

/* ---- all stacks ---- */

static int by_stack(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return TPA_UP(x->node, y->node) ?: TPA_UP(x->op, y->op) ?: TPA_UP(x->place, y->place);
}

struct group {
	size_t first, count;
	uint64_t bytes;
};

static int by_bytes(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return TPA_DOWN(x->bytes, y->bytes) ?: TPA_UP(x->first, y->first);
}

static struct member *list_members(const struct choosing *choosing, size_t *count)
{
	const struct tpa_holders_graph *graph = choosing->graph;
	struct member *members = tpa_zalloc(graph->block_count + 1, sizeof(*members));

	for (size_t i = 0; i < graph->block_count; i++) {
		const struct tpa_holders_block *block = &graph->blocks[i];
		uint32_t vertex = (uint32_t)(1 + graph->root_count + i);
		bool reached = graph->parent[vertex] != TPA_NO_VERTEX;

		if (block->inner)
			continue;
		choosing->result->search.blocks++;
		choosing->result->search.bytes += block->size;
		choosing->result->search.reached += reached;
		members[(*count)++] =
			(struct member){ block->node, block->op,
					 reached ? choosing->dominators->place[vertex] : TPA_NO_VERTEX, block->size };
	}
	qsort(members, *count, sizeof(*members), by_stack);
	return members;
}

/* Adds the stacks, the largest first, because there may be no room for all. */
static void add_stacks(struct choosing *choosing)
{
	size_t count = 0, group_count = 0, room = 0;
	struct member *members = list_members(choosing, &count);
	struct group *groups = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!i || members[i].node != members[i - 1].node || members[i].op != members[i - 1].op) {
			*TPA_APPEND(groups, group_count, room) = (struct group){ .first = i };
		}
		groups[group_count - 1].count++;
		groups[group_count - 1].bytes += members[i].size;
	}
	if (group_count)
		qsort(groups, group_count, sizeof(*groups), by_bytes);
	for (size_t i = 0; i < group_count && i < HELD_MOST; i++)
		add_stack(choosing, members + groups[i].first, groups[i].count);
	choosing->result->search.left_out += group_count > HELD_MOST ? group_count - HELD_MOST : 0;
	free(groups);
	free(members);
}

/* ---- the largest of all ---- */

/* Goes down from `top` to the lowest vertex that holds most of its memory, but not along a list. */
static uint32_t descend(struct choosing *choosing, uint32_t top)
{
	const struct tpa_dominators *dominators = choosing->dominators;
	uint32_t vertex = top;

	for (;;) {
		uint32_t best = 0, place = dominators->place[vertex] + 1;
		uint32_t end = dominators->place[vertex] + dominators->subtree[vertex];

		while (place < end) {
			uint32_t child = dominators->vertex[place];

			if (!best || dominators->bytes[child] > dominators->bytes[best])
				best = child;
			place += dominators->subtree[child];
		}
		if (!best || (double)dominators->bytes[best] < SHARE * (double)dominators->bytes[top] ||
		    tpa_links_same(&choosing->links, vertex, best))
			return vertex;
		vertex = best;
	}
}

static void add_largest(struct choosing *choosing)
{
	const struct tpa_dominators *dominators = choosing->dominators;
	uint32_t largest[LARGEST] = { 0 };

	for (uint32_t place = 1; place < dominators->reached;) {
		uint32_t child = dominators->vertex[place], at = LARGEST;

		while (at && (!largest[at - 1] || dominators->bytes[child] > dominators->bytes[largest[at - 1]]))
			at--;
		if (at < LARGEST && dominators->bytes[child]) {
			memmove(&largest[at + 1], &largest[at], (LARGEST - 1 - at) * sizeof(*largest));
			largest[at] = child;
		}
		place += dominators->subtree[child];
	}
	for (size_t i = 0; i < LARGEST && largest[i]; i++) {
		uint32_t vertex = descend(choosing, largest[i]);
		struct tpa_held held = { .what = TPROF_HELD_LARGEST,
					 .blocks = dominators->blocks[vertex],
					 .bytes = dominators->bytes[vertex] };

		held.all_blocks = held.blocks;
		held.all_bytes = held.bytes;
		add_held(choosing, &held, vertex, vertex);
	}
}

void tpa_holders_paths(const struct tpa_holders_graph *graph, const struct tpa_dominators *dominators,
		       const struct tpa_holders_labels *labels, uint64_t ticks, struct tpa_holders_result *result)
{
	struct choosing choosing = { .graph = graph, .dominators = dominators, .result = result };

	result->search.ticks = ticks;
	result->search.pointers = graph->target_count;
	result->search.interior = graph->interior;
	tpa_links_init(&choosing.links, graph, dominators, labels, result);
	make_jumps(&choosing);
	add_largest(&choosing);
	add_stacks(&choosing);
	tpa_links_free(&choosing.links);
	free(choosing.depth);
	free(choosing.jump);
	free(choosing.origin);
}

void tpa_holders_result_free(struct tpa_holders_result *result)
{
	for (size_t i = 0; i < result->link_count; i++) {
		free(result->links[i].name);
		free(result->links[i].type);
	}
	free(result->links);
	free(result->held);
	memset(result, 0, sizeof(*result));
}
