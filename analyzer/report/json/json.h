/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model as JSON (libjansson). Keys only ever get added. Each function returns a new reference; NULL: memory is out
 * (jansson then passes the NULL on to whatever it would have been put into).
 */
#ifndef TPROF_REPORT_JSON_JSON_H
#define TPROF_REPORT_JSON_JSON_H

#include <jansson.h>

#include "report/json/json_value.h"
#include "report/text/process_notes.h"
#include "report/rows/rows.h"
#include "report/rows/suppressions.h"

json_t *tp_json_process(const struct tp_process *process);
json_t *tp_json_capture(const struct tp_process *process);
/* The numbers alone, without lists of sites. */
json_t *tp_json_heap(const struct tp_process *process);
/* Notes: what limits the numbers. */
json_t *tp_json_texts(const struct tp_notes *notes);
json_t *tp_json_notes(const struct tp_process *process, const struct tp_symbols *symbols);
/*
 * Names what a row by function, line or module is of, in the keys of a frame: null where something is not known. location
 * NULL: nothing is.
 */
void tp_json_line(json_t *json, const struct tp_line *line, enum tp_by by);

/* Shapes of a list of sites: which numbers each has. */
enum tp_json_sites {
	TP_JSON_PEAK,	 /* bytes and blocks at the peak, op, step */
	TP_JSON_UNFREED, /* the same at the end */
	TP_JSON_HOT,	 /* allocations, bytes, temporary, short_lived, largest */
};
/* The first `top` rows (0: all). By stack each has "stack", else "function" and so on, and "total_..." numbers. */
json_t *tp_json_rows(const struct tp_run *run, struct tp_symbols *const *symbols, const struct tp_rows *rows,
		     enum tp_by by, enum tp_json_sites shape, uint64_t top);
json_t *tp_json_held(const struct tp_rows *rows, enum tp_what what); /* what holds the rows' memory, in sum */
json_t *tp_json_suppressed(const struct tp_rows *rows, const struct tp_suppressions *suppressions);
/* What the allocator said, over time. */
json_t *tp_json_allocator_points(const struct tp_allocator_series *series);

json_t *tp_json_points(const struct tp_point *points, size_t count, struct tp_unseen unseen);
/* The sum over the processes of a run. */
json_t *tp_json_combined(const struct tp_run *run);

#endif
