/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ops/ops.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

/* ---- numbers ---- */

static int compare_ops(const void *left, const void *right, void *context)
{
	const struct tpa_op *ops = context, *a = &ops[*(const uint32_t *)left], *b = &ops[*(const uint32_t *)right];

	return strcmp(a->name, b->name) ?: strcmp(a->category, b->category) ?: TPA_UP(a, b);
}

static bool same_names(const struct tpa_op *a, const struct tpa_op *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->category, b->category) == 0;
}

/* Finds op numbers with the same name and category: two threads may each have given a name its own number. */
static void unify(struct tpa_ops *ops)
{
	const struct tpa_trace *trace = ops->trace;
	uint32_t *order = tpa_zalloc(trace->op_count, sizeof(*order)), named = 0;

	for (uint32_t i = 1; i < trace->op_count; i++)
		if (trace->ops[i].name)
			order[named++] = i;
	qsort_r(order, named, sizeof(*order), compare_ops, trace->ops);
	for (uint32_t i = 0; i < named; i++) {
		bool same = i && same_names(&trace->ops[order[i - 1]], &trace->ops[order[i]]);

		ops->same[order[i]] = same ? ops->same[order[i - 1]] : order[i];
	}
	free(order);
}

void tpa_ops_init(struct tpa_ops *ops, const struct tpa_trace *trace, const struct tpa_cost *cost)
{
	ops->trace = trace;
	ops->cost = cost;
	ops->count = trace->op_count ? (uint32_t)trace->op_count + 1 : 2;
	if (!trace->op_count)
		return;
	ops->same = tpa_zalloc(trace->op_count, sizeof(*ops->same));
	ops->torch = tpa_zalloc(trace->op_count, sizeof(*ops->torch));
	unify(ops);
	if (trace->regions)
		ops->opened_in = tpa_zalloc(trace->op_count, sizeof(*ops->opened_in));
}

void tpa_ops_free(struct tpa_ops *ops)
{
	for (uint32_t i = 0; ops->states && i < ops->count; i++) {
		struct tpa_op_state *state = ops->states[i];

		if (!state)
			continue;
		for (size_t k = 0; k < state->stats.shape_count; k++)
			free(state->stats.shapes[k].text);
		free(state->stats.shapes);
		tpa_histogram_free(state->durations);
		free(state->durations);
		free(state->means);
		free(state->batches);
		free(state);
	}
	free(ops->states);
	free(ops->same);
	free(ops->torch);
	free(ops->opened_in);
	tpa_op_tree_free(&ops->tree);
}

uint32_t tpa_op_of(const struct tpa_ops *ops, uint64_t number)
{
	uint32_t same = number < ops->trace->op_count ? ops->same[number] : 0;

	return same ? same : ops->count - 1;
}

/* The innermost op that is not a region; 0: none. For a region that runs in an op, that op. */
static uint32_t around(const struct tpa_ops *ops, const struct tpa_op_stack *stack)
{
	for (uint32_t i = stack->count; i > 0; i--) {
		uint32_t number = stack->frames[i - 1].op;
		const struct tpa_op *op = &ops->trace->ops[number];

		if (tpa_op_is_nameless(ops, number) || !op->parallel)
			return number;
		if (op->runs_in)
			return op->runs_in;
	}
	return 0;
}

uint32_t tpa_op_begins(struct tpa_ops *ops, const struct tpa_op_stack *stack, uint64_t number)
{
	uint32_t op = tpa_op_of(ops, number), outer;
	const struct tpa_op *of, *in;

	if (!ops->opened_in || tpa_op_is_nameless(ops, op) || !ops->trace->ops[op].parallel)
		return op;
	of = &ops->trace->ops[op];
	if (of->parallel == TPA_PARALLEL_PART && !stack->count)
		outer = of->region ? ops->opened_in[tpa_op_of(ops, of->region)] : 0;
	else
		outer = around(ops, stack);
	if (of->parallel == TPA_PARALLEL_REGION)
		ops->opened_in[op] = outer;
	if (!outer || tpa_op_is_nameless(ops, outer))
		return op;
	in = &ops->trace->ops[outer];
	return !of->has_symbol || in->library ? in->region + (of->parallel == TPA_PARALLEL_PART) : op;
}

