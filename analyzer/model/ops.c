/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ops.h"

#include <stdlib.h>
#include <string.h>

#include "trace/impl.h"

#define SHAPE_MAX 255 /* bytes of a shape's text */

/* ---- numbers ---- */

static int compare_ops(const void *left, const void *right, void *context)
{
	const struct tp_op *ops = context, *a = &ops[*(const uint32_t *)left], *b = &ops[*(const uint32_t *)right];
	int order = strcmp(a->name, b->name);

	order = order ? order : strcmp(a->category, b->category);
	return order ? order : a < b ? -1 : a > b;
}

static bool same_names(const struct tp_op *a, const struct tp_op *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->category, b->category) == 0;
}

/* Two threads may have given a name a number each. */
static bool unify(struct tp_ops *ops)
{
	const struct tp_trace *trace = ops->trace;
	uint32_t *order = calloc(trace->op_count, sizeof(*order)), named = 0;

	for (uint32_t i = 1; order && i < trace->op_count; i++)
		if (trace->ops[i].name)
			order[named++] = i;
	if (order && named)
		qsort_r(order, named, sizeof(*order), compare_ops, trace->ops);
	for (uint32_t i = 0; order && i < named; i++) {
		bool same = i && same_names(&trace->ops[order[i - 1]], &trace->ops[order[i]]);

		ops->same[order[i]] = same ? ops->same[order[i - 1]] : order[i];
	}
	free(order);
	return order != NULL;
}

bool tp_ops_init(struct tp_ops *ops, const struct tp_trace *trace)
{
	ops->trace = trace;
	ops->count = trace->op_count ? (uint32_t)trace->op_count + 1 : 2;
	if (!trace->op_count)
		return true;
	ops->same = calloc(trace->op_count, sizeof(*ops->same));
	return ops->same && unify(ops);
}

void tp_ops_free(struct tp_ops *ops)
{
	for (uint32_t i = 0; ops->states && i < ops->count; i++) {
		struct tp_op_state *state = ops->states[i];

		if (!state)
			continue;
		for (size_t k = 0; k < state->stats.shape_count; k++)
			free(state->stats.shapes[k].text);
		free(state->stats.shapes);
		tp_histogram_free(&state->durations);
		free(state);
	}
	free(ops->states);
	free(ops->same);
}

/* One number a name, never 0; that of ops without a name is the last. */
static uint32_t number_of(const struct tp_ops *ops, uint64_t number)
{
	uint32_t same = number < ops->trace->op_count ? ops->same[number] : 0;

	return same ? same : ops->count - 1;
}

static struct tp_op_state *state_of(struct tp_ops *ops, uint32_t op)
{
	if (!ops->states)
		ops->states = calloc(ops->count, sizeof(*ops->states));
	if (!ops->states)
		return NULL;
	if (!ops->states[op]) {
		ops->states[op] = calloc(1, sizeof(**ops->states));
		if (ops->states[op])
			ops->states[op]->stats.op = op;
	}
	return ops->states[op];
}

/* ---- calls ---- */

/* Times of a thread do not run backwards, unless the trace is damaged. */
static uint64_t duration_of(const struct tp_op_frame *frame, uint64_t time_ns)
{
	return time_ns > frame->begin_ns ? time_ns - frame->begin_ns : 0;
}

static bool is_open(const struct tp_op_stack *stack, uint32_t op)
{
	for (uint32_t i = 0; i < stack->count; i++)
		if (stack->frames[i].op == op)
			return true;
	return false;
}

static bool make_room(struct tp_op_stack *stack)
{
	size_t room = stack->room;

	if (!tp_reserve(&stack->frames, &room, (size_t)stack->count + 1, sizeof(*stack->frames)))
		return false;
	stack->room = (uint32_t)room;
	return true;
}

