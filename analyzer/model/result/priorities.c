/* SPDX-License-Identifier: Apache-2.0 */
#include "model/result/priorities.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_self(const void *left, const void *right)
{
	const struct tpa_priority *a = left, *b = right;

	if (a->op->self_ns != b->op->self_ns)
		return a->op->self_ns > b->op->self_ns ? -1 : 1;
	return strcmp(a->op->name, b->op->name);
}

size_t tpa_priorities(const struct tpa_process *process, double share, struct tpa_priority *list)
{
	double all = 0, sum = 0, run = (double)process->duration_ns;
	size_t count = 0;

	for (size_t i = 0; i < process->op_count; i++) {
		list[i] = (struct tpa_priority){ .op = &process->ops[i] };
		all += (double)process->ops[i].self_ns;
	}
	if (!(all > 0))
		return 0;
	qsort(list, process->op_count, sizeof(*list), by_self);
	for (; count < process->op_count && sum < share * all; count++) {
		struct tpa_priority *one = &list[count];
		double self = (double)one->op->self_ns;

		sum += self;
		one->of_ops = self / all;
		one->of_run = run > self ? self / run : 1;
		one->saved_ns = one->op->self_ns < process->duration_ns ? one->op->self_ns : process->duration_ns;
		one->speedup = one->of_run < 1 ? 1 / (1 - one->of_run) : INFINITY;
	}
	return count;
}