static struct tpa_op_state *new_state(uint32_t op, bool batches)
{
	struct tpa_op_state *state = tpa_zalloc(1, sizeof(*state));

	state->stats.op = op;
	state->durations = tpa_zalloc(1, sizeof(*state->durations));
	state->means = tpa_zalloc(1, sizeof(*state->means));
	state->batches = batches ? tpa_zalloc(1, sizeof(*state->batches)) : NULL;
	return state;
}

struct tpa_op_state *tpa_op_state(struct tpa_ops *ops, uint32_t op)
{
	if (!ops->states)
		ops->states = tpa_zalloc(ops->count, sizeof(*ops->states));
	if (!ops->states[op])
		ops->states[op] = new_state(op, ops->batches);
	return ops->states[op];
}

/* ---- calls ---- */

bool tpa_op_is_open(const struct tpa_op_stack *stack, uint32_t op)
{
	for (uint32_t i = 0; i < stack->count; i++)
		if (stack->frames[i].op == op)
			return true;
	return false;
}

static void make_room(struct tpa_op_stack *stack)
{
	size_t room = stack->room;

	tpa_grow(&stack->frames, &room, (size_t)stack->count + 1, sizeof(*stack->frames));
	stack->room = (uint32_t)room;
}

static bool is_hooked(const struct tpa_ops *ops, uint64_t number)
{
	return number < ops->trace->op_count && ops->trace->ops[number].origin == TPROF_OP_FUNCTION;
}

void tpa_ops_begin(struct tpa_ops *ops, struct tpa_op_stack *stack, uint64_t number, const struct tpa_op_moment *moment)
{
	struct tpa_op_frame frame = { .op = tpa_op_begins(ops, stack, number),
				      .counted = moment->counted,
				      .hooked = is_hooked(ops, number),
				      .begin_ticks = moment->ticks };
	uint32_t outer = stack->count ? stack->frames[stack->count - 1].node : TPA_OP_NODE_ROOT;

	ops->counts.events += moment->counted;
	if (stack->count == TPA_OP_DEPTH) {
		stack->deeper++;
		ops->counts.too_deep += moment->counted;
		return;
	}
	ops->counts.nameless += moment->counted && tpa_op_is_nameless(ops, frame.op);
	if (__builtin_expect(ops->spans.off, 0) && moment->counted)
		tpa_op_state(ops, frame.op)->share.outside++;
	frame.recursive = tpa_op_is_open(stack, frame.op);
	frame.node = tpa_op_tree_child(&ops->tree, outer, frame.op);
	make_room(stack);
	stack->frames[stack->count++] = frame;
	tpa_op_charge(stack, frame.hooked ? ops->cost->op_inside : moment->cost);
}

/* Adds modulo 2^64, because sizes in a damaged trace may have any value. */
static int64_t add(int64_t net, uint64_t bytes)
{
	return (int64_t)((uint64_t)net + bytes);
}

/* The times and work of a call that ends. */
struct result {
	uint64_t clock_ticks; /* between its begin and end events */
	uint64_t total_ticks, self_ticks, total_cost_ticks, self_cost_ticks;
	double self_variance;
	struct tpa_op_work total, self;
	bool unwound;
};

static uint64_t at_least(uint64_t value, uint64_t least)
{
	return value > least ? value : least;
}

/* The work of a call with the ops within. What these did is part of the work that the call reports. */
static struct tpa_op_work work_of(const struct tpa_op_frame *frame)
{
	const struct tpa_op_work *said = &frame->said, *shaped = &frame->shaped, *inner = &frame->inner;

	return (struct tpa_op_work){
		.flop = at_least(at_least(said->flop, shaped->flop), inner->flop),
		.matrix_flop = at_least(at_least(said->matrix_flop, shaped->matrix_flop), inner->matrix_flop),
		.bytes = at_least(at_least(said->bytes, shaped->bytes), inner->bytes),
		.uncounted = said->uncounted || shaped->uncounted || inner->uncounted,
		.unknown = inner->unknown,
	};
}

