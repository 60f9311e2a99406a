/* SPDX-License-Identifier: Apache-2.0 */
/* The result of the ops: sorted, with their warm-up set apart. */
#include <stdlib.h>
#include <string.h>

#include "model/ops/ops.h"
#include "model/stats/warmup.h"
#include "base/memory.h"
#include "base/order.h"

#define SHAPE_MAX 255 /* the most bytes of a shape's text */
#define TORCH "aten::"

static char plain(char c)
{
	return c == '.' ? '_' : c;
}

bool tpa_op_name_same(const char *a, const char *b)
{
	if (strncmp(a, TORCH, strlen(TORCH)) != 0)
		return strcmp(a, b) == 0;
	while (*a && plain(*a) == plain(*b))
		a++, b++;
	return *a == *b;
}

uint32_t tpa_op_shape(struct tpa_op_state *state, const char *text, size_t length)
{
	struct tpa_op_stats *stats = &state->stats;

	length = length < SHAPE_MAX ? length : SHAPE_MAX;
	for (size_t i = 0; i < stats->shape_count; i++) {
		const char *known = stats->shapes[i].text;

		if (known && strncmp(known, text, length) == 0 && !known[length])
			return (uint32_t)i + 1;
	}
	if (stats->shape_count > TPA_OP_SHAPES)
		return TPA_OP_SHAPES + 1;
	tpa_grow(&stats->shapes, &state->shape_room, stats->shape_count + 1, sizeof(*stats->shapes));
	stats->shapes[stats->shape_count] = (struct tpa_shape_stats){
		.text = stats->shape_count < TPA_OP_SHAPES ? tpa_strndup(text, length) : NULL,
	};
	return (uint32_t)++stats->shape_count;
}

struct tpa_interval tpa_op_interval(const struct tpa_op_stats *stats, const struct tpa_means *means)
{
	double calls = stats->untimed ? (double)stats->calls : 1;

	return tpa_means_interval(means, &stats->durations,
				  stats->untimed ? stats->total_variance / (calls * calls) : 0);
}

/*
 * Sets the warm-up apart. The first calls are kept one by one, the later ones as moments. Those that are not warm-up
 * are merged.
 */
static void leave_out_warmup(struct tpa_op_state *state)
{
	const struct tpa_histogram *all = state->durations;
	size_t kept = all->count < TPA_HISTOGRAM_EXACT ? (size_t)all->count : TPA_HISTOGRAM_EXACT;
	struct tpa_op_stats *stats = &state->stats;

	stats->warmup_calls = tpa_warmup_of(all);
	for (size_t i = 0; i < stats->warmup_calls; i++)
		stats->warmup_ns += all->few[i];
	for (size_t i = stats->warmup_calls; i < kept; i++)
		tpa_moments_add(&stats->durations, (double)all->few[i]);
	tpa_moments_merge(&stats->durations, &state->later);
	stats->first_ns = kept ? all->few[0] : 0;
	stats->mean_ns = stats->durations.mean;
	tpa_means_leave_out(state->means, stats->warmup_calls);
	stats->interval = tpa_op_interval(stats, state->means);
}

/* Call before the histogram is scaled, because scaling makes percentiles slightly less exact. */
static void find_percentiles(struct tpa_op_stats *stats, const struct tpa_histogram *durations, double tick_ns)
{
	stats->p50_ns = tpa_round((double)tpa_histogram_percentile(durations, 0.5) * tick_ns);
	stats->p90_ns = tpa_round((double)tpa_histogram_percentile(durations, 0.9) * tick_ns);
	stats->p99_ns = tpa_round((double)tpa_histogram_percentile(durations, 0.99) * tick_ns);
}

static void scale(uint64_t *time, double tick_ns)
{
	*time = tpa_round((double)*time * tick_ns);
}

/* A sum of parts, in ticks, and in nanoseconds with each part rounded. */
struct sum {
	uint64_t ticks, ns;
};
struct op_sums {
	struct sum total, self;
};

static void add(struct sum *sum, uint64_t ticks, uint64_t ns)
{
	sum->ticks += ticks;
	sum->ns += ns;
}

/* Converts a time to nanoseconds: by the sum of its rounded parts if these make up all of it. */
static void scale_sum(uint64_t *time, const struct sum *parts, double tick_ns)
{
	if (*time == parts->ticks)
		*time = parts->ns;
	else
		scale(time, tick_ns);
}

static bool is_recursive(const struct tpa_op_tree *tree, const struct tpa_op_node *node)
{
	for (uint32_t at = node->parent; at >= TPA_OP_NODE_FIRST; at = tree->nodes[at].parent)
		if (tree->nodes[at].op == node->op)
			return true;
	return false;
}

/* Of two whole numbers of nanoseconds: those at which a span that starts at `start` begins and ends. Takes ticks. */
static uint64_t span_ns(uint64_t start, uint64_t ticks, double tick_ns)
{
	return tpa_round((double)(start + ticks) * tick_ns) - tpa_round((double)start * tick_ns);
}

