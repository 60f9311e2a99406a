/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which block points to which, of a process that stands still. A vertex is a root (a variable, a thread's frame, ...) or a block. Every
 * aligned word of a root and of a block that is reached counts as a pointer if it holds an address in a block, but for words of
 * which it is known that they are none. Vertex 0 stands above all roots.
 *
 * The search is breadth first, so each block's parent lies on one of the shortest paths from a root to it. Roots are searched in
 * rounds: those of a later one are parents of what the earlier ones did not reach only.
 */
#ifndef TPROF_MODEL_HOLDERS_GRAPH_H
#define TPROF_MODEL_HOLDERS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tprof/format.h>

#define TPA_NO_VERTEX UINT32_MAX

/* In which order roots are searched: the program's own variables first, then all that are known, then what may be anything. */
enum tpa_holders_round { TPA_ROUND_NAMED, TPA_ROUND_STATIC, TPA_ROUND_REST, TPA_ROUNDS };

struct tpa_holders_block {
	uint64_t address, size;
	uint32_t node, op; /* of the allocation; node 0: none was recorded */
	bool inner;	   /* part of a mapping that the program's own allocator divided */
	bool cut;	   /* what it points to is not held by it: it refers to nothing, or its words are roots */
	bool owned;	   /* a table of an object of Python: what else points to it does not keep it */
	uint8_t head;	   /* where the object of Python begins in it */
	uint32_t type;	   /* number of that object's type; 0: it is no object */
};

/* What a root is. `low`, `high`: the addresses that belong to it; empty: the one word alone. */
struct tpa_holders_root {
	uint64_t low, high;
	uint8_t kind;  /* enum tprof_holder */
	uint8_t round; /* TPA_ROUNDS: the later one's roots are parents of what the earlier ones' don't reach */
	char name[256];
};

/* Copies memory of the process; zeros where there is none. */
typedef void tpa_holders_read(void *context, uint64_t address, void *to, size_t size);
/* Fills all of *root for the word at `address`. */
typedef void tpa_holders_name(void *context, uint64_t address, struct tpa_holders_root *root);
/* Is the word at address `at` of the vertex (0: of a root) no pointer to blocks[target]? */
typedef bool tpa_holders_skip(void *context, uint32_t vertex, uint64_t at, size_t target, uint64_t value);

struct tpa_holders_range {
	uint64_t low, high;
	bool exact_only; /* only pointers to beginnings count */
};

struct tpa_holders_input {
	const struct tpa_holders_range *ranges;
	size_t range_count;
	const uint64_t *words; /* in registers */
	size_t word_count;
	tpa_holders_read *read;
	tpa_holders_name *name;
	tpa_holders_skip *skip; /* NULL: no word is skipped */
	/* Which blocks that nothing reaches are held by a root of their own, of that name. NULL: none */
	bool (*is_orphan)(const struct tpa_holders_block *block);
	const char *orphans;
	void *context;
};

struct tpa_holders_graph {
	struct tpa_holders_block *blocks; /* by address; not owned */
	size_t block_count;
	struct tpa_holders_root *roots;
	size_t root_count, root_room;
	uint32_t vertices; /* 1 + root_count + block_count */
	uint32_t *parent;  /* of each vertex; TPA_NO_VERTEX: not reached */
	uint32_t *depth;   /* steps from vertex 0 */
	uint64_t *via;	   /* where the parent's pointer is */
	uint64_t *first;   /* vertices + 1: the targets of v are targets[first[v]] up to first[v] + count[v] */
	uint32_t *count;
	uint32_t *targets;
	size_t target_count, target_room;
	uint64_t interior;   /* edges by pointers into the inside of a block */
	uint64_t unreadable; /* bytes; counted by who reads */
};

void tpa_holders_graph_build(struct tpa_holders_graph *graph, struct tpa_holders_block *blocks, size_t count,
			     const struct tpa_holders_input *input);
void tpa_holders_graph_free(struct tpa_holders_graph *graph);

/* Index of the block that holds the address; SIZE_MAX: none. */
size_t tpa_holders_find(const struct tpa_holders_block *blocks, size_t count, uint64_t address);

static inline bool tpa_holders_is_block(const struct tpa_holders_graph *graph, uint32_t vertex)
{
	return vertex > graph->root_count;
}

static inline struct tpa_holders_block *tpa_holders_block_of(const struct tpa_holders_graph *graph, uint32_t vertex)
{
	return &graph->blocks[vertex - 1 - graph->root_count];
}

#endif
