/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/sorted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

/* ---- ops ---- */

static double op_number(const struct tpa_op_stats *op, const char *sort)
{
	switch (sort[0]) {
	case 's':
		return (double)(op->self_ns + op->own_part_ns);
	case 'c':
		return (double)op->calls;
	case 'm':
		return op->mean_ns;
	case 'p':
		return (double)op->p99_ns;
	case 'a':
		return (double)op->allocated_bytes;
	default:
		return (double)op->total_ns;
	}
}

static int compare_ops(const void *left, const void *right, void *context)
{
	const struct tpa_op_stats *a = *(const struct tpa_op_stats *const *)left;
	const struct tpa_op_stats *b = *(const struct tpa_op_stats *const *)right;
	double x = op_number(a, context), y = op_number(b, context);

	return TPA_DOWN(x, y) ?: strcmp(a->name, b->name);
}

void tpa_op_list(struct tpa_op_list *list, const struct tpa_process *process, const char *sort, const regex_t *filter)
{
	char key[16];

	list->count = 0;
	list->ops = tpa_zalloc(process->op_count + 1, sizeof(struct tpa_op_stats *));
	for (size_t i = 0; i < process->op_count; i++) {
		const struct tpa_op_stats *op = &process->ops[i];

		if (!filter || regexec(filter, op->name, 0, NULL, 0) == 0 ||
		    regexec(filter, op->category, 0, NULL, 0) == 0)
			list->ops[list->count++] = op;
	}
	snprintf(key, sizeof(key), "%s", sort);
	if (list->count)
		qsort_r(list->ops, list->count, sizeof(*list->ops), compare_ops, key);
}

void tpa_op_list_join(struct tpa_op_list *list)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		if (!list->ops[i]->is_part)
			list->ops[count++] = list->ops[i];
	list->count = count;
}

/* ---- steps ---- */

int64_t tpa_step_growth(const struct tpa_step *step)
{
	return (int64_t)(step->end_bytes - step->begin_bytes);
}

uint64_t tpa_step_time(const struct tpa_step *step)
{
	return step->steps ? (step->end_ns - step->begin_ns) / step->steps : 0;
}

static double step_number(const struct tpa_step *step, const char *sort)
{
	switch (sort[0]) {
	case 'h':
		return (double)step->high_bytes;
	case 'g':
		return (double)tpa_step_growth(step);
	case 's':
		return -(double)step->first;
	default:
		return (double)tpa_step_time(step);
	}
}

static int compare_steps(const void *left, const void *right, void *context)
{
	const struct tpa_step *a = *(const struct tpa_step *const *)left, *b = *(const struct tpa_step *const *)right;
	double x = step_number(a, context), y = step_number(b, context);

	return TPA_DOWN(x, y) ?: TPA_UP(a->first, b->first);
}

const struct tpa_step **tpa_steps_sort(const struct tpa_step_stats *steps, const char *sort)
{
	const struct tpa_step **order = tpa_zalloc(steps->list_count + 1, sizeof(*order));
	char key[16];

	for (size_t i = 0; i < steps->list_count; i++)
		order[i] = &steps->list[i];
	snprintf(key, sizeof(key), "%s", sort);
	if (steps->list_count)
		qsort_r(order, steps->list_count, sizeof(*order), compare_steps, key);
	return order;
}

/* ---- counters ---- */

size_t tpa_counters_counted(const struct tpa_trace *trace)
{
	size_t count = 0;

	for (size_t i = 0; i < trace->counter_count; i++)
		count += trace->counters[i].number != 0;
	return count;
}
