/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of the ops and steps of a process, in the order of --sort. */
#ifndef TPROF_REPORT_ROWS_SORTED_H
#define TPROF_REPORT_ROWS_SORTED_H

#include <regex.h>

#include "model/result/result.h"

struct tpa_op_list {
	const struct tpa_op_stats **ops;
	size_t count;
};

/*
 * Lists ops, largest number first. `sort`: total, self, calls, mean, p99 or alloc. `filter`: list only ops whose name or category
 * matches; NULL: all. Free with free(list->ops).
 */
void tpa_op_list(struct tpa_op_list *list, const struct tpa_process *process, const char *sort, const regex_t *filter);

/*
 * Removes the threads' parts of parallel regions from the list. The columns "own_ns" and "own_allocated_bytes" include them in the
 * row of their region.
 */
void tpa_op_list_join(struct tpa_op_list *list);

/* Lists all steps. `sort`: time, high or growth (largest first), or step. The caller frees the array. */
const struct tpa_step **tpa_steps_sort(const struct tpa_step_stats *steps, const char *sort);

/* Live bytes at the end of the step minus those at its begin. */
int64_t tpa_step_growth(const struct tpa_step *step);
/* Duration in ns; the mean if the entry combines several steps. */
uint64_t tpa_step_time(const struct tpa_step *step);

/* Number of requested performance counters that were counted. */
size_t tpa_counters_counted(const struct tpa_trace *trace);

#endif
