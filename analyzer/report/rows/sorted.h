/* SPDX-License-Identifier: Apache-2.0 */
/* Ops and steps of a process, in the order that --sort asks for. */
#ifndef TPROF_REPORT_ROWS_SORTED_H
#define TPROF_REPORT_ROWS_SORTED_H

#include <regex.h>

#include "model/result/result.h"

struct tp_op_list {
	const struct tp_op_stats **ops;
	size_t count;
};

/*
 * `sort`: total, self, calls, mean, p99 or alloc; `filter`: names or categories that match, NULL: all. To be freed with free(list->ops).
 */
void tp_op_list(struct tp_op_list *list, const struct tp_process *process, const char *sort, const regex_t *filter);

/* Steps one by one, in an order: time (the slowest first), high, growth or step. An array of pointers, to be freed. */
const struct tp_step **tp_steps_sort(const struct tp_step_stats *steps, const char *sort);

/* How much more was live at its end than at its begin; the time of one step, where several were put together. */
int64_t tp_step_growth(const struct tp_step *step);
uint64_t tp_step_time(const struct tp_step *step);

/* How many of the performance counters that were asked for were counted. */
size_t tp_counters_counted(const struct tp_trace *trace);

#endif
