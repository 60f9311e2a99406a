/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks, interned as a tree: (parent node, frame) -> node. A hash table without locks, filled by any thread; a node's
 * record is in the trace before its number can be found here.
 */
#ifndef TPROF_STACKS_NODES_H
#define TPROF_STACKS_NODES_H

#include "core/base.h"

/* The child of `parent` for `frame`; 0 if it is not known. */
uint32_t tp_node_find(uint32_t parent, uint32_t frame);

/* Makes a chain of nodes below `parent`, one for each frame, outermost first. Returns the first's number; the others'
 * follow it. */
uint32_t tp_nodes_make(uint32_t parent, const uint32_t *frames, size_t count);

/* The number of a node that is two joined: native frames and Python frames, see TPROF_CLASS_JOIN. */
uint32_t tp_node_join(uint32_t native, uint32_t python);

/*
 * The same table for other things: keys of 64 bits, of which the highest is set (no node's is). A number is kept when its
 * record is in the trace. 0: not known.
 */
uint32_t tp_number_find(uint64_t key);
void tp_number_keep(uint64_t key, uint32_t number);

/* In a forked child: nothing is numbered in its trace yet. */
void tp_nodes_forget(void);

#endif
