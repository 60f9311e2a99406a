/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks, interned as a tree: (parent node, frame) -> node. A hash table without locks, filled by any thread; a node's
 * record is in the trace before its number can be found here.
 */
#ifndef TPROF_STACKS_NODES_H
#define TPROF_STACKS_NODES_H

#include "core/base.h"

/* Among which children one was not found: it may be put beside them, if they are still all. */
struct tpc_node_miss {
	uint32_t youngest; /* of those in the parent's list; 0: there is none */
	uint32_t listed;   /* how many are */
};

/* The child of `parent` for `frame`; 0 if it is not known: then *miss is filled in. */
uint32_t tpc_node_find(uint32_t parent, uint32_t frame, struct tpc_node_miss *miss);

/*
 * Makes a chain of nodes below `parent`, one for each frame, outermost first, of which the outermost was not found: *miss.
 * Returns the first's number; the others' follow it.
 */
uint32_t tpc_nodes_make(uint32_t parent, const uint32_t *frames, size_t count, const struct tpc_node_miss *miss);

/* The number of a node that is two joined: native frames and Python frames, see TPROF_CLASS_JOIN. */
uint32_t tpc_node_join(uint32_t native, uint32_t python);

/*
 * The same table for other things: keys of 64 bits, of which the highest is set (no node's is). A number is kept when its
 * record is in the trace. 0: not known.
 */
uint32_t tpc_number_find(uint64_t key);
void tpc_number_keep(uint64_t key, uint32_t number);

/* In a forked child: nothing is numbered in its trace yet. */
void tpc_nodes_forget(void);

#endif
