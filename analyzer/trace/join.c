/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the node that joins a native and a Python stack, with the Python frames among the native ones where the interpreter ran them. The
 * code walks a native and a Python stack outwards until both end or a pair is met that was joined before; most stacks differ
 * from an earlier one only in their innermost frames.
 */
#include <stdlib.h>

#include "trace/impl.h"

static const struct tpa_frame *frame_of(const struct tpa_trace *trace, uint32_t node)
{
	return &trace->frames[trace->nodes[node].frame];
}

/* The node behind the Python frames that one call of the loop ran. */
static uint32_t past_entry(const struct tpa_trace *trace, uint32_t python)
{
	while (python >= TPROF_NODE_FIRST) {
		bool entry = frame_of(trace, python)->flags & TPROF_PYTHON_ENTRY;

		python = trace->nodes[python].parent;
		if (entry)
			break;
	}
	return python;
}

/* Whether Python frames come next: inside a native frame of the loop, or when there are no more native frames. */
static bool takes_python(const struct tpa_trace *trace, uint32_t native)
{
	const struct tpa_frame *frame;

	if (native < TPROF_NODE_FIRST)
		return true;
	frame = frame_of(trace, native);
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
static uint32_t take_steps(struct tpa_trace_impl *impl, uint32_t native, uint32_t python, size_t *count)
{
	const struct tpa_trace *trace = &impl->trace;
	struct tpa_made *made = &impl->made;
	uint32_t rest;

	*count = 0;
	while (!at_end(native, python, &rest)) {
		rest = tpa_pairs_find(&made->joined, native, python);
		if (rest)
			break;
		*TPA_APPEND(made->steps, *count, made->steps_room) = (struct tpa_join_step){ native, python };
		if (takes_python(trace, native))
			python = past_entry(trace, python);
		native = native < TPROF_NODE_FIRST ? TPROF_NODE_NONE : trace->nodes[native].parent;
	}
	return rest;
}

/* Adds the loop's Python frames below `mixed`, outermost first. 0: no number is left. */
static uint32_t add_python(struct tpa_trace_impl *impl, uint32_t mixed, uint32_t python, uint32_t origin)
{
	const struct tpa_trace *trace = &impl->trace;
	struct tpa_made *made = &impl->made;
	uint32_t end = past_entry(trace, python);
	size_t count = 0;

	for (; python != end; python = trace->nodes[python].parent) {
		if (!frame_of(trace, python)->code) /* a call that has no Python frames left */
			continue;
		*TPA_APPEND(made->python, count, made->python_room) = trace->nodes[python].frame;
	}
	while (mixed && count-- > 0)
		mixed = tpa_node_child(impl, mixed, made->python[count], origin);
	return mixed;
}

uint32_t tpa_nodes_join(struct tpa_trace_impl *impl, uint32_t native, uint32_t python, uint32_t origin)
{
	const struct tpa_trace *trace = &impl->trace;
	size_t count;
	uint32_t mixed = take_steps(impl, native, python, &count);

	while (mixed && count > 0) {
		const struct tpa_join_step *step = &impl->made.steps[--count];

		if (step->native >= TPROF_NODE_FIRST)
			mixed = tpa_node_child(impl, mixed, trace->nodes[step->native].frame, origin);
		if (mixed && takes_python(trace, step->native))
			mixed = add_python(impl, mixed, step->python, origin);
		if (mixed)
			tpa_pairs_set(&impl->made.joined, step->native, step->python, mixed);
	}
	return mixed;
}