bool tp_ops_begin(struct tp_ops *ops, struct tp_op_stack *stack, uint64_t number, uint64_t time_ns, bool counted)
{
	uint32_t op = number_of(ops, number);

	ops->counts.events += counted;
	if (stack->count == TP_OP_DEPTH) {
		stack->deeper++;
		ops->counts.too_deep += counted;
		return true;
	}
	if (!make_room(stack))
		return false;
	stack->frames[stack->count] = (struct tp_op_frame){
		.op = op, .counted = counted, .recursive = is_open(stack, op), .begin_ns = time_ns
	};
	stack->count++;
	return true;
}

/* Modulo 2^64: sizes of a damaged trace may be any. */
static int64_t add(int64_t net, uint64_t bytes)
{
	return (int64_t)((uint64_t)net + bytes);
}

static void add_shape(struct tp_op_stats *stats, const struct tp_op_frame *frame, uint64_t duration)
{
	struct tp_shape_stats *shape = &stats->shapes[frame->shape - 1];

	shape->calls++;
	shape->total_ns += frame->recursive ? 0 : duration;
	shape->flop += frame->flop;
}

static void add_memory(struct tp_op_stats *stats, const struct tp_op_frame *frame)
{
	stats->self_allocated_bytes += frame->self_allocated;
	if (frame->recursive)
		return;
	stats->allocated_bytes += frame->memory.allocated;
	stats->net_bytes = add(stats->net_bytes, (uint64_t)frame->memory.net);
	if (frame->memory.peak > 0 && (uint64_t)frame->memory.peak > stats->peak_bytes)
		stats->peak_bytes = (uint64_t)frame->memory.peak;
}

static bool add_call(struct tp_ops *ops, const struct tp_op_frame *frame, bool unwound, uint64_t time_ns)
{
	struct tp_op_state *state = state_of(ops, frame->op);
	uint64_t duration = duration_of(frame, time_ns);

	if (!state)
		return false;
	if (!state->stats.calls++)
		state->stats.first_ns = duration;
	else
		tp_moments_add(&state->later, (double)duration);
	state->stats.unwound += unwound;
	state->stats.total_ns += frame->recursive ? 0 : duration;
	state->stats.self_ns += duration > frame->children_ns ? duration - frame->children_ns : 0;
	state->stats.flop += frame->flop;
	state->stats.bytes += frame->bytes;
	add_memory(&state->stats, frame);
	if (frame->shape)
		add_shape(&state->stats, frame, duration);
	return tp_histogram_add(&state->durations, duration);
}

/* What happened in an op happened in the one around it too. */
static void add_to_outer(struct tp_op_frame *outer, const struct tp_op_frame *frame, uint64_t time_ns)
{
	int64_t high = add(outer->memory.net, (uint64_t)frame->memory.peak);

	outer->children_ns += duration_of(frame, time_ns);
	outer->memory.allocated += frame->memory.allocated;
	if (high > outer->memory.peak)
		outer->memory.peak = high;
	outer->memory.net = add(outer->memory.net, (uint64_t)frame->memory.net);
}

bool tp_ops_end(struct tp_ops *ops, struct tp_op_stack *stack, bool unwound, uint64_t time_ns, bool counted)
{
	struct tp_op_frame frame;

	ops->counts.events += counted;
	if (stack->deeper) {
		stack->deeper--;
		return true;
	}
	if (!stack->count) {
		ops->counts.unmatched_ends += counted;
		return true;
	}
	frame = stack->frames[--stack->count];
	if (stack->count)
		add_to_outer(&stack->frames[stack->count - 1], &frame, time_ns);
	return !frame.counted || add_call(ops, &frame, unwound, time_ns);
}

/* ---- details ---- */

/* Index + 1 of a shape; 0: no memory. The last of the list stands for those that found no place. */
static uint32_t shape_of(struct tp_op_state *state, const char *text, size_t length)
{
	struct tp_op_stats *stats = &state->stats;
	struct tp_shape_stats *shape;

	length = length < SHAPE_MAX ? length : SHAPE_MAX;
	for (size_t i = 0; i < stats->shape_count; i++) {
		shape = &stats->shapes[i];
		if (shape->text && strncmp(shape->text, text, length) == 0 && !shape->text[length])
			return (uint32_t)i + 1;
	}
	if (stats->shape_count > TP_OP_SHAPES)
		return TP_OP_SHAPES + 1;
	if (!tp_reserve(&stats->shapes, &state->shape_room, stats->shape_count + 1, sizeof(*stats->shapes)))
		return 0;
	shape = &stats->shapes[stats->shape_count];
	*shape = (struct tp_shape_stats){ 0 };
	if (stats->shape_count < TP_OP_SHAPES) {
		shape->text = strndup(text, length);
		if (!shape->text)
			return 0;
	}
	return (uint32_t)++stats->shape_count;
}

