/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of sites as JSON. */
#include <stdio.h>

#include "model/steps/steps.h"
#include "report/rows/estimate.h"
#include "report/rows/known_caches.h"
#include "report/rows/site_columns.h"
#include "report/json/json.h"
#include "report/json/json_stack.h"

static const char *end_word(uint32_t end)
{
	return end == TPROF_NODE_ROOT	 ? "root"
	       : end == TPROF_NODE_CUT	 ? "cut"
	       : end == TPROF_NODE_SHORT ? "short"
					 : "none";
}

/* Sets the self numbers, and the totals if they differ. */
static void set_numbers(json_t *json, const struct tpa_row *row, enum tpa_json_sites shape, bool nested,
			struct tpa_unseen unseen)
{
	static const struct {
		enum tpa_what what;
		const char *own, *nested;
	} numbers[] = {
		[TPA_JSON_PEAK] = { TPA_WHAT_PEAK, "bytes blocks", "total_bytes total_blocks" },
		[TPA_JSON_UNFREED] = { TPA_WHAT_UNFREED, "bytes blocks", "total_bytes total_blocks" },
		[TPA_JSON_HOT] = { TPA_WHAT_ALLOCATED, "allocations bytes temporary short_lived",
				   "total_allocations total_bytes total_temporary total_short_lived" },
	};
	const struct tpa_row_context context = { .unseen = unseen };

	tpa_json_keys(json, tpa_site_columns(numbers[shape].what), nested ? numbers[shape].nested : numbers[shape].own,
		      row, &context);
}

void tpa_json_line(json_t *json, const struct tpa_line *line, enum tpa_by by)
{
	const struct tpa_location *location = line->location;
	const char *module = location && line->symbol->module[0] ? line->symbol->module : NULL;

	if (by == TPA_BY_LINE) {
		tpa_json_set(json, "file", tpa_json_string(location ? location->file : NULL));
		tpa_json_set(json, "line", location && location->line ? json_integer(location->line) : json_null());
	}
	if (by != TPA_BY_MODULE)
		tpa_json_set(json, "function", tpa_json_string(location ? location->function : NULL));
	tpa_json_set(json, "module", tpa_json_string(module));
	if (by == TPA_BY_MODULE)
		tpa_json_set(json, "path",
			     tpa_json_string(location && line->symbol->path[0] ? line->symbol->path : NULL));
}

/* Names a row that is not by stack. */
static void set_name(json_t *json, const struct tpa_row *row, enum tpa_by by)
{
	if (by == TPA_BY_STEP)
		tpa_json_set(json, "steps", tpa_json_number(tpa_step_key_span(row->key)));
	if (by == TPA_BY_OP || by == TPA_BY_LAYER)
		tpa_json_set(json, by == TPA_BY_OP ? "op" : "layer", tpa_json_string(row->op));
	else if (tpa_by_key(by))
		tpa_json_set(json,
			     by == TPA_BY_THREAD ? "thread"
			     : by == TPA_BY_SIZE ? "size"
						 : "step",
			     tpa_json_number(row->key));
	else
		tpa_json_line(json, &row->line, by);
}

/* One step, or bounds; both are unknown for samples. */
static void set_born(json_t *json, const struct tpa_born *born, bool estimated)
{
	bool known = born->first && !estimated;

	tpa_json_set(json, "step", known && born->first == born->last ? tpa_json_number(born->first) : json_null());
	tpa_json_set(json, "first_step", known ? tpa_json_number(born->first) : json_null());
	tpa_json_set(json, "last_step", known ? tpa_json_number(born->last) : json_null());
}

static json_t *json_row(const struct tpa_run *run, struct tpa_symbols *const *symbols, const struct tpa_row *row,
			enum tpa_by by, enum tpa_json_sites shape, struct tpa_json_frames *frames)
{
	const struct tpa_trace *trace = run->processes[row->process].trace;
	json_t *json = json_object();
	const struct tpa_process *process = &run->processes[row->process];
	json_int_t own;
	uint32_t end;

	tpa_json_set(json, "estimated", json_boolean(process->estimated));
	set_numbers(json, row, shape, false, process->unseen);
	tpa_json_set(json, "largest_bytes",
		     tpa_json_number(tpa_sums_largest(&row->self,
						      shape == TPA_JSON_PEAK ? TPA_WHAT_PEAK : TPA_WHAT_ALLOCATED)));
	if (by != TPA_BY_STACK) {
		if (tpa_by_nested(by))
			set_numbers(json, row, shape, true, process->unseen);
		set_name(json, row, by);
		return json;
	}
	tpa_json_set(json, "op", tpa_json_string(row->op));
	if (shape != TPA_JSON_HOT)
		set_born(json, &row->born, process->estimated);
	tpa_trace_stack(trace, row->node, NULL, 0, &end);
	tpa_json_set(json, "stack", tpa_json_stack(trace, symbols[row->process], row->node, frames, &own));
	tpa_json_set(json, "own", own < 0 ? json_null() : json_integer(own));
	tpa_json_set(json, "held_by", tpa_json_string(tpa_holder_name(row->holder)));
	tpa_json_set(json, "stack_end", json_string(end_word(end)));
	return json;
}

json_t *tpa_json_rows(const struct tpa_run *run, struct tpa_symbols *const *symbols, const struct tpa_rows *rows,
		      enum tpa_by by, enum tpa_json_sites shape, uint64_t top)
{
	struct tpa_json_frames frames = { 0 };
	json_t *list = json_array();

	for (size_t i = 0; i < rows->shown && (!top || i < top); i++)
		json_array_append_new(list, json_row(run, symbols, &rows->rows[i], by, shape, &frames));
	tpa_json_frames_free(&frames);
	return list;
}

json_t *tpa_json_held(const struct tpa_rows *rows, enum tpa_what what)
{
	json_t *list = json_array();

	for (enum tpa_holder i = TPA_HOLDER_NONE + 1; i < TPA_HOLDERS; i++) {
		const struct tpa_sums *sums = &rows->held[i];
		json_t *json;

		if (!tpa_sums_blocks(sums, what))
			continue;
		json = json_pack("{s:s}", "held_by", tpa_holder_name(i));
		tpa_json_set(json, "bytes", tpa_json_number(tpa_sums_bytes(sums, what)));
		tpa_json_set(json, "blocks", tpa_json_number(tpa_sums_blocks(sums, what)));
		json_array_append_new(list, json);
	}
	return list;
}

json_t *tpa_json_suppressed(const struct tpa_rows *rows, const struct tpa_suppressions *suppressions)
{
	size_t count;
	const struct tpa_suppression *rules = tpa_suppressions_list(suppressions, &count);
	json_t *json = json_object(), *list = json_array();

	for (size_t i = 0; i < count; i++)
		if (rules[i].sites)
			json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:b}", "pattern",
							      tpa_json_string(rules[i].pattern), "source",
							      tpa_json_string(rules[i].source), "bytes",
							      tpa_json_number(rules[i].bytes), "blocks",
							      tpa_json_number(rules[i].blocks), "estimated",
							      (int)tpa_rows_estimated(rows)));
	set_numbers(json, &(struct tpa_row){ .self = rows->suppressed }, TPA_JSON_UNFREED, false, rows->unseen);
	tpa_json_set(json, "rules", list);
	return json;
}
