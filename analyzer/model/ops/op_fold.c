/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds calls that were recorded together (TPROF_EVENT_FOLD) as if each had been recorded, as far as its data is known.
 */
#include <math.h>
#include <string.h>

#include "model/ops/ops.h"

#define SHAPE_ROOM 256

#define ENOUGH 8u /* with so many timed calls, a record is judged by these alone */
#define LAST (TPROF_FOLD_BUCKETS - 1)

/* The durations of one record, in ticks without the cost of recording. */
struct durations {
	const struct tprof_fold *counts;
	double cost;				/* of recording a call, between its time stamps */
	double last;				/* ticks of each call in the last bucket, except the longest call */
	double scale;				/* makes the assumed durations add up to the real total */
	uint64_t histogram[TPROF_FOLD_BUCKETS]; /* of all calls, timed or not */
};

static double net(const struct durations *all, double ticks)
{
	return ticks > all->cost ? ticks - all->cost : 0;
}

static unsigned bucket_of(uint32_t ticks)
{
	uint32_t bucket = tprof_fold_bucket(ticks);

	return bucket < LAST ? bucket : LAST;
}

/* The middle of a bucket in ticks, limited to the range from the shortest to the longest duration. */
static double middle_ticks(const struct tprof_fold *counts, unsigned bucket)
{
	double ticks = ((double)tprof_fold_low(bucket) + (double)tprof_fold_low(bucket + 1) - 1) / 2;

	return ticks < counts->min ? counts->min : ticks > counts->max ? counts->max : ticks;
}

/*
 * The last bucket has no upper bound: it holds the calls that waited for a processor, however long that took. The mean
 * duration of these calls, without the longest, is computed from what the other calls leave of the sum.
 */
static double last_ticks(const struct tprof_fold *counts)
{
	double left = (double)counts->ticks - counts->max, least = tprof_fold_low(LAST), each;

	if (counts->histogram[LAST] < 2)
		return counts->max;
	for (unsigned i = 0; i < LAST; i++)
		left -= counts->histogram[i] * middle_ticks(counts, i);
	each = left / (counts->histogram[LAST] - 1);
	return each < least ? least : each > counts->max ? counts->max : each;
}

static double middle(const struct durations *all, unsigned bucket)
{
	return net(all, bucket == LAST ? all->last : middle_ticks(all->counts, bucket));
}

static void add_calls(struct tpa_op_state *state, double ns, double scale, uint64_t calls)
{
	uint64_t before = state->stats.calls, few = before < TPA_HISTOGRAM_EXACT ? TPA_HISTOGRAM_EXACT - before : 0;

	state->stats.calls += calls;
	if (calls > few)
		tpa_moments_add_many(&state->later, ns * scale, calls - few);
	tpa_histogram_add_many(state->durations, tpa_round(ns), calls);
}

/* Adds the calls to the batches. The order of the calls is not known. */
static void add_batches(struct tpa_op_state *state, const struct durations *all)
{
	struct tpa_batch_part parts[TPROF_FOLD_BUCKETS];
	size_t count = 0;

	for (unsigned i = 0; i < TPROF_FOLD_BUCKETS; i++)
		if (all->histogram[i])
			parts[count++] = (struct tpa_batch_part){ middle(all, i), all->histogram[i] };
	tpa_batches_add_parts(state->batches, parts, count);
}

/* The shortest and the longest duration are known. The others are taken to be the middles of their buckets. */
static void add_durations(struct tpa_op_state *state, const struct durations *all)
{
	const struct tprof_fold *counts = all->counts;
	unsigned shortest = bucket_of(counts->min), longest = bucket_of(counts->max);

	if (state->batches)
		add_batches(state, all);
	for (unsigned i = 0; i < TPROF_FOLD_BUCKETS; i++) {
		uint64_t calls = all->histogram[i];

		if (calls && i == shortest) {
			add_calls(state, net(all, counts->min), 1, 1);
			calls--;
		}
		if (calls && i == longest) {
			add_calls(state, net(all, counts->max), 1, 1);
			calls--;
		}
		add_calls(state, middle(all, i), all->scale, calls);
	}
}

static double scale_of(const struct durations *all, double total)
{
	double sum = 0;

	for (unsigned i = 0; i < TPROF_FOLD_BUCKETS; i++)
		sum += (double)all->histogram[i] * middle(all, i);
	return sum > 0 ? total / sum : 1;
}

struct sums {
	uint64_t calls, untimed, total_ns, cost_ns;
	double variance; /* of total_ns */
	struct tpa_op_work work;
	bool recursive;
};