/*
 * In a damaged trace, a thread's times may run backwards, and a part may be larger than the whole. Results are limited
 * to 0 and more.
 */
static struct result result_of(const struct tpa_op_frame *frame, uint64_t time, bool unwound)
{
	struct result result = { .clock_ticks = time > frame->begin_ticks ? time - frame->begin_ticks : 0,
				 .self_variance = frame->variance,
				 .unwound = unwound };
	uint64_t own = result.clock_ticks > frame->children_ticks ? result.clock_ticks - frame->children_ticks : 0;

	result.self_cost_ticks = frame->cost_ticks < own ? frame->cost_ticks : own;
	result.self_ticks = own - result.self_cost_ticks;
	result.total_ticks = result.self_ticks + frame->inner_ticks;
	if (frame->variance > 0 && result.total_ticks > result.clock_ticks)
		result.total_ticks = result.clock_ticks; /* the time of the ops within was estimated */
	result.total_cost_ticks = result.clock_ticks > result.total_ticks ? result.clock_ticks - result.total_ticks : 0;
	result.total = work_of(frame);
	result.self.flop = result.total.flop - frame->inner.flop;
	result.self.matrix_flop = result.total.matrix_flop - frame->inner.matrix_flop;
	result.self.precision = frame->said.flop ? frame->said.precision : frame->shaped.precision;
	result.self.bytes = result.total.bytes - frame->inner.bytes;
	return result;
}

static void add_shape(struct tpa_op_stats *stats, const struct tpa_op_frame *frame, const struct result *result)
{
	struct tpa_shape_stats *shape = &stats->shapes[frame->shape - 1];

	if (!shape->calls++)
		shape->first_ns = result->total_ticks;
	shape->calls_ns += result->total_ticks;
	shape->total_ns += frame->recursive ? 0 : result->total_ticks;
	shape->flop += frame->recursive ? result->self.flop : result->total.flop;
}

/* Adds what counts only once for recursive calls. */
static void add_whole(struct tpa_op_stats *stats, const struct tpa_op_frame *frame, const struct result *result)
{
	stats->total_ns += result->total_ticks;
	stats->total_cost_ns += result->total_cost_ticks;
	stats->flop += result->total.flop;
	stats->bytes += result->total.bytes;
	stats->allocated_bytes += frame->memory.allocated;
	stats->freed_bytes += frame->memory.allocated - (uint64_t)frame->memory.net;
	stats->net_bytes = add(stats->net_bytes, (uint64_t)frame->memory.net);
}

static void add_to_node(struct tpa_op_node *node, const struct tpa_op_frame *frame, const struct result *result)
{
	node->calls++;
	node->total_ns += result->total_ticks;
	node->self_ns += result->self_ticks;
	node->flop += result->total.flop;
	node->self_flop += result->self.flop;
	node->allocated_bytes += frame->memory.allocated;
	node->self_allocated_bytes += frame->self_allocated;
	node->net_bytes = add(node->net_bytes, (uint64_t)frame->memory.net);
	if (frame->memory.peak > 0 && (uint64_t)frame->memory.peak > node->peak_bytes)
		node->peak_bytes = (uint64_t)frame->memory.peak;
}

