/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that were recorded together, see TPROF_EVENT_FOLD: as if each had been recorded, as far as that can be known. */
#include <string.h>

#include "model/ops.h"

#define SHAPE_ROOM 256

/* Of one record, in ns without what recording cost. */
struct durations {
	const struct tprof_fold *counts;
	double ns_per_tick, cost; /* cost: of a call, between its stamps */
	double scale;		  /* makes the sum of what is taken for the calls what it really was */
};

static double net(const struct durations *all, double ticks)
{
	double ns = ticks * all->ns_per_tick - all->cost;

	return ns > 0 ? ns : 0;
}

/* The middle of a bucket, within the shortest and longest duration. */
static double middle(const struct durations *all, unsigned bucket)
{
	double ticks = ((double)tprof_fold_low(bucket) + (double)tprof_fold_low(bucket + 1) - 1) / 2;

	ticks = ticks < all->counts->min ? all->counts->min : ticks > all->counts->max ? all->counts->max : ticks;
	return net(all, ticks);
}

static bool add_calls(struct tp_op_state *state, double ns, double scale, uint64_t calls)
{
	uint64_t before = state->stats.calls, few = before < TP_HISTOGRAM_EXACT ? TP_HISTOGRAM_EXACT - before : 0;

	state->stats.calls += calls;
	if (calls > few)
		tp_moments_add_many(&state->later, ns * scale, calls - few);
	return tp_histogram_add_many(state->durations, tp_round(ns), calls);
}

/* The order of the calls is not known. */
static void add_batches(struct tp_op_state *state, const struct durations *all)
{
	struct tp_batch_part parts[TPROF_FOLD_BUCKETS];
	size_t count = 0;

	for (unsigned i = 0; i < TPROF_FOLD_BUCKETS; i++)
		if (all->counts->histogram[i])
			parts[count++] = (struct tp_batch_part){ middle(all, i), all->counts->histogram[i] };
	tp_batches_add_parts(state->batches, parts, count);
}

/* The shortest and the longest one are known; the others are taken to be in the middle of their buckets. */
static bool add_durations(struct tp_op_state *state, const struct durations *all)
{
	const struct tprof_fold *counts = all->counts;
	uint32_t shortest = tprof_fold_bucket(counts->min), longest = tprof_fold_bucket(counts->max);
	bool good = true;

	if (state->batches)
		add_batches(state, all);
	for (unsigned i = 0; good && i < TPROF_FOLD_BUCKETS; i++) {
		uint64_t calls = counts->histogram[i];

		if (calls && i == shortest) {
			good = add_calls(state, net(all, counts->min), 1, 1);
			calls--;
		}
		if (calls && i == longest) {
			good = good && add_calls(state, net(all, counts->max), 1, 1);
			calls--;
		}
		good = good && add_calls(state, middle(all, i), all->scale, calls);
	}
	return good;
}

static double scale_of(const struct durations *all, double total)
{
	double sum = 0;

	for (unsigned i = 0; i < TPROF_FOLD_BUCKETS; i++)
		sum += all->counts->histogram[i] * middle(all, i);
	return sum > 0 ? total / sum : 1;
}

struct sums {
	uint64_t calls, total_ns, cost_ns;
	struct tp_op_work work;
	bool recursive;
};

static bool add_shape(struct tp_op_state *state, const struct tp_folded *folded, const struct sums *sums)
{
	struct tp_shape_stats *shape;
	char text[SHAPE_ROOM];
	uint32_t index;

	if (!folded->work.kind)
		return true;
	tp_fold_shape(folded, text, sizeof(text));
	index = tp_op_shape(state, text, strlen(text));
	if (!index)
		return false;
	shape = &state->stats.shapes[index - 1];
	if (!shape->calls)
		shape->first_ns = sums->total_ns / sums->calls;
	shape->calls += sums->calls;
	shape->calls_ns += sums->total_ns;
	shape->total_ns += sums->recursive ? 0 : sums->total_ns;
	shape->flop += sums->work.flop;
	return true;
}

static void add_to_op(struct tp_op_stats *stats, const struct sums *sums)
{
	stats->folded += sums->calls;
	stats->self_ns += sums->total_ns;
	stats->self_cost_ns += sums->cost_ns;
	stats->self_flop += sums->work.flop;
	stats->self_bytes += sums->work.bytes;
	stats->flop_in[sums->work.precision] += sums->work.flop;
	stats->uncounted += sums->work.uncounted ? sums->calls : 0;
	if (sums->recursive)
		return;
	stats->total_ns += sums->total_ns;
	stats->total_cost_ns += sums->cost_ns;
	stats->flop += sums->work.flop;
	stats->bytes += sums->work.bytes;
}

static bool add_to_tree(struct tp_ops *ops, uint32_t outer, uint32_t op, const struct sums *sums)
{
	uint32_t at = tp_op_tree_child(&ops->tree, outer, op);
	struct tp_op_node *node;

	if (!at)
		return false;
	node = &ops->tree.nodes[at];
	node->calls += sums->calls;
	node->total_ns += sums->total_ns;
	node->self_ns += sums->total_ns;
	node->flop += sums->work.flop;
	node->self_flop += sums->work.flop;
	return true;
}

/* The calls, and what is around them: recording them took some of its time. */
static void add_to_outer(struct tp_op_frame *outer, const struct sums *sums)
{
	outer->children_ns += sums->total_ns + sums->cost_ns;
	outer->inner_ns += sums->total_ns;
	outer->inner.flop += sums->work.flop;
	outer->inner.bytes += sums->work.bytes;
	outer->inner.uncounted |= sums->work.uncounted;
}

bool tp_ops_fold(struct tp_ops *ops, struct tp_op_stack *stack, const struct tp_op_fold *fold)
{
	const struct tprof_fold *counts = &fold->folded->counts;
	struct tp_op_frame *outer = stack->count ? &stack->frames[stack->count - 1] : NULL;
	struct tp_work_amount amount = tp_fold_amount(fold->folded);
	struct durations all = { counts, fold->ns_per_tick, ops->cost->fold_inside, 1 };
	double clock = (double)counts->ticks * fold->ns_per_tick, cost = all.cost * counts->calls;
	uint32_t op = tp_op_of(ops, fold->number);
	struct sums sums = { .calls = counts->calls, .work = tp_op_work_of(&fold->folded->work, &amount) };
	struct tp_op_state *state;

	if (stack->deeper || !counts->calls)
		return true;
	cost = cost < clock ? cost : clock;
	sums.total_ns = tp_round(clock - cost);
	sums.cost_ns = tp_round(clock) - sums.total_ns;
	sums.recursive = tp_op_is_open(stack, op);
	if (outer)
		add_to_outer(outer, &sums);
	tp_op_charge(stack, ops->cost->fold_outside * counts->calls);
	if (!fold->counted)
		return true;
	state = tp_op_state(ops, op);
	if (!state || !add_shape(state, fold->folded, &sums) ||
	    !add_to_tree(ops, outer ? outer->node : TP_OP_NODE_ROOT, op, &sums))
		return false;
	add_to_op(&state->stats, &sums);
	ops->outermost_ns += outer ? 0 : sums.total_ns;
	ops->counts.self_flop += sums.work.flop;
	all.scale = scale_of(&all, clock - cost);
	tp_means_add_mean(state->means, (clock - cost) / counts->calls, counts->calls);
	return add_durations(state, &all);
}