/*
 * Converts the tree's times to nanoseconds. All self times are laid end to end, each node's just before those of its
 * children, and only the places between them are rounded. So what adds up in the program adds up in the report, and
 * each time, however many it sums up, is within a nanosecond. `sums`: by op. Returns the sum over the tree's roots.
 */
static struct sum scale_tree(struct tpa_op_tree *tree, double tick_ns, struct op_sums *sums)
{
	struct sum roots = { 0 };
	uint64_t *next = tpa_zalloc(tree->count, sizeof(*next)); /* where the node's next child starts */

	for (size_t i = 0; i < tree->count; i++) { /* parents come before their children */
		struct tpa_op_node *node = &tree->nodes[i];
		struct tpa_op_node before = *node;
		bool is_root = node->parent < TPA_OP_NODE_FIRST;
		uint64_t *place = is_root ? &roots.ticks : &next[node->parent];
		uint64_t start = *place;

		*place += before.total_ns;
		next[i] = start + before.self_ns;
		node->self_ns = span_ns(start, before.self_ns, tick_ns);
		node->total_ns = span_ns(start, before.total_ns, tick_ns);
		add(&sums[node->op].self, before.self_ns, node->self_ns);
		if (!is_recursive(tree, node))
			add(&sums[node->op].total, before.total_ns, node->total_ns);
		roots.ns += is_root ? node->total_ns : 0;
	}
	free(next);
	return roots;
}

/* Converts an op's times from ticks to nanoseconds. */
static void scale_state(struct tpa_op_state *state, double tick_ns, const struct op_sums *sums)
{
	struct tpa_op_stats *stats = &state->stats;

	scale_sum(&stats->total_ns, &sums->total, tick_ns);
	scale_sum(&stats->self_ns, &sums->self, tick_ns);
	scale(&stats->total_cost_ns, tick_ns);
	scale(&stats->self_cost_ns, tick_ns);
	stats->total_variance *= tick_ns * tick_ns;
	stats->self_variance *= tick_ns * tick_ns;
	for (size_t i = 0; i < stats->shape_count; i++) {
		scale(&stats->shapes[i].total_ns, tick_ns);
		scale(&stats->shapes[i].first_ns, tick_ns);
		scale(&stats->shapes[i].calls_ns, tick_ns);
	}
	tpa_moments_scale(&state->later, tick_ns);
	tpa_histogram_scale(state->durations, tick_ns);
	tpa_series_scale(&state->means->series, state->means->values, tick_ns);
	if (state->batches)
		tpa_batches_scale(state->batches, tick_ns);
}

static void finish(const struct tpa_ops *ops, struct tpa_op_state *state, double tick_ns, const struct op_sums *sums)
{
	struct tpa_op_stats *stats = &state->stats;
	const struct tpa_op *op = stats->op < ops->trace->op_count ? &ops->trace->ops[stats->op] : NULL;

	stats->name = op ? op->name : TPA_UNNAMED;
	stats->category = op ? op->category : "";
	find_percentiles(stats, state->durations, tick_ns);
	stats->whole = tpa_op_whole(ops, state, tick_ns);
	scale_state(state, tick_ns, sums);
	leave_out_warmup(state);
	stats->min_ns = state->durations->min;
	stats->max_ns = state->durations->max;
	stats->histogram = state->durations;
	stats->means = state->means;
	stats->batches = state->batches;
}

static int by_total(const void *left, const void *right)
{
	const struct tpa_op_stats *a = left, *b = right;

	return TPA_DOWN(a->total_ns, b->total_ns) ?: TPA_UP(a->op, b->op);
}

struct tpa_op_stats *tpa_ops_result(struct tpa_ops *ops, double tick_ns, size_t *count)
{
	struct op_sums *sums = tpa_zalloc(ops->count, sizeof(*sums));
	struct tpa_op_stats *list;
	struct sum roots;
	size_t found = 0;

	for (uint32_t i = 0; ops->states && i < ops->count; i++)
		found += ops->states[i] && (ops->states[i]->stats.calls || ops->states[i]->stats.open);
	roots = scale_tree(&ops->tree, tick_ns, sums);
	ops->outermost_tick_ns = roots.ticks ? (double)roots.ns / (double)roots.ticks : tick_ns;
	list = tpa_zalloc(found, sizeof(*list));
	*count = 0;
	for (uint32_t i = 0; ops->states && i < ops->count; i++) {
		struct tpa_op_state *state = ops->states[i];

		if (!state || (!state->stats.calls && !state->stats.open))
			continue;
		finish(ops, state, tick_ns, &sums[state->stats.op]);
		list[(*count)++] = state->stats;
		state->stats.shapes = NULL; /* the list owns these now */
		state->stats.shape_count = 0;
		state->durations = NULL;
		state->means = NULL;
		state->batches = NULL;
	}
	free(sums);
	tpa_ops_join_parts(ops, list, *count);
	qsort(list, *count, sizeof(*list), by_total);
	return list;
}

void tpa_ops_result_free(struct tpa_op_stats *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < list[i].shape_count; k++)
			free(list[i].shapes[k].text);
		free(list[i].shapes);
		tpa_histogram_free(list[i].histogram);
		free(list[i].histogram);
		free(list[i].means);
		free(list[i].batches);
	}
	free(list);
}
