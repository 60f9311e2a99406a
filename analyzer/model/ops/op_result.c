/* SPDX-License-Identifier: Apache-2.0 */
/* Ops, as they are shown: put in order, with their warm-up apart. */
#include <stdlib.h>
#include <string.h>

#include "model/ops/ops.h"
#include "model/stats/warmup.h"
#include "base/memory.h"

#define SHAPE_MAX 255 /* bytes of a shape's text */
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

/* The first calls are kept one by one, those behind them as moments: what is not warm-up is put together. */
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

static void finish(const struct tpa_ops *ops, struct tpa_op_state *state)
{
	struct tpa_op_stats *stats = &state->stats;
	const struct tpa_op *op = stats->op < ops->trace->op_count ? &ops->trace->ops[stats->op] : NULL;

	stats->name = op ? op->name : TPA_UNNAMED;
	stats->category = op ? op->category : "";
	leave_out_warmup(state);
	stats->min_ns = state->durations->min;
	stats->max_ns = state->durations->max;
	stats->p50_ns = tpa_histogram_percentile(state->durations, 0.5);
	stats->p90_ns = tpa_histogram_percentile(state->durations, 0.9);
	stats->p99_ns = tpa_histogram_percentile(state->durations, 0.99);
	stats->histogram = state->durations;
	stats->means = state->means;
	stats->batches = state->batches;
}

static int by_total(const void *left, const void *right)
{
	const struct tpa_op_stats *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a->op < b->op ? -1 : a->op > b->op;
}

struct tpa_op_stats *tpa_ops_result(struct tpa_ops *ops, size_t *count)
{
	struct tpa_op_stats *list;
	size_t found = 0;

	for (uint32_t i = 0; ops->states && i < ops->count; i++)
		found += ops->states[i] && (ops->states[i]->stats.calls || ops->states[i]->stats.open);
	list = tpa_zalloc(found, sizeof(*list));
	*count = 0;
	for (uint32_t i = 0; ops->states && i < ops->count; i++) {
		struct tpa_op_state *state = ops->states[i];

		if (!state || (!state->stats.calls && !state->stats.open))
			continue;
		finish(ops, state);
		list[(*count)++] = state->stats;
		state->stats.shapes = NULL; /* the list's now */
		state->stats.shape_count = 0;
		state->durations = NULL;
		state->means = NULL;
		state->batches = NULL;
	}
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