static void add_shape(const struct tpa_ops *ops, struct tpa_op_state *state, const struct tpa_op_fold *fold,
		      const struct sums *sums)
{
	const struct tpa_op *op = fold->number < ops->trace->op_count ? &ops->trace->ops[fold->number] : NULL;
	const char *text = op && op->shape ? op->shape : "";
	struct tpa_shape_stats *shape;
	char of_work[SHAPE_ROOM];
	uint32_t index;

	if (fold->folded->work.kind) {
		tpa_fold_shape(fold->folded, of_work, sizeof(of_work));
		text = of_work;
	} else if (!*text) {
		return;
	}
	index = tpa_op_shape(state, text, strlen(text));
	shape = &state->stats.shapes[index - 1];
	if (!shape->calls)
		shape->first_ns = sums->total_ns / sums->calls;
	shape->calls += sums->calls;
	shape->calls_ns += sums->total_ns;
	shape->total_ns += sums->recursive ? 0 : sums->total_ns;
	shape->flop += sums->work.flop;
}

static void add_to_op(struct tpa_op_stats *stats, const struct sums *sums)
{
	stats->folded += sums->calls;
	stats->untimed += sums->untimed;
	stats->self_variance += sums->variance;
	stats->self_ns += sums->total_ns;
	stats->self_cost_ns += sums->cost_ns;
	stats->self_flop += sums->work.flop;
	stats->self_bytes += sums->work.bytes;
	stats->flop_in[sums->work.precision] += sums->work.flop;
	stats->self_matrix_flop += sums->work.matrix_flop;
	stats->uncounted += sums->work.uncounted ? sums->calls : 0;
	if (sums->recursive)
		return;
	stats->total_ns += sums->total_ns;
	stats->total_variance += sums->variance;
	stats->total_cost_ns += sums->cost_ns;
	stats->flop += sums->work.flop;
	stats->bytes += sums->work.bytes;
}

static void add_to_tree(struct tpa_ops *ops, uint32_t outer, uint32_t op, const struct sums *sums)
{
	uint32_t at = tpa_op_tree_child(&ops->tree, outer, op);
	struct tpa_op_node *node = &ops->tree.nodes[at];

	node->calls += sums->calls;
	node->total_ns += sums->total_ns;
	node->self_ns += sums->total_ns;
	node->flop += sums->work.flop;
	node->self_flop += sums->work.flop;
}

/* Adds the calls to the op around them. Its time includes the cost of recording them. */
static void add_to_outer(struct tpa_op_frame *outer, const struct sums *sums)
{
	outer->children_ticks += sums->total_ns + sums->cost_ns;
	outer->inner_ticks += sums->total_ns;
	outer->variance += sums->variance;
	tpa_op_work_add(&outer->inner, &sums->work);
}

/* ---- calls that were not timed ---- */

/* Adds all timed calls to `moments`: the longest as it was, the others as the middles of their buckets. */
static void add_timed(struct tpa_moments *moments, const struct durations *all)
{
	unsigned longest = bucket_of(all->counts->max);

	for (unsigned i = 0; i < TPROF_FOLD_BUCKETS; i++) {
		uint64_t calls = all->counts->histogram[i];

		if (calls && i == longest) {
			tpa_moments_add(moments, net(all, all->counts->max));
			calls--;
		}
		if (calls)
			tpa_moments_add_many(moments, middle(all, i), calls);
	}
}

/* Scales the histogram of the timed calls up to all calls. The fullest bucket gets what rounding leaves over. */
static void spread(struct durations *all, uint64_t timed, uint64_t calls)
{
	uint64_t left = calls;
	unsigned fullest = 0;

	for (unsigned i = 0; i < TPROF_FOLD_BUCKETS; i++) {
		all->histogram[i] = timed ? all->counts->histogram[i] * calls / timed : 0;
		left -= all->histogram[i];
		fullest = all->counts->histogram[i] > all->counts->histogram[fullest] ? i : fullest;
	}
	all->histogram[fullest] += left;
}

/* Upper bounds of the ticks that all calls took together: most calls lie between two moments that are known. */
struct most {
	double ticks; /* after subtracting the mean cost of recording; at least 0 */
	double sure;  /* before subtracting it */
};

static struct most most(const struct tpa_cost *cost, const struct tpa_op_fold *fold)
{
	const struct tpa_folded *folded = fold->folded;
	double timed = folded->timed, of = folded->lasted_calls, lasted = (double)folded->lasted;
	double ticks = lasted - timed * (cost->fold_inside + cost->fold_outside) - (of - timed) * cost->fold_untimed;

	if (!folded->lasted_calls)
		return (struct most){ INFINITY, INFINITY };
	return (struct most){ fmax(ticks, 0) / of * folded->counts.calls, lasted / of * folded->counts.calls };
}

/*
 * Limits the sum to between `least`, which was measured, and `most`. A variable between two bounds has at most the
 * variance of one that takes each of the bounds half the time (Popoviciu 1935). If subtracting the cost of recording
 * leaves less than `least`, that cost was overestimated: the sum is `least`, and the duration before the subtraction
 * bounds the variance.
 */