static void add_call(struct tpa_ops *ops, const struct tpa_op_frame *frame, const struct result *result)
{
	struct tpa_op_state *state = tpa_op_state(ops, frame->op);
	struct tpa_op_stats *stats = &state->stats;

	if (stats->calls++ >= TPA_HISTOGRAM_EXACT)
		tpa_moments_add(&state->later, (double)result->total_ticks);
	stats->unwound += result->unwound;
	stats->self_ns += result->self_ticks;
	stats->self_variance += result->self_variance;
	stats->self_cost_ns += result->self_cost_ticks;
	stats->self_flop += result->self.flop;
	stats->flop_in[result->self.precision] += result->self.flop;
	stats->uncounted += result->total.uncounted;
	stats->self_matrix_flop += result->self.matrix_flop;
	ops->counts.self_flop += result->self.flop;
	ops->counts.matrix_flop += result->self.matrix_flop;
	stats->self_bytes += result->self.bytes;
	stats->self_allocated_bytes += frame->self_allocated;
	tpa_counters_add(&stats->self_counters, &frame->self_counters);
	if (!frame->recursive)
		tpa_counters_add(&stats->counters, &frame->counters);
	/* A recursive call may grow by more than the call around it, which may have given memory back before. */
	if (frame->memory.peak > 0 && (uint64_t)frame->memory.peak > stats->peak_bytes)
		stats->peak_bytes = (uint64_t)frame->memory.peak;
	if (!frame->recursive)
		add_whole(stats, frame, result);
	if (frame->shape)
		add_shape(stats, frame, result);
	add_to_node(&ops->tree.nodes[frame->node], frame, result);
	ops->last = (struct tpa_op_call){ .op = frame->op,
					  .shape = frame->shape,
					  .recursive = frame->recursive,
					  .begin_ticks = frame->begin_ticks,
					  .end_ticks = frame->begin_ticks + result->clock_ticks,
					  .total_ticks = result->total_ticks,
					  .self_ticks = result->self_ticks };
	tpa_means_add(state->means, (double)result->total_ticks);
	if (state->batches)
		tpa_batches_add(state->batches, (double)result->total_ticks, 1);
	tpa_histogram_add(state->durations, result->total_ticks);
}

/* Adds memory of what happened after `to`. */
static void add_memory(struct tpa_op_memory *to, const struct tpa_op_memory *more)
{
	int64_t high = add(to->net, (uint64_t)more->peak);

	to->allocated += more->allocated;
	to->peak = high > to->peak ? high : to->peak;
	to->net = add(to->net, (uint64_t)more->net);
}

static uint64_t beyond(uint64_t all, uint64_t given)
{
	return all > given ? all - given : 0;
}

/* Adds what happened in an op to the op around it. */
static void add_to_outer(struct tpa_op_frame *outer, const struct tpa_op_frame *frame, const struct result *result)
{
	outer->children_ticks += beyond(result->clock_ticks, frame->given_ticks);
	outer->inner_ticks += beyond(result->total_ticks, frame->given_inner_ticks);
	tpa_op_work_add(&outer->inner, &result->total);
	add_memory(&outer->memory, &frame->memory);
	tpa_counters_add(&outer->counters, &frame->counters);
}

/* `outer` ends before `inner`, which is directly within it. Adds the time that both have shared so far to `outer`. */
static void give_time(struct tpa_op_frame *outer, struct tpa_op_frame *inner, uint64_t ticks)
{
	uint64_t clock = beyond(ticks, inner->begin_ticks), total = beyond(clock, inner->cost_ticks);

	outer->children_ticks += beyond(clock, inner->given_ticks);
	outer->inner_ticks += beyond(total, inner->given_inner_ticks);
	inner->given_ticks = clock;
	inner->given_inner_ticks = at_least(total, inner->given_inner_ticks);
}

static void give_memory(struct tpa_op_frame *outer, struct tpa_op_frame *inner)
{
	add_memory(&outer->memory, &inner->memory);
	add_memory(&inner->given, &inner->memory);
	inner->memory = (struct tpa_op_memory){ 0 };
}

/* Removes a frame from any place of the stack. The frames within it then lie in the frame below it. */
static struct tpa_op_frame take_out(struct tpa_op_stack *stack, uint32_t at, uint64_t ticks)
{
	struct tpa_op_frame *frames = stack->frames, frame;

	if (at + 1 < stack->count) {
		for (uint32_t i = stack->count - 1; i > at; i--)
			give_memory(&frames[i - 1], &frames[i]);
		give_time(&frames[at], &frames[at + 1], ticks);
	}
	frame = frames[at];
	memmove(&frames[at], &frames[at + 1], (stack->count - at - 1) * sizeof(*frames));
	stack->count--;
	return frame;
}

