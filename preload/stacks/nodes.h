/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks, interned as a tree: (parent node, frame) -> node. A table without locks that any thread fills; a node's
 * record is in the trace before its number can be found here.
 */
#ifndef TPROF_STACKS_NODES_H
#define TPROF_STACKS_NODES_H

#include "core/base.h"

/* The state of the parent's children when one was not found: it may be added if they are still the same. */
struct tpc_node_miss {
	uint32_t youngest; /* child in the parent's list; 0: none */
	uint32_t listed;   /* number of children in the list */
};

/* The child of `parent` for `frame`; 0: not known, and *miss is filled in. */
uint32_t tpc_node_find(uint32_t parent, uint32_t frame, struct tpc_node_miss *miss);

/*
 * Makes a chain of nodes below `parent`, one for each frame, outermost first; the outermost was not found: *miss.
 * Returns the number of the first; the others follow it.
 */
uint32_t tpc_nodes_make(uint32_t parent, const uint32_t *frames, size_t count, const struct tpc_node_miss *miss);

/* The number of a node that joins two: native frames and Python frames, see TPROF_CLASS_JOIN. */
uint32_t tpc_node_join(uint32_t native, uint32_t python);

/*
 * Numbers of other things, by keys of 64 bits whose highest bit is set (no node's is). To be kept once the record is in
 * the trace. 0: not known.
 */
uint32_t tpc_number_find(uint64_t key);
void tpc_number_keep(uint64_t key, uint32_t number);

/* In a forked child: nothing is numbered in its trace yet. */
void tpc_nodes_forget(void);

#endif
