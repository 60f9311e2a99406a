/* SPDX-License-Identifier: Apache-2.0 */
#include "model/result/priorities.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

/* A parallel region includes the part of the thread that opened it. Other threads' parts run in parallel and don't count. */
static uint64_t own(const struct tpa_op_stats *op)
{
	return op->is_part ? 0 : op->self_ns + op->own_part_ns;
}

static int by_self(const void *left, const void *right)
{
	const struct tpa_priority *a = left, *b = right;

	return TPA_DOWN(a->own_ns, b->own_ns) ?: strcmp(a->op->name, b->op->name);
}

size_t tpa_priorities(const struct tpa_process *process, double share, struct tpa_priority *list)
{
	double all = 0, sum = 0, run = (double)process->duration_ns;
	size_t count = 0;

	for (size_t i = 0; i < process->op_count; i++) {
		list[i] = (struct tpa_priority){ .op = &process->ops[i], .own_ns = own(&process->ops[i]) };
		all += (double)list[i].own_ns;
	}
	if (!(all > 0))
		return 0;
	qsort(list, process->op_count, sizeof(*list), by_self);
	for (; count < process->op_count && sum < share * all; count++) {
		struct tpa_priority *one = &list[count];
		double self = (double)one->own_ns;

		sum += self;
		one->of_ops = self / all;
		one->of_run = run > self ? self / run : 1;
		one->saved_ns = self < run ? one->own_ns : process->duration_ns;
		one->speedup = one->of_run < 1 ? 1 / (1 - one->of_run) : INFINITY;
	}
	return count;
}
