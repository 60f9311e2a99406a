/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns joined nodes into ordinary ones, with the Python frames among the native ones where the interpreter ran them. The
 * code walks a native and a Python stack outwards until both end or a pair is met that was joined before; most stacks differ
 * from an earlier one only in their innermost frames.
 */
#include <stdlib.h>

#include "base/pairs.h"
#include "trace/records.h"
#include "base/memory.h"

struct joiner {
	struct tpa_trace *trace;
	size_t *node_room;
	struct tpa_pairs known;	   /* (native node, Python node) -> the mixed node */
	struct tpa_pairs children; /* (parent, frame) -> a mixed node */
	struct tpa_join *steps;	   /* of one join, innermost first */
	size_t step_count, step_room;
	uint32_t *frames; /* Python's of one call of the loop */
	size_t frame_room;
};

/* ---- joining ---- */

static const struct tpa_frame *frame_of(const struct joiner *joiner, uint32_t node)
{
	return &joiner->trace->frames[joiner->trace->nodes[node].frame];
}

static uint32_t parent_of(const struct joiner *joiner, uint32_t node)
{
	return joiner->trace->nodes[node].parent;
}

/* The mixed node of a frame below a mixed node, made if need be. 0: no number is left. */
static uint32_t child(struct joiner *joiner, uint32_t parent, uint32_t frame)
{
	return tpa_nodes_child(joiner->trace, joiner->node_room, &joiner->children, parent, frame);
}

/* The node behind the Python frames that one call of the loop ran. */
static uint32_t past_entry(const struct joiner *joiner, uint32_t python)
{
	while (python >= TPROF_NODE_FIRST) {
		bool entry = frame_of(joiner, python)->flags & TPROF_PYTHON_ENTRY;

		python = parent_of(joiner, python);
		if (entry)
			break;
	}
	return python;
}

/* Whether Python frames come next: inside a native frame of the loop, or when there are no more native frames. */
static bool takes_python(const struct joiner *joiner, uint32_t native)
{
	const struct tpa_frame *frame;

	if (native < TPROF_NODE_FIRST)
		return true;
	frame = frame_of(joiner, native);
	return !frame->code && frame->flags & TPROF_FRAME_LOOP;
}

/*
 * Whether the join ends here: the Python stack is at its end, and the rest is the native stack's. A Python stack that was cut
 * cuts the joined one, and one that goes on outside of all native frames (`native` is NONE then) ends it in its own way.
 */
static bool at_end(uint32_t native, uint32_t python, uint32_t *rest)
{
	if (python >= TPROF_NODE_FIRST)
		return false;
	*rest = python == TPROF_NODE_CUT || native == TPROF_NODE_NONE ? python : native;
	return true;
}

/* Notes the steps outwards until the joined node is known, and returns that node. */
static uint32_t take_steps(struct joiner *joiner, uint32_t native, uint32_t python)
{
	uint32_t rest;

	joiner->step_count = 0;
	while (!at_end(native, python, &rest)) {
		rest = tpa_pairs_find(&joiner->known, native, python);
		if (rest)
			break;
		*TPA_APPEND(joiner->steps, joiner->step_count, joiner->step_room) =
			(struct tpa_join){ 0, native, python };
		if (takes_python(joiner, native))
			python = past_entry(joiner, python);
		native = native < TPROF_NODE_FIRST ? TPROF_NODE_NONE : parent_of(joiner, native);
	}
	return rest;
}

/* Adds the loop's Python frames below `mixed`, outermost first. 0: no number is left. */
static uint32_t add_python(struct joiner *joiner, uint32_t mixed, uint32_t python)
{
	uint32_t end = past_entry(joiner, python);
	size_t count = 0;

	for (; python != end; python = parent_of(joiner, python)) {
		if (!frame_of(joiner, python)->code) /* a call that has no Python frames left */
			continue;
		*TPA_APPEND(joiner->frames, count, joiner->frame_room) = joiner->trace->nodes[python].frame;
	}
	while (mixed && count-- > 0)
		mixed = child(joiner, mixed, joiner->frames[count]);
	return mixed;
}

/* 0: no number is left. */
static uint32_t join(struct joiner *joiner, uint32_t native, uint32_t python)
{
	uint32_t mixed = take_steps(joiner, native, python);

	while (mixed && joiner->step_count > 0) {
		const struct tpa_join *step = &joiner->steps[--joiner->step_count];

		if (step->native >= TPROF_NODE_FIRST)
			mixed = child(joiner, mixed, joiner->trace->nodes[step->native].frame);
		if (mixed && takes_python(joiner, step->native))
			mixed = add_python(joiner, mixed, step->python);
		if (mixed)
			tpa_pairs_set(&joiner->known, step->native, step->python, mixed);
	}
	return mixed;
}

void tpa_nodes_join(struct tpa_trace *trace, size_t *node_room, const struct tpa_join *joins, size_t count)
{
	struct joiner joiner = { .trace = trace, .node_room = node_room };

	for (size_t i = 0; i < count; i++) {
		uint32_t native = tpa_trace_node(trace, joins[i].native),
			 python = tpa_trace_node(trace, joins[i].python);
		uint32_t mixed = join(&joiner, native, python); /* may move the list of nodes */

		trace->nodes[joins[i].node] = (struct tpa_node){ mixed, 0 };
	}
	tpa_pairs_free(&joiner.known);
	tpa_pairs_free(&joiner.children);
	free(joiner.steps);
	free(joiner.frames);
}