static void limit(struct sums *sums, double *total, double least, struct most most)
{
	double high = most.ticks > least ? most.ticks : most.sure;
	double half = high > least ? (high - least) / 2 : 0;

	*total = fmin(*total, fmax(most.ticks, least));
	sums->variance = fmin(sums->variance, half * half);
}

/*
 * Estimates the sum. Each call was timed with the same probability, independently. So the mean of the timed calls is an
 * estimate of the mean of all, with the variance of a sample without replacement. If a record has fewer than ENOUGH
 * timed calls, all timed calls of the op so far are used.
 */
static void estimate(const struct tpa_op_state *state, const struct durations *all, uint64_t timed, struct sums *sums,
		     double *total)
{
	struct tpa_moments own = { 0 };
	const struct tpa_moments *moments = &own;
	double calls = (double)sums->calls, deviation, worth;

	add_timed(&own, all);
	if (timed < ENOUGH)
		moments = &state->timed;
	*total = timed < ENOUGH ? moments->mean * calls : *total / (double)timed * calls;
	worth = moments->count ? (double)moments->count : 1;
	deviation = tpa_moments_deviation(moments);
	sums->variance = calls * (calls - (double)timed) * deviation * deviation / worth;
}

/* The work of all calls together. */
static struct tpa_op_work work_of(const struct tpa_op_fold *fold, const struct tpa_torch_work *torch)
{
	struct tpa_work_amount amount = tpa_fold_amount(fold->folded);
	struct tpa_op_work work = tpa_op_work_of(&fold->folded->work, &amount);
	uint64_t calls = fold->folded->counts.calls;

	if (!torch || fold->folded->work.kind)
		return work;
	work = tpa_op_work_of_torch(torch);
	work.flop = tpa_work_times(work.flop, calls);
	work.matrix_flop = tpa_work_times(work.matrix_flop, calls);
	work.bytes = tpa_work_times(work.bytes, calls);
	return work;
}

/* ---- */

void tpa_ops_fold(struct tpa_ops *ops, struct tpa_op_stack *stack, const struct tpa_op_fold *fold)
{
	const struct tprof_fold *counts = &fold->folded->counts;
	struct tpa_op_frame *outer = stack->count ? &stack->frames[stack->count - 1] : NULL;
	const struct tpa_torch_work *torch = tpa_ops_torch(ops, fold->number);
	struct durations all = {
		.counts = counts, .cost = ops->cost->fold_inside, .last = last_ticks(counts), .scale = 1
	};
	uint64_t timed = fold->folded->timed;
	double clock = (double)counts->ticks, cost = all.cost * (double)timed, total, mean;
	uint32_t op = tpa_op_begins(ops, stack, fold->number);
	struct sums sums = { .calls = counts->calls, .untimed = counts->calls - timed, .work = work_of(fold, torch) };
	struct tpa_op_state *state;

	if (stack->deeper || !counts->calls)
		return;
	state = tpa_op_state(ops, op);
	cost = cost < clock ? cost : clock;
	total = clock - cost;
	add_timed(&state->timed, &all);
	if (sums.untimed) {
		double least = total;

		estimate(state, &all, timed, &sums, &total);
		limit(&sums, &total, least, most(ops->cost, fold));
	}
	sums.total_ns = tpa_round(total);
	sums.cost_ns = sums.untimed ? tpa_round(cost) : tpa_round(clock) - sums.total_ns;
	sums.recursive = tpa_op_is_open(stack, op);
	if (outer)
		add_to_outer(outer, &sums);
	tpa_op_charge(stack, ops->cost->fold_outside * (double)timed + ops->cost->fold_untimed * (double)sums.untimed);
	if (!fold->counted)
		return;
	add_shape(ops, state, fold, &sums);
	add_to_tree(ops, outer ? outer->node : TPA_OP_NODE_ROOT, op, &sums);
	add_to_op(&state->stats, &sums);
	ops->outermost_ticks += outer ? 0 : sums.total_ns;
	ops->counts.nameless += tpa_op_is_nameless(ops, op) ? sums.calls : 0;
	ops->counts.self_flop += sums.work.flop;
	ops->counts.matrix_flop += sums.work.matrix_flop;
	if (torch)
		tpa_op_count_known(ops, state, torch->known, sums.calls);
	mean = total / (double)sums.calls;
	tpa_means_add_mean(state->means, mean, sums.calls);
	if (timed < ENOUGH && sums.untimed) { /* only the op's mean tells how long these took */
		if (state->batches)
			tpa_batches_add(state->batches, mean, sums.calls);
		add_calls(state, mean, 1, sums.calls);
		return;
	}
	spread(&all, timed, sums.calls);
	all.scale = scale_of(&all, total);
	add_durations(state, &all);
}
