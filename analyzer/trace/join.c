/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the node that joins a native and a Python stack, with the Python frames among the native ones where the interpreter ran them. The
 * code walks the records of a native and a Python stack outwards until both end or a pair is met that was joined before; most
 * stacks differ from an earlier one only in their innermost frames. The two stacks themselves get no nodes.
 */
#include <stdlib.h>

#include "trace/made.h"
#include "trace/records.h"

/* ---- pairs that were joined ---- */

/* The node of a pair; 0: it was not joined. */
static uint32_t find_joined(const struct tpa_joins *joins, const struct tpa_join_step *pair)
{
	const struct tpa_join *first = &joins->first[pair->native];

	if (!first->node || first->python == pair->python)
		return first->node;
	return tpa_pairs_find(&joins->further, pair->native, pair->python);
}

static void note_joined(struct tpa_joins *joins, const struct tpa_join_step *pair, uint32_t node)
{
	struct tpa_join *first = &joins->first[pair->native];

	if (!first->node)
		*first = (struct tpa_join){ pair->python, node };
	else
		tpa_pairs_set(&joins->further, pair->native, pair->python, node);
}

/* ---- records ---- */

/* Number of the frame of a record that has one. */
static uint32_t frame_of(struct tpa_trace_impl *impl, uint32_t number)
{
	return tpa_frame_made(impl, impl->records->nodes[number].frame);
}

static const struct tpa_frame *look_at(struct tpa_trace_impl *impl, uint32_t number)
{
	uint32_t frame = frame_of(impl, number); /* may move the list of frames */

	return &impl->trace.frames[frame];
}

static uint32_t caller_of(const struct tpa_trace_impl *impl, uint32_t number)
{
	return tpa_native_number(impl, impl->records->nodes[number].parent);
}

/* The number behind the Python frames that one call of the loop ran. */
static uint32_t past_entry(struct tpa_trace_impl *impl, uint32_t python)
{
	while (python >= TPROF_NODE_FIRST) {
		bool entry = look_at(impl, python)->flags & TPROF_PYTHON_ENTRY;

		python = caller_of(impl, python);
		if (entry)
			break;
	}
	return python;
}

/* Whether Python frames come next: inside a native frame of the loop, or when there are no more native frames. */
static bool takes_python(struct tpa_trace_impl *impl, uint32_t native)
{
	const struct tpa_frame *frame;

	if (native < TPROF_NODE_FIRST)
		return true;
	frame = look_at(impl, native);
	return !frame->code && frame->flags & TPROF_FRAME_LOOP;
}

/* ---- joining ---- */

/*
 * Whether the join ends here: the Python stack is at its end, and the rest is the native stack's. A Python stack that was cut
 * cuts the joined one, and one that goes on outside of all native frames (`native` is NONE then) ends it in its own way.
 */
static bool at_end(struct tpa_trace_impl *impl, const struct tpa_join_step *pair, uint32_t *rest)
{
	if (pair->python >= TPROF_NODE_FIRST)
		return false;
	*rest = pair->python == TPROF_NODE_CUT || pair->native == TPROF_NODE_NONE ? pair->python
										  : tpa_native_node(impl, pair->native);
	return true;
}

/* Notes the steps outwards until the joined node is known, and returns that node. */
static uint32_t take_steps(struct tpa_trace_impl *impl, struct tpa_join_step pair, size_t *count)
{
	struct tpa_made *made = &impl->made;
	uint32_t rest;

	*count = 0;
	while (!at_end(impl, &pair, &rest)) {
		rest = find_joined(&made->joins, &pair);
		if (rest)
			break;
		*TPA_APPEND(made->steps, *count, made->steps_room) = pair;
		if (takes_python(impl, pair.native))
			pair.python = past_entry(impl, pair.python);
		pair.native = pair.native < TPROF_NODE_FIRST ? TPROF_NODE_NONE : caller_of(impl, pair.native);
	}
	return rest;
}

/* Adds the loop's Python frames below `mixed`, outermost first. 0: no number is left. */
static uint32_t add_python(struct tpa_trace_impl *impl, uint32_t mixed, uint32_t python, uint32_t origin)
{
	struct tpa_made *made = &impl->made;
	uint32_t end = past_entry(impl, python);
	size_t count = 0;

	for (; python != end; python = caller_of(impl, python)) {
		if (!look_at(impl, python)->code) /* a call that has no Python frames left */
			continue;
		*TPA_APPEND(made->python, count, made->python_room) = frame_of(impl, python);
	}
	while (mixed && count-- > 0)
		mixed = tpa_node_child(impl, mixed, made->python[count], origin);
	return mixed;
}

uint32_t tpa_nodes_join(struct tpa_trace_impl *impl, uint32_t native, uint32_t python, uint32_t origin)
{
	struct tpa_joins *joins = &impl->made.joins;
	size_t count;
	uint32_t mixed;

	tpa_extend(&joins->first, &joins->count, &joins->room, impl->records->node_count, sizeof(*joins->first));
	mixed = take_steps(impl,
			   (struct tpa_join_step){ tpa_native_number(impl, native), tpa_native_number(impl, python) },
			   &count);
	while (mixed && count > 0) {
		const struct tpa_join_step *step = &impl->made.steps[--count];

		if (step->native >= TPROF_NODE_FIRST)
			mixed = tpa_node_child(impl, mixed, frame_of(impl, step->native), origin);
		if (mixed && takes_python(impl, step->native))
			mixed = add_python(impl, mixed, step->python, origin);
		if (mixed)
			note_joined(joins, step, mixed);
	}
	return mixed;
}
