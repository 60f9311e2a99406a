/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model as JSON (libjansson). Keys only ever get added. Each function returns a new reference; NULL: memory is out
 * (jansson then passes the NULL on to whatever it would have been put into).
 */
#ifndef TPROF_REPORT_JSON_JSON_H
#define TPROF_REPORT_JSON_JSON_H

#include <jansson.h>

#include "machine/roofline.h"
#include "model/result/variants.h"
#include "model/samples/marks.h"
#include "report/json/json_value.h"
#include "report/rows/notes.h"
#include "report/rows/sorted.h"
#include "report/rows/view.h"

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

/* The first rows as an array; NULL: memory is out. */
json_t *tp_cpu_json(const struct tp_cpu_listing *context, const struct tp_cpu_rows *rows);

struct tp_thread_rows;
json_t *tp_threads_json(const struct tp_process *process, const struct tp_thread_rows *rows, uint64_t top);

/* steps.growth: a list of stacks, leaks first. */
json_t *tp_growth_json_sites(const struct tp_growth_view *view);

/* "growth": the same with what it was found from, and the process's memory by parts. */
json_t *tp_growth_json(const struct tp_growth_view *view);

/* What RSS is made of, in lines that add up to it: "memory.growth.parts". null: the trace does not say. */
json_t *tp_growth_json_fine(const struct tp_growth_stats *stats);

/* "search": what became of the search at the end, and when the latest one was. */
json_t *tp_reach_search_json(const struct tp_growth_view *view);

/* "reachability"; null if there was no search. */
json_t *tp_reach_json(const struct tp_growth_view *view);

/* "memory": both moments, and how the parts grow. */
json_t *tp_makeup_json(const struct tp_run *run, size_t process, struct tp_symbols *const *symbols);

/* Of ops: the first `top` (0: all). */
json_t *tp_ops_json(const struct tp_op_list *list, uint64_t top);
json_t *tp_work_known_json(const struct tp_process *process);
/* Sets "counters" and "self_counters" ({name: increase}) of each op in `ops`, which is tp_ops_json() of the list. */
void tp_op_counters_json(const struct tp_process *process, const struct tp_op_list *list, json_t *ops);

/* Of the whole process, those that could not be counted among them, with the reason. NULL: TPROF_COUNTERS was not set. */
json_t *tp_counters_json(const struct tp_process *process);
/* A list in which callers come before what they called: id, parent (null: outermost) and numbers. NULL: memory is out. */
json_t *tp_op_tree_json(const struct tp_process *process, uint64_t top);
/* {"layer": ...} of each; see report/rows/call_tree.h. */
json_t *tp_layers_json(const struct tp_process *process, uint64_t top);

/* {"time": [...], "memory": {...}}. `roof`: of an op, new, as its "roof"; NULL: none is known. */
typedef json_t *tp_priority_roof(void *context, const struct tp_op_stats *op);
json_t *tp_priorities_json(const struct tp_process *process, const struct tp_rows *peak, tp_priority_roof *roof,
			   void *context);

/* `sort`: with the first `top` (0: all) of the steps one by one, in that order. NULL: without. */
json_t *tp_steps_json(const struct tp_process *process, const char *sort, uint64_t top);
json_t *tp_marks_json(const struct tp_marks *marks, uint64_t top);

/* A machine, and the places of ops under its roofs. */
/* null if it is not known. */
json_t *tp_utilisation_json(const struct tp_machine *machine, const struct tp_process *process);

json_t *tp_machine_rates_json(const struct tp_machine *machine);
json_t *tp_roof_json(const struct tp_roof_place *places, size_t count, uint64_t top);
/* An op's place, with all numbers; null: it does not say what it does. The context is a struct tp_roof_notes. */
json_t *tp_roof_place_json(void *context, const struct tp_op_stats *op);

/* Of ops the first `top` of either of the text's tables (0: all). `machine` NULL: it is not known. */
json_t *tp_compare_json(const struct tp_variants *variants, const struct tp_machine *machine, uint64_t top);

json_t *tp_others_json(const struct tp_trace *trace);

#endif
