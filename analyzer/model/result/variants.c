/* SPDX-License-Identifier: Apache-2.0 */
#include "model/result/variants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

static bool same_program(const struct tpa_process *a, const struct tpa_process *b)
{
	if (strcmp(a->trace->exe, b->trace->exe) != 0 || a->trace->arg_count != b->trace->arg_count)
		return false;
	for (size_t i = 0; i < a->trace->arg_count; i++)
		if (strcmp(a->trace->args[i], b->trace->args[i]) != 0)
			return false;
	return true;
}

static struct tpa_variant *variant_for(struct tpa_variants *variants, const struct tpa_run *run, size_t room)
{
	struct tpa_variant *variant;

	for (size_t i = 0; i < variants->count; i++)
		if (same_program(&variants->list[i].runs[0]->processes[0], &run->processes[0]))
			return &variants->list[i];
	variant = &variants->list[variants->count++];
	variant->runs = tpa_zalloc(room, sizeof(*variant->runs));
	return variant;
}

/* ---- ops ---- */

static bool same_category(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

const struct tpa_variant_op *tpa_variant_op(const struct tpa_variant *variant, const char *name, const char *category)
{
	for (size_t i = 0; i < variant->op_count; i++)
		if (tpa_op_name_same(variant->ops[i].sum.name, name) &&
		    same_category(variant->ops[i].sum.category, category))
			return &variant->ops[i];
	return NULL;
}

static struct tpa_variant_op *op_for(struct tpa_variant *variant, const char *name, const char *category)
{
	struct tpa_variant_op *op = (struct tpa_variant_op *)(uintptr_t)tpa_variant_op(variant, name, category);

	if (!op) {
		op = &variant->ops[variant->op_count++];
		op->sum.name = name;
		op->sum.category = category;
	}
	return op;
}

static void add_op(struct tpa_op_stats *sum, const struct tpa_op_stats *op)
{
	sum->calls += op->calls;
	sum->total_ns += op->total_ns;
	sum->self_ns += op->self_ns;
	sum->flop += op->flop;
	sum->self_flop += op->self_flop;
	sum->self_matrix_flop += op->self_matrix_flop;
	sum->bytes += op->bytes;
	sum->self_bytes += op->self_bytes;
	sum->allocated_bytes += op->allocated_bytes;
}

static const struct tpa_op_stats *stats_of(const struct tpa_process *process, uint32_t number)
{
	for (size_t i = 0; number && i < process->op_count; i++)
		if (process->ops[i].op == number)
			return &process->ops[i];
	return NULL;
}

static void add_peak(struct tpa_variant *variant, const struct tpa_process *process)
{
	for (size_t i = 0; i < process->site_count; i++) {
		const struct tpa_site *site = &process->sites[i];
		const struct tpa_op_stats *op = stats_of(process, site->op);

		if (site->peak_bytes)
			op_for(variant, op ? op->name : "(outside of ops)", op ? op->category : NULL)->peak_bytes +=
				site->peak_bytes;
	}
}

static int by_self(const void *left, const void *right)
{
	const struct tpa_variant_op *a = left, *b = right;

	return TPA_DOWN(a->sum.self_ns, b->sum.self_ns) ?: strcmp(a->sum.name, b->sum.name);
}

/* Returns the sum of the ops' self times. */
static double add_ops(struct tpa_variant *variant, const struct tpa_process *process)
{
	double all = 0;

	for (size_t i = 0; i < process->op_count; i++) {
		const struct tpa_op_stats *op = &process->ops[i];

		add_op(&op_for(variant, op->name, op->category)->sum, op);
		all += (double)op->self_ns;
	}
	return all;
}

static void pool_ops(struct tpa_variant *variant)
{
	size_t room = 1;
	double all = 0;

	for (size_t r = 0; r < variant->run_count; r++)
		for (size_t p = 0; p < variant->runs[r]->process_count; p++)
			room += variant->runs[r]->processes[p].op_count;
	variant->ops = tpa_zalloc(room, sizeof(*variant->ops));
	for (size_t r = 0; r < variant->run_count; r++)
		for (size_t p = 0; p < variant->runs[r]->process_count; p++)
			all += add_ops(variant, &variant->runs[r]->processes[p]);
	for (size_t i = 0; all > 0 && i < variant->op_count; i++)
		variant->ops[i].share = (double)variant->ops[i].sum.self_ns / all;
	add_peak(variant, tpa_stepping(variant->runs[0]));
	qsort(variant->ops, variant->op_count, sizeof(*variant->ops), by_self);
}

/* ---- steps and memory ---- */

static void pool_steps(struct tpa_variant *variant)
{
	struct tpa_moments means = { 0, 0, 0 };
	double steps = 0, all_steps = 0, items = 0, flop = 0, matrix_flop = 0;
	const struct tpa_process *last = NULL;

	for (size_t r = 0; r < variant->run_count; r++) {
		const struct tpa_process *process = tpa_stepping(variant->runs[r]);
		const struct tpa_step_stats *of = &process->steps;

		if (!of->durations.count)
			continue;
		tpa_moments_add(&means, of->durations.mean);
		last = process;
		steps += (double)of->durations.count;
		all_steps += (double)of->count;
		items += (double)of->items;
		flop += (double)of->flop;
		matrix_flop += (double)of->matrix_flop;
	}
	variant->step_interval = (struct tpa_interval){ NAN, NAN };
	if (!last)
		return;
	variant->step_ns = means.mean;
	variant->step_interval = tpa_moments_interval(means.count > 1 ? &means : &last->steps.durations);
	variant->items_per_step = items / all_steps;
	variant->flop_per_step = flop / steps;
	variant->matrix_flop_per_step = matrix_flop / steps;
}

static void pool_memory(struct tpa_variant *variant)
{
	for (size_t r = 0; r < variant->run_count; r++) {
		const struct tpa_run *run = variant->runs[r];

		if (run->peak_bytes > variant->peak_bytes)
			variant->peak_bytes = run->peak_bytes;
		for (size_t p = 0; p < run->process_count; p++)
			if (run->processes[p].heap.rss_peak > variant->rss_peak)
				variant->rss_peak = run->processes[p].heap.rss_peak;
	}
	tpa_trace_value(tpa_stepping(variant->runs[0])->trace, "parameters", &variant->parameters);
}

void tpa_variants_make(struct tpa_variants *variants, const struct tpa_run *const *runs, size_t count)
{
	*variants = (struct tpa_variants){ .list = tpa_zalloc(count, sizeof(*variants->list)) };
	for (size_t i = 0; i < count; i++) {
		struct tpa_variant *variant = variant_for(variants, runs[i], count);

		variant->runs[variant->run_count++] = runs[i];
	}
	for (size_t i = 0; i < variants->count; i++) {
		pool_ops(&variants->list[i]);
		pool_steps(&variants->list[i]);
		pool_memory(&variants->list[i]);
	}
}

void tpa_variants_free(struct tpa_variants *variants)
{
	for (size_t i = 0; i < variants->count; i++) {
		free((void *)variants->list[i].runs);
		free(variants->list[i].ops);
	}
	free(variants->list);
	*variants = (struct tpa_variants){ NULL, 0 };
}
