/* SPDX-License-Identifier: Apache-2.0 */
#include "model/result/op_combine.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "model/ops/ops.h"

static int by_name(const void *left, const void *right)
{
	const struct tpa_op_stats *a = *(const struct tpa_op_stats *const *)left;
	const struct tpa_op_stats *b = *(const struct tpa_op_stats *const *)right;

	return strcmp(a->name, b->name) ?: strcmp(a->category, b->category);
}

static int by_total(const void *left, const void *right)
{
	const struct tpa_op_stats *a = left, *b = right;

	return TPA_DOWN(a->total_ns, b->total_ns) ?: strcmp(a->name, b->name);
}

static void add_shape(struct tpa_op_stats *to, const struct tpa_shape_stats *from)
{
	struct tpa_shape_stats *shape = to->shapes;

	for (; shape < to->shapes + to->shape_count; shape++)
		if (shape->text && from->text ? strcmp(shape->text, from->text) == 0 : shape->text == from->text)
			break;
	if (shape == to->shapes + to->shape_count) {
		shape->text = from->text ? tpa_strdup(from->text) : NULL;
		shape->first_ns = from->first_ns;
		to->shape_count++;
	}
	shape->calls += from->calls;
	shape->total_ns += from->total_ns;
	shape->calls_ns += from->calls_ns;
	shape->flop += from->flop;
}

static void add_shapes(struct tpa_op_stats *to, const struct tpa_op_stats *from)
{
	to->shapes = tpa_resize(to->shapes, to->shape_count + from->shape_count, sizeof(*to->shapes));
	memset(to->shapes + to->shape_count, 0, from->shape_count * sizeof(*to->shapes));
	for (size_t i = 0; i < from->shape_count; i++)
		add_shape(to, &from->shapes[i]);
}

static void add_counts(struct tpa_op_stats *to, const struct tpa_op_stats *from)
{
	to->calls += from->calls;
	tpa_op_whole_add(&to->whole, &from->whole);
	to->unwound += from->unwound;
	to->folded += from->folded;
	to->untimed += from->untimed;
	to->total_variance += from->total_variance;
	to->self_variance += from->self_variance;
	to->open += from->open;
	to->total_ns += from->total_ns;
	to->self_ns += from->self_ns;
	to->total_cost_ns += from->total_cost_ns;
	to->self_cost_ns += from->self_cost_ns;
	to->warmup_calls += from->warmup_calls;
	to->warmup_ns += from->warmup_ns;
	to->flop += from->flop;
	to->bytes += from->bytes;
	to->self_flop += from->self_flop;
	to->self_bytes += from->self_bytes;
	for (int precision = 0; precision <= TPA_UNSAID; precision++)
		to->flop_in[precision] += from->flop_in[precision];
	to->uncounted += from->uncounted;
	to->self_matrix_flop += from->self_matrix_flop;
	to->known += from->known;
	to->no_shape += from->no_shape;
	to->no_formula += from->no_formula;
	to->allocated_bytes += from->allocated_bytes;
	to->freed_bytes += from->freed_bytes;
	to->self_allocated_bytes += from->self_allocated_bytes;
	to->self_allocations += from->self_allocations;
	to->self_temporary += from->self_temporary;
	to->net_bytes = (int64_t)((uint64_t)to->net_bytes + (uint64_t)from->net_bytes);
	to->is_part |= from->is_part;
	to->has_parts |= from->has_parts;
	to->has_threads |= from->has_threads;
	to->threads_wait_ns += from->threads_wait_ns;
	tpa_cpu_add(&to->cpu, &from->cpu);
	tpa_cpu_add(&to->spinning, &from->spinning);
	to->own_part_ns += from->own_part_ns;
	to->parts_allocated_bytes += from->parts_allocated_bytes;
	to->peak_bytes = from->peak_bytes > to->peak_bytes ? from->peak_bytes : to->peak_bytes;
}

static void merge(struct tpa_op_stats *to, const struct tpa_op_stats *from)
{
	if (!to->histogram) {
		to->name = from->name;
		to->category = from->category;
		to->first_ns = from->first_ns;
		to->cpu_period_ns = from->cpu_period_ns;
		to->histogram = tpa_zalloc(1, sizeof(*to->histogram));
		to->means = tpa_zalloc(1, sizeof(*to->means));
		to->batches = from->batches ? tpa_zalloc(1, sizeof(*to->batches)) : NULL;
	}
	if (to->cpu_period_ns != from->cpu_period_ns)
		to->cpu_period_ns = 0;
	add_counts(to, from);
	tpa_moments_merge(&to->durations, &from->durations);
	tpa_means_append(to->means, from->means);
	tpa_histogram_merge(to->histogram, from->histogram);
	add_shapes(to, from);
	if (from->batches) /* the calls of a process follow those of the earlier ones */
		tpa_batches_append(to->batches, from->batches);
}

static void finish(struct tpa_op_stats *op)
{
	op->mean_ns = op->durations.mean;
	op->interval = tpa_op_interval(op, op->means);
	op->min_ns = op->histogram->min;
	op->max_ns = op->histogram->max;
	op->p50_ns = tpa_histogram_percentile(op->histogram, 0.5);
	op->p90_ns = tpa_histogram_percentile(op->histogram, 0.9);
	op->p99_ns = tpa_histogram_percentile(op->histogram, 0.99);
}

static const struct tpa_op_stats **sorted(const struct tpa_run *run, size_t *count)
{
	const struct tpa_op_stats **list;

	*count = 0;
	for (size_t i = 0; i < run->process_count; i++)
		*count += run->processes[i].op_count;
	list = tpa_zalloc(*count, sizeof(struct tpa_op_stats *));
	*count = 0;
	for (size_t i = 0; i < run->process_count; i++)
		for (size_t k = 0; k < run->processes[i].op_count; k++)
			list[(*count)++] = &run->processes[i].ops[k];
	qsort(list, *count, sizeof(struct tpa_op_stats *), by_name);
	return list;
}

struct tpa_op_stats *tpa_ops_combine(const struct tpa_run *run, size_t *count)
{
	size_t all;
	const struct tpa_op_stats **list = sorted(run, &all);
	struct tpa_op_stats *result = tpa_zalloc(all, sizeof(*result));

	*count = 0;
	for (size_t i = 0; i < all; i++) {
		*count += !i || by_name(&list[i - 1], &list[i]) != 0;
		merge(&result[*count - 1], list[i]);
	}
	free((void *)list);
	for (size_t i = 0; i < *count; i++)
		finish(&result[i]);
	qsort(result, *count, sizeof(*result), by_total);
	return result;
}