bool tp_ops_detail(struct tp_ops *ops, struct tp_op_stack *stack, uint64_t flop, uint64_t bytes, const char *shape,
		   size_t length)
{
	struct tp_op_frame *frame = stack->count ? &stack->frames[stack->count - 1] : NULL;
	struct tp_op_state *state;

	if (!frame || stack->deeper || !frame->counted)
		return true;
	frame->flop += flop;
	frame->bytes += bytes;
	if (!length)
		return true;
	state = state_of(ops, frame->op);
	frame->shape = state ? shape_of(state, shape, length) : 0;
	return frame->shape != 0;
}

/* ---- memory ---- */

void tp_op_allocated(struct tp_op_stack *stack, uint64_t bytes)
{
	struct tp_op_frame *frame = &stack->frames[stack->count - 1];

	frame->self_allocated += bytes;
	frame->memory.allocated += bytes;
	frame->memory.net = add(frame->memory.net, bytes);
	if (frame->memory.net > frame->memory.peak)
		frame->memory.peak = frame->memory.net;
}

void tp_op_freed(struct tp_op_stack *stack, uint64_t bytes)
{
	struct tp_op_frame *frame = &stack->frames[stack->count - 1];

	frame->memory.net = add(frame->memory.net, 0 - bytes);
}

/* ---- the result ---- */

bool tp_ops_left_open(struct tp_ops *ops, const struct tp_op_stack *stack)
{
	for (uint32_t i = 0; i < stack->count; i++) {
		struct tp_op_state *state = stack->frames[i].counted ? state_of(ops, stack->frames[i].op) : NULL;

		if (stack->frames[i].counted && !state)
			return false;
		if (state)
			state->stats.open++;
	}
	return true;
}

static void finish(const struct tp_ops *ops, struct tp_op_state *state)
{
	struct tp_op_stats *stats = &state->stats;
	const struct tp_op *op = stats->op < ops->trace->op_count ? &ops->trace->ops[stats->op] : NULL;

	stats->name = op ? op->name : "(unnamed)";
	stats->category = op ? op->category : "";
	stats->durations = state->later;
	stats->mean_ns = stats->calls > 1 ? state->later.mean : (double)stats->first_ns;
	stats->min_ns = state->durations.min;
	stats->max_ns = state->durations.max;
	stats->p50_ns = tp_histogram_percentile(&state->durations, 0.5);
	stats->p90_ns = tp_histogram_percentile(&state->durations, 0.9);
	stats->p99_ns = tp_histogram_percentile(&state->durations, 0.99);
}

static int by_total(const void *left, const void *right)
{
	const struct tp_op_stats *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a->op < b->op ? -1 : a->op > b->op;
}

struct tp_op_stats *tp_ops_result(struct tp_ops *ops, size_t *count)
{
	struct tp_op_stats *list;
	size_t found = 0;

	for (uint32_t i = 0; ops->states && i < ops->count; i++)
		found += ops->states[i] && (ops->states[i]->stats.calls || ops->states[i]->stats.open);
	list = calloc(found + 1, sizeof(*list));
	*count = 0;
	for (uint32_t i = 0; list && ops->states && i < ops->count; i++) {
		struct tp_op_state *state = ops->states[i];

		if (!state || (!state->stats.calls && !state->stats.open))
			continue;
		finish(ops, state);
		list[(*count)++] = state->stats;
		state->stats.shapes = NULL; /* the list's now */
		state->stats.shape_count = 0;
	}
	if (list && *count)
		qsort(list, *count, sizeof(*list), by_total);
	return list;
}
