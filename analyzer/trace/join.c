/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joined nodes become nodes like any other: their Python frames stand among the native ones, where the interpreter ran
 * them. From a native stack and a Python stack outwards, step by step, until both are at an end or a pair is met whose
 * outcome is known; most stacks differ from one that was seen in their innermost frames only.
 */
#include <stdlib.h>

#include "trace/tables.h"

/* (a, b) -> number. */
struct pairs {
	uint64_t *keys;	   /* a << 32 | b */
	uint32_t *numbers; /* 0: empty */
	unsigned bits;
	size_t count;
};

struct joiner {
	struct tp_trace *trace;
	size_t *node_room;
	struct pairs known;    /* (native node, Python node) -> the mixed node */
	struct pairs children; /* (parent, frame) -> a mixed node */
	struct tp_join *steps; /* of one join, innermost first */
	size_t step_count, step_room;
	uint32_t *frames; /* Python's of one call of the loop */
	size_t frame_room;
};

/* ---- pairs ---- */

static size_t slot_of(const struct pairs *pairs, uint64_t key)
{
	uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
	size_t mask = ((size_t)1 << pairs->bits) - 1;
	size_t i = (size_t)((hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> (64 - pairs->bits));

	while (pairs->numbers[i] && pairs->keys[i] != key)
		i = (i + 1) & mask;
	return i;
}

static void free_pairs(struct pairs *pairs)
{
	free(pairs->keys);
	free(pairs->numbers);
}

static bool grow(struct pairs *pairs)
{
	struct pairs larger = { .bits = pairs->bits ? pairs->bits + 1 : 10, .count = pairs->count };
	size_t old = pairs->bits ? (size_t)1 << pairs->bits : 0;

	larger.keys = calloc((size_t)1 << larger.bits, sizeof(*larger.keys));
	larger.numbers = calloc((size_t)1 << larger.bits, sizeof(*larger.numbers));
	if (!larger.keys || !larger.numbers) {
		free_pairs(&larger);
		return false;
	}
	for (size_t i = 0; i < old; i++) {
		size_t at;

		if (!pairs->numbers[i])
			continue;
		at = slot_of(&larger, pairs->keys[i]);
		larger.keys[at] = pairs->keys[i];
		larger.numbers[at] = pairs->numbers[i];
	}
	free_pairs(pairs);
	*pairs = larger;
	return true;
}

static uint32_t find(const struct pairs *pairs, uint32_t a, uint32_t b)
{
	return pairs->bits ? pairs->numbers[slot_of(pairs, (uint64_t)a << 32 | b)] : 0;
}

static bool set(struct pairs *pairs, uint32_t a, uint32_t b, uint32_t number)
{
	size_t at;

	if ((!pairs->bits || pairs->count >= (size_t)1 << (pairs->bits - 1)) && !grow(pairs))
		return false;
	at = slot_of(pairs, (uint64_t)a << 32 | b);
	pairs->count += !pairs->numbers[at];
	pairs->keys[at] = (uint64_t)a << 32 | b;
	pairs->numbers[at] = number;
	return true;
}

/* ---- joining ---- */

static const struct tp_frame *frame_of(const struct joiner *joiner, uint32_t node)
{
	return &joiner->trace->frames[joiner->trace->nodes[node].frame];
}

static uint32_t parent_of(const struct joiner *joiner, uint32_t node)
{
	return joiner->trace->nodes[node].parent;
}

/* The mixed node of a frame below a mixed node, made if need be. 0: no memory. */
static uint32_t child(struct joiner *joiner, uint32_t parent, uint32_t frame)
{
	struct tp_trace *trace = joiner->trace;
	uint32_t number = find(&joiner->children, parent, frame);

	if (number || trace->node_count >= UINT32_MAX)
		return number;
	number = (uint32_t)trace->node_count;
	if (!tp_reserve(&trace->nodes, joiner->node_room, trace->node_count + 1, sizeof(*trace->nodes)) ||
	    !set(&joiner->children, parent, frame, number))
		return 0;
	trace->nodes[trace->node_count++] = (struct tp_node){ parent, frame };
	return number;
}

/* Past the Python frames that one call of the loop ran. */
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

static bool is_loop(const struct joiner *joiner, uint32_t native)
{
	const struct tp_frame *frame = frame_of(joiner, native);

	return !frame->code && frame->flags & TPROF_FRAME_LOOP;
}

/* Where one of the two stacks ends: the rest is the other's. A Python stack that was cut cuts the whole. */
static bool at_end(uint32_t native, uint32_t python, uint32_t *rest)
{
	if (native >= TPROF_NODE_FIRST && python >= TPROF_NODE_FIRST)
		return false;
	*rest = native < TPROF_NODE_FIRST && python >= TPROF_NODE_FIRST ? python
		: python == TPROF_NODE_CUT				? (uint32_t)TPROF_NODE_CUT
									: native;
	return true;
}

/* Outwards, until the outcome is known: *rest. False: no memory. */
static bool take_steps(struct joiner *joiner, uint32_t native, uint32_t python, uint32_t *rest)
{
	joiner->step_count = 0;
	while (!at_end(native, python, rest)) {
		*rest = find(&joiner->known, native, python);
		if (*rest)
			return true;
		if (!tp_reserve(&joiner->steps, &joiner->step_room, joiner->step_count + 1, sizeof(*joiner->steps)))
			return false;
		joiner->steps[joiner->step_count++] = (struct tp_join){ 0, native, python };
		if (is_loop(joiner, native))
			python = past_entry(joiner, python);
		native = parent_of(joiner, native);
	}
	return true;
}

/* The loop's Python frames below `mixed`, outermost first. 0: no memory. */
static uint32_t add_python(struct joiner *joiner, uint32_t mixed, uint32_t python)
{
	uint32_t end = past_entry(joiner, python);
	size_t count = 0;

	for (; python != end; python = parent_of(joiner, python)) {
		if (!tp_reserve(&joiner->frames, &joiner->frame_room, count + 1, sizeof(*joiner->frames)))
			return 0;
		joiner->frames[count++] = joiner->trace->nodes[python].frame;
	}
	while (mixed && count-- > 0)
		mixed = child(joiner, mixed, joiner->frames[count]);
	return mixed;
}

/* 0: no memory. */
static uint32_t join(struct joiner *joiner, uint32_t native, uint32_t python)
{
	uint32_t mixed;

	if (!take_steps(joiner, native, python, &mixed))
		return 0;
	while (mixed && joiner->step_count > 0) {
		const struct tp_join *step = &joiner->steps[--joiner->step_count];

		mixed = child(joiner, mixed, joiner->trace->nodes[step->native].frame);
		if (mixed && is_loop(joiner, step->native))
			mixed = add_python(joiner, mixed, step->python);
		if (mixed && !set(&joiner->known, step->native, step->python, mixed))
			return 0;
	}
	return mixed;
}

bool tp_nodes_join(struct tp_trace *trace, size_t *node_room, const struct tp_join *joins, size_t count)
{
	struct joiner joiner = { .trace = trace, .node_room = node_room };
	bool good = true;

	for (size_t i = 0; good && i < count; i++) {
		uint32_t native = tp_trace_node(trace, joins[i].native), python = tp_trace_node(trace, joins[i].python);
		uint32_t mixed = join(&joiner, native, python);

		good = mixed != 0 || native < TPROF_NODE_FIRST;
		trace->nodes[joins[i].node] = (struct tp_node){ mixed, 0 };
	}
	free_pairs(&joiner.known);
	free_pairs(&joiner.children);
	free(joiner.steps);
	free(joiner.frames);
	return good;
}
