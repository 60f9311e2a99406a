/* SPDX-License-Identifier: Apache-2.0 */
/* Ops and steps of a process, in the order that --sort asks for. */
#ifndef TPROF_REPORT_ROWS_SORTED_H
#define TPROF_REPORT_ROWS_SORTED_H

#include <regex.h>

#include "model/result/result.h"

struct tpa_op_list {
	const struct tpa_op_stats **ops;
	size_t count;
};

/*
 * `sort`: total, self, calls, mean, p99 or alloc; `filter`: names or categories that match, NULL: all. To be freed with free(list->ops).
 */
void tpa_op_list(struct tpa_op_list *list, const struct tpa_process *process, const char *sort, const regex_t *filter);

/* Leaves out threads' parts of parallel regions: the columns "own_ns" and "own_allocated_bytes" have them in their region's row. */
void tpa_op_list_join(struct tpa_op_list *list);

/* Steps one by one, in an order: time (the slowest first), high, growth or step. An array of pointers, to be freed. */
const struct tpa_step **tpa_steps_sort(const struct tpa_step_stats *steps, const char *sort);

/* How much more was live at its end than at its begin; the time of one step, where several were put together. */
int64_t tpa_step_growth(const struct tpa_step *step);
uint64_t tpa_step_time(const struct tpa_step *step);

/* How many of the performance counters that were asked for were counted. */
size_t tpa_counters_counted(const struct tpa_trace *trace);

#endif
