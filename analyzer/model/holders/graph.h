/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which block points to which in a frozen process. A vertex is a root (a variable, a thread's frame, ...) or a block.
 * Every aligned word of a root or of a reached block counts as a pointer if it holds an address in a block, except for
 * words that are known to be none. Vertex 0 stands above all roots.
 *
 * The search is breadth-first, so each block's parent lies on one of the shortest paths from a root to it. Roots are
 * searched in rounds: a root of a later round becomes a parent only of blocks that earlier rounds did not reach.
 */
#ifndef TPROF_MODEL_HOLDERS_GRAPH_H
#define TPROF_MODEL_HOLDERS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tprof/format.h>

#define TPA_NO_VERTEX UINT32_MAX

/*
 * The order in which roots are searched: the program's own variables, then all other known ones, then memory that may
 * be anything.
 */
enum tpa_holders_round { TPA_ROUND_NAMED, TPA_ROUND_STATIC, TPA_ROUND_REST, TPA_ROUNDS };

struct tpa_holders_block {
	uint64_t address, size;
	uint32_t node, op; /* of the allocation; node 0: not recorded */
	bool inner;	   /* part of a mapping that the program's own allocator divided */
	bool cut;	   /* its words are not searched: it refers to nothing, or its words are roots */
	bool owned;	   /* a table of a Python object: other pointers to it do not keep it alive */
	uint8_t head;	   /* offset of the Python object in it */
	uint32_t type;	   /* number of the object's type; 0: not a Python object */
};

/* A root. low, high: the addresses that belong to it; empty: only the one word. */
struct tpa_holders_root {
	uint64_t low, high;
	uint8_t kind;  /* enum tprof_holder */
	uint8_t round; /* enum tpa_holders_round */
	char name[256];
};

/* Copies memory of the process. Memory that is not there reads as zeros. */
typedef void tpa_holders_read(void *context, uint64_t address, void *to, size_t size);
/* Fills all of *root for the word at `address`; 0: a register. */
typedef void tpa_holders_name(void *context, uint64_t address, struct tpa_holders_root *root);
/* Is the word at address `at` in the vertex (0: in a root) known not to be a pointer to blocks[target]? */
typedef bool tpa_holders_skip(void *context, uint32_t vertex, uint64_t at, size_t target, uint64_t value);

struct tpa_holders_range {
	uint64_t low, high;
	bool exact_only; /* only pointers to the beginning of a block count */
};

struct tpa_holders_input {
	const struct tpa_holders_range *ranges;
	size_t range_count;
	const uint64_t *words; /* contents of registers */
	size_t word_count;
	tpa_holders_read *read;
	tpa_holders_name *name;
	tpa_holders_skip *skip; /* NULL: no word is skipped */
	/*
	 * Unreached blocks for which this is true are held by a root of their own, with the name `orphans`. NULL: none
	 */
	bool (*is_orphan)(const struct tpa_holders_block *block);
	const char *orphans;
	void *context;
};

struct tpa_holders_graph {
	struct tpa_holders_block *blocks; /* sorted by address; not owned */
	size_t block_count;
	struct tpa_holders_root *roots;
	size_t root_count, root_room;
	uint32_t vertices; /* 1 + root_count + block_count */
	uint32_t *parent;  /* of each vertex; TPA_NO_VERTEX: not reached */
	uint32_t *depth;   /* distance from vertex 0 */
	uint64_t *via;	   /* address of the parent's pointer */
	uint64_t *first;   /* the targets of v are targets[first[v]] up to, but without, targets[first[v] + count[v]] */
	uint32_t *count;
	uint32_t *targets;
	size_t target_count, target_room;
	uint64_t interior;   /* number of edges by pointers into the inside of a block */
	uint64_t unreadable; /* bytes that could not be read; counted by the reader */
};

/* Builds the graph; free it with tpa_holders_graph_free(). `blocks`: sorted by address; must outlive the graph. */
void tpa_holders_graph_build(struct tpa_holders_graph *graph, struct tpa_holders_block *blocks, size_t count,
			     const struct tpa_holders_input *input);
void tpa_holders_graph_free(struct tpa_holders_graph *graph);

/* The index of the block that holds the address; SIZE_MAX: none. `blocks`: sorted by address. */
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
