/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace's own frames and nodes. The file numbers frames and nodes as threads met them: one stack may have several numbers, and
 * a number may stand for a native and a Python stack that are to be joined. So trace.frames and trace.nodes have numbers of their
 * own: each frame and each node is there once, made when the first number that means it is asked for. What was made stays as it is
 * while the file grows.
 */
#ifndef TPROF_TRACE_MADE_H
#define TPROF_TRACE_MADE_H

#include "base/memory.h"
#include "base/pairs.h"
#include "trace/trace.h"

struct tpa_trace_impl;

/* Finds a node by its parent and frame. Most nodes are their parent's only child; only further ones go to the hash table. */
struct tpa_children {
	uint32_t *only; /* a node's first child; 0: none */
	size_t only_room;
	uint32_t *table; /* further children; 0: empty slot */
	unsigned bits;
	uint32_t count;
};

/* A native and a Python stack to be joined, by numbers of the file. */
struct tpa_join_step {
	uint32_t native, python;
};

/* A Python stack that a native one was joined with, by the file's number, and the joined node; 0: none. */
struct tpa_join {
	uint32_t python, node;
};

/* Finds the node of a pair that was joined. Most native stacks are joined with one Python stack; only further ones go to a table. */
struct tpa_joins {
	struct tpa_join *first; /* for each node number of the file, once a join was asked for */
	size_t count, room;
	struct tpa_pairs further; /* (native, Python) -> the joined node */
};

struct tpa_made {
	uint32_t *of_frame; /* for each frame number of the file: the frame; 0: not made yet */
	size_t of_frame_count, of_frame_room;
	uint32_t *of_node; /* for each node number of the file: the node + 1; 0: not made yet */
	size_t of_node_count, of_node_room;
	uint32_t *origin; /* for each node: a number that the file has for it */
	size_t frame_room, node_room, origin_room;
	struct tpa_pairs frames; /* what a frame is -> the frame */
	struct tpa_children children;
	struct tpa_joins joins;
	/* Room to work in. */
	uint32_t *numbers;
	struct tpa_join_step *steps;
	uint32_t *python;
	size_t numbers_room, steps_room, python_room;
};

/* Makes the lists' first elements, which are unused. */
void tpa_made_begin(struct tpa_trace_impl *impl);
void tpa_made_free(struct tpa_made *made);

/* The frame of a number of the file. One whose record is missing has pc and code 0, and equals no other. 0: no number is left. */
uint32_t tpa_frame_made(struct tpa_trace_impl *impl, uint32_t number);

/* The same frame, in code `code` of the jitdump (0: in none). 0: no number is left. */
uint32_t tpa_frame_in_code(struct tpa_trace_impl *impl, uint32_t frame, uint32_t code);

/*
 * The node of a frame below a parent, made if need be, for number `origin` of the file. 0: no number is left, or there is no frame.
 */
uint32_t tpa_node_child(struct tpa_trace_impl *impl, uint32_t parent, uint32_t frame, uint32_t origin);

/*
 * The number of the first record with a frame, of a number of the file and its callers. A join counts as its native stack. Below
 * TPROF_NODE_FIRST: how the stack ends.
 */
uint32_t tpa_native_number(const struct tpa_trace_impl *impl, uint32_t number);

/* The node of the native stack that a number of the file stands for. */
uint32_t tpa_native_node(struct tpa_trace_impl *impl, uint32_t number);

/* The node that joins two stacks of the file. 0: no number is left, or there is no stack. */
uint32_t tpa_nodes_join(struct tpa_trace_impl *impl, uint32_t native, uint32_t python, uint32_t origin);

#endif
