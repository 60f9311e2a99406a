/* SPDX-License-Identifier: Apache-2.0 */
/* The model as JSON (libjansson). New versions only add keys. Functions return new references. */
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

json_t *tpa_json_process(const struct tpa_process *process);
json_t *tpa_json_capture(const struct tpa_process *process);
/* Sets the keys of "capture" that say what TPROF_MAX_OVERHEAD left out; null if recording was not limited. */
void tpa_json_levels(json_t *capture, const struct tpa_process *process);
/* Only the numbers, without lists of sites. */
json_t *tpa_json_heap(const struct tpa_process *process);
/* Notes: limits of the numbers. */
json_t *tpa_json_texts(const struct tpa_notes *notes);
json_t *tpa_json_notes(const struct tpa_process *process, const struct tpa_symbols *symbols);
/*
 * Names the function, line or module of a row, in the keys of a frame; null for unknown values. location NULL: all are
 * unknown.
 */
void tpa_json_line(json_t *json, const struct tpa_line *line, enum tpa_by by);

/* Kinds of site lists, by the numbers that they contain. */
enum tpa_json_sites {
	TPA_JSON_PEAK,	  /* bytes and blocks at the peak, op, step */
	TPA_JSON_UNFREED, /* the same as at the peak, at the end */
	TPA_JSON_HOT,	  /* allocations, bytes, temporary, short_lived, largest */
};
/* The first `top` rows (0: all). By stack each has "stack", else "function" etc.; all have "total_..." numbers. */
json_t *tpa_json_rows(const struct tpa_run *run, struct tpa_symbols *const *symbols, const struct tpa_rows *rows,
		      enum tpa_by by, enum tpa_json_sites shape, uint64_t top);
json_t *tpa_json_held(const struct tpa_rows *rows, enum tpa_what what); /* sum of the rows' memory by holder */
json_t *tpa_json_suppressed(const struct tpa_rows *rows, const struct tpa_suppressions *suppressions);
/* The allocator's statistics over time. */
json_t *tpa_json_allocator_points(const struct tpa_allocator_series *series);

json_t *tpa_json_points(const struct tpa_point *points, size_t count, struct tpa_unseen unseen);
/* The sum over a run's processes. */
json_t *tpa_json_combined(const struct tpa_run *run);

/* The first rows, as an array. */
json_t *tpa_cpu_json(const struct tpa_cpu_listing *context, const struct tpa_cpu_rows *rows);

struct tpa_thread_rows;
json_t *tpa_threads_json(const struct tpa_process *process, const struct tpa_thread_rows *rows, uint64_t top);

/* steps.growth: a list of stacks, leaks first. */
json_t *tpa_growth_json_sites(const struct tpa_growth_view *view);

/* "growth": the same with its basis, and the process's memory by parts. */
json_t *tpa_growth_json(const struct tpa_growth_view *view);

/* The makeup of RSS, in lines that add up to it: "memory.growth.parts". null if the trace does not have it. */
json_t *tpa_growth_json_fine(const struct tpa_growth_stats *stats);

/* "search": the result of the search at the end, and the time of the latest one. */
json_t *tpa_reach_search_json(const struct tpa_growth_view *view);

/* "reachability"; null if there was no search. */
json_t *tpa_reach_json(const struct tpa_growth_view *view);

/* The holders of blocks: "holders", "largest_holders", "holders_search". */
json_t *tpa_holders_json(const struct tpa_growth_view *view);

/* The path that holds a finding's blocks; empty if it is unknown. */
struct tpa_finding;
json_t *tpa_finding_holder_json(const struct tpa_growth_view *view, const struct tpa_finding *finding);

/* "combined.copied"; the symbols of all processes are open. */
json_t *tpa_copied_json(const struct tpa_run *run, struct tpa_symbols *const *symbols);

/* "memory": both moments, and the growth of the parts. */
json_t *tpa_makeup_json(const struct tpa_run *run, size_t process, struct tpa_symbols *const *symbols);

/* The first `top` ops (0: all). */
json_t *tpa_ops_json(const struct tpa_op_list *list, uint64_t top);
json_t *tpa_work_known_json(const struct tpa_process *process);
/* Sets "counters" and "self_counters" ({name: increase}) of each op in `ops`, made by tpa_ops_json() from the list. */
void tpa_op_counters_json(const struct tpa_process *process, const struct tpa_op_list *list, json_t *ops);

/*
 * Counters of the whole process, including those that could not be counted, with the reason. NULL: TPROF_COUNTERS was
 * not set.
 */
json_t *tpa_counters_json(const struct tpa_process *process);
/* A list with callers before callees: id, parent (null: outermost) and numbers. */
json_t *tpa_op_tree_json(const struct tpa_process *process, uint64_t top);
/* {"layer": ...} for each layer; see report/rows/call_tree.h. */
json_t *tpa_layers_json(const struct tpa_process *process, uint64_t top);

/* {"time": [...], "memory": {...}}. `roof` returns a new value for an op's "roof", or NULL if it is unknown. */
typedef json_t *tpa_priority_roof(void *context, const struct tpa_op_stats *op);
json_t *tpa_priorities_json(const struct tpa_process *process, const struct tpa_rows *peak, tpa_priority_roof *roof,
			    void *context);

/* `sort`: adds the first `top` (0: all) single steps in that order. NULL: omits them. */
json_t *tpa_steps_json(const struct tpa_process *process, const char *sort, uint64_t top);
json_t *tpa_marks_json(const struct tpa_marks *marks, uint64_t top);

/* ---- the machine, and the places of ops under its roofs ---- */
/* null if it is unknown */
json_t *tpa_utilisation_json(const struct tpa_machine *machine, const struct tpa_process *process);

json_t *tpa_machine_rates_json(const struct tpa_machine *machine);
json_t *tpa_roof_json(const struct tpa_roof_place *places, size_t count, uint64_t top);
/* An op's place with all numbers, or null if its work is unknown. The context is a struct tpa_roof_notes. */
json_t *tpa_roof_place_json(void *context, const struct tpa_op_stats *op);

/* Includes the first `top` ops of each table of the text (0: all). `machine` NULL: unknown. */
json_t *tpa_compare_json(const struct tpa_variants *variants, const struct tpa_machine *machine, uint64_t top);

/* answer.peak, answer.leaks, and a row of answer.time for each of the first `top` ops and rows of CPU time. */
struct tpa_cover;
json_t *tpa_cover_json(const struct tpa_run *run, const struct tpa_cover *cover);
json_t *tpa_findings_answer_json(const struct tpa_growth_view *view);
json_t *tpa_time_answer_json(const struct tpa_run *run, const struct tpa_op_list *ops, const struct tpa_cover *cpu,
			     size_t top, tpa_priority_roof *roof, void *context);

json_t *tpa_others_json(const struct tpa_trace *trace);

/* Adds the host, the control group, and the rank (null: it is in no parallel job). */
void tpa_json_job(json_t *json, const struct tpa_process *process);

/* Array: communicators, windows and other groups of processes. */
json_t *tpa_json_communicators(const struct tpa_trace *trace);

#endif