void tpa_ops_end(struct tpa_ops *ops, struct tpa_op_stack *stack, uint64_t within, bool unwound,
		 const struct tpa_op_moment *moment)
{
	struct tpa_op_frame frame;
	struct result result;
	uint32_t at;

	ops->counts.events += moment->counted;
	ops->last.op = 0;
	if (within < stack->deeper) {
		stack->deeper--;
		return;
	}
	within -= stack->deeper;
	if (within >= stack->count) {
		ops->counts.unmatched_ends += moment->counted;
		return;
	}
	at = stack->count - 1 - (uint32_t)within;
	frame = take_out(stack, at, moment->ticks);
	result = result_of(&frame, moment->ticks, unwound);
	if (frame.torch && tpa_op_note_known(ops, stack, &frame))
		result.total.unknown = true;
	if (at)
		add_to_outer(&stack->frames[at - 1], &frame, &result);
	else if (frame.counted)
		ops->outermost_ticks += beyond(result.total_ticks, frame.given_inner_ticks);
	add_memory(&frame.given, &frame.memory);
	frame.memory = frame.given;
	tpa_op_charge(stack, frame.hooked ? ops->cost->op_outside : moment->cost);
	if (frame.counted)
		add_call(ops, &frame, &result);
}

struct tpa_op_work tpa_op_work_of(const struct tpa_work *work, const struct tpa_work_amount *amount)
{
	return (struct tpa_op_work){ .flop = amount->flop,
				     .bytes = amount->bytes,
				     .precision = amount->precision,
				     .uncounted = work->kind && !amount->flop_known,
				     .matrix_flop = tpa_work_is_matrix(work->kind) ? amount->flop : 0 };
}

void tpa_ops_detail(struct tpa_ops *ops, struct tpa_op_stack *stack, struct tpa_op_work work, const char *shape,
		    size_t length)
{
	struct tpa_op_frame *frame = stack->count ? &stack->frames[stack->count - 1] : NULL;

	if (!frame || stack->deeper || !frame->counted)
		return;
	tpa_op_work_add(&frame->said, &work);
	frame->said.precision = work.precision;
	if (length)
		frame->shape = tpa_op_shape(tpa_op_state(ops, frame->op), shape, length);
}

/* ---- memory ---- */

const struct tpa_op_frame *tpa_op_current_layer(const struct tpa_ops *ops, const struct tpa_op_stack *stack)
{
	for (uint32_t i = stack->count; i > 0; i--)
		if (tpa_op_is_layer(ops->trace, stack->frames[i - 1].op))
			return &stack->frames[i - 1];
	return NULL;
}

void tpa_op_allocated(struct tpa_op_stack *stack, uint64_t bytes)
{
	struct tpa_op_frame *frame = &stack->frames[stack->count - 1];

	frame->self_allocated += bytes;
	frame->memory.allocated += bytes;
	frame->memory.net = add(frame->memory.net, bytes);
	if (frame->memory.net > frame->memory.peak)
		frame->memory.peak = frame->memory.net;
}

void tpa_op_freed(struct tpa_op_stack *stack, uint64_t bytes)
{
	struct tpa_op_frame *frame = &stack->frames[stack->count - 1];

	frame->memory.net = add(frame->memory.net, 0 - bytes);
}

/* ---- counters ---- */

void tpa_op_counted(struct tpa_op_stack *stack, const struct tpa_counters *counters)
{
	struct tpa_op_frame *frame = stack->count ? &stack->frames[stack->count - 1] : NULL;

	if (!frame)
		return;
	tpa_counters_add(&frame->counters, counters);
	tpa_counters_add(&frame->self_counters, counters);
}

void tpa_ops_left_open(struct tpa_ops *ops, const struct tpa_op_stack *stack)
{
	for (uint32_t i = 0; i < stack->count; i++)
		if (stack->frames[i].counted)
			tpa_op_state(ops, stack->frames[i].op)->stats.open++;
}
