/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two runs' differences as JSON. Everything is matched by name: functions with their module's file name, so that moved
 * lines and other addresses still match. Memory is counted: it differs or not. Times and shares are tested.
 */
#ifndef TPROF_REPORT_DIFF_JSON_H
#define TPROF_REPORT_DIFF_JSON_H

#include "report/json.h"

struct tp_diff {
	json_t *json; /* owned, until tp_diff_end() */
};

/* Totals and ops. These return false when memory is out. */
bool tp_diff_begin(struct tp_diff *diff, const struct tp_process *old_run, const struct tp_process *new_run);
/* Rows of tp_json_rows(), all of them; borrowed. NULL: memory was out. */
bool tp_diff_sites(struct tp_diff *diff, const char *key, const json_t *old_rows, const json_t *new_rows);
/* Rows of tp_cpu_json() by function, all of them, and what their shares are of. */
bool tp_diff_cpu(struct tp_diff *diff, const struct tp_cpu *old_all, const json_t *old_rows,
		 const struct tp_cpu *new_all, const json_t *new_rows);
/* Corrects for the number of tests, sorts, keeps `top` rows of each list (0: all). A new reference; NULL: no memory. */
json_t *tp_diff_end(struct tp_diff *diff, uint64_t top);
void tp_diff_drop(struct tp_diff *diff);

#endif
