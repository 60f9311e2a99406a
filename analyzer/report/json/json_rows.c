/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of sites as JSON. */
#include <stdio.h>

#include "model/steps/steps.h"
#include "report/rows/estimate.h"
#include "report/rows/known_caches.h"
#include "report/json/json.h"
#include "report/json/json_stack.h"

static void set(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

static const char *end_word(uint32_t end)
{
	return end == TPROF_NODE_ROOT	 ? "root"
	       : end == TPROF_NODE_CUT	 ? "cut"
	       : end == TPROF_NODE_SHORT ? "short"
					 : "none";
}

/* `key` behind the prefix. */
static void set_some(json_t *json, const char *prefix, const char *key, uint64_t value, double variance, double unseen)
{
	char name[48];

	snprintf(name, sizeof(name), "%s%s", prefix, key);
	tp_json_some(json, name, value, variance, unseen);
}

static void set_numbers(json_t *json, const struct tp_sums *sums, enum tp_json_sites shape, const char *prefix,
			struct tp_unseen unseen)
{
	enum tp_what what = shape == TP_JSON_PEAK ? TP_WHAT_PEAK : TP_WHAT_UNFREED;
	const struct tp_variance *variance = &sums->variance;
	char key[40];

	if (shape == TP_JSON_HOT) {
		set_some(json, prefix, "allocations", sums->allocations, variance->allocations, unseen.blocks);
		set_some(json, prefix, "bytes", sums->bytes, variance->bytes, unseen.bytes);
		snprintf(key, sizeof(key), "%stemporary", prefix);
		set(json, key, unseen.bytes > 0 ? json_null() : tp_json_number(sums->temporary));
		set_some(json, prefix, "short_lived", sums->short_lived, variance->short_lived, unseen.blocks);
	} else {
		set_some(json, prefix, "bytes", tp_sums_bytes(sums, what), tp_sums_bytes_variance(sums, what),
			 unseen.bytes);
		set_some(json, prefix, "blocks", tp_sums_blocks(sums, what), tp_sums_blocks_variance(sums, what),
			 unseen.blocks);
	}
}

void tp_json_line(json_t *json, const struct tp_line *line, enum tp_by by)
{
	const struct tp_location *location = line->location;
	const char *module = location && line->symbol->module[0] ? line->symbol->module : NULL;

	if (by == TP_BY_LINE) {
		set(json, "file", tp_json_string(location ? location->file : NULL));
		set(json, "line", location && location->line ? json_integer(location->line) : json_null());
	}
	if (by != TP_BY_MODULE)
		set(json, "function", tp_json_string(location ? location->function : NULL));
	set(json, "module", tp_json_string(module));
	if (by == TP_BY_MODULE)
		set(json, "path", tp_json_string(location && line->symbol->path[0] ? line->symbol->path : NULL));
}

/* A row by anything but its stack. */
static void set_name(json_t *json, const struct tp_row *row, enum tp_by by)
{
	if (by == TP_BY_STEP)
		set(json, "steps", tp_json_number(tp_step_key_span(row->key)));
	if (by == TP_BY_OP || by == TP_BY_LAYER)
		set(json, by == TP_BY_OP ? "op" : "layer", tp_json_string(row->op));
	else if (tp_by_key(by))
		set(json, by == TP_BY_THREAD ? "thread" : by == TP_BY_SIZE ? "size" : "step", tp_json_number(row->key));
	else
		tp_json_line(json, &row->line, by);
}

/* One step, or bounds; of samples neither is known. */
static void set_born(json_t *json, const struct tp_born *born, bool estimated)
{
	bool known = born->first && !estimated;

	set(json, "step", known && born->first == born->last ? tp_json_number(born->first) : json_null());
	set(json, "first_step", known ? tp_json_number(born->first) : json_null());
	set(json, "last_step", known ? tp_json_number(born->last) : json_null());
}

static json_t *json_row(const struct tp_run *run, struct tp_symbols *const *symbols, const struct tp_row *row,
			enum tp_by by, enum tp_json_sites shape, struct tp_json_frames *frames)
{
	const struct tp_trace *trace = run->processes[row->process].trace;
	json_t *json = json_object();
	const struct tp_process *process = &run->processes[row->process];
	json_int_t own;
	uint32_t end;

	set(json, "estimated", json_boolean(process->estimated));
	set_numbers(json, &row->self, shape, "", process->unseen);
	set(json, "largest_bytes",
	    tp_json_number(tp_sums_largest(&row->self, shape == TP_JSON_PEAK ? TP_WHAT_PEAK : TP_WHAT_ALLOCATED)));
	if (by != TP_BY_STACK) {
		if (tp_by_nested(by))
			set_numbers(json, &row->total, shape, "total_", process->unseen);
		set_name(json, row, by);
		return json;
	}
	set(json, "op", tp_json_string(row->op));
	if (shape != TP_JSON_HOT)
		set_born(json, &row->born, process->estimated);
	tp_trace_stack(trace, row->node, NULL, 0, &end);
	set(json, "stack", tp_json_stack(trace, symbols[row->process], row->node, frames, &own));
	set(json, "own", own < 0 ? json_null() : json_integer(own));
	set(json, "held_by", tp_json_string(tp_holder_name(row->holder)));
	set(json, "stack_end", json_string(end_word(end)));
	return json;
}

json_t *tp_json_rows(const struct tp_run *run, struct tp_symbols *const *symbols, const struct tp_rows *rows,
		     enum tp_by by, enum tp_json_sites shape, uint64_t top)
{
	struct tp_json_frames frames = { 0 };
	json_t *list = json_array();

	for (size_t i = 0; i < rows->shown && (!top || i < top); i++)
		json_array_append_new(list, json_row(run, symbols, &rows->rows[i], by, shape, &frames));
	tp_json_frames_free(&frames);
	return list;
}

json_t *tp_json_held(const struct tp_rows *rows, enum tp_what what)
{
	json_t *list = json_array();

	for (enum tp_holder i = TP_HOLDER_NONE + 1; i < TP_HOLDERS; i++) {
		const struct tp_sums *sums = &rows->held[i];
		json_t *json;

		if (!tp_sums_blocks(sums, what))
			continue;
		json = json_pack("{s:s}", "held_by", tp_holder_name(i));
		set(json, "bytes", tp_json_number(tp_sums_bytes(sums, what)));
		set(json, "blocks", tp_json_number(tp_sums_blocks(sums, what)));
		json_array_append_new(list, json);
	}
	return list;
}

json_t *tp_json_suppressed(const struct tp_rows *rows, const struct tp_suppressions *suppressions)
{
	size_t count;
	const struct tp_suppression *rules = tp_suppressions_list(suppressions, &count);
	json_t *json = json_object(), *list = json_array();

	for (size_t i = 0; i < count; i++)
		if (rules[i].sites)
			json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:b}", "pattern",
							      tp_json_string(rules[i].pattern), "source",
							      tp_json_string(rules[i].source), "bytes",
							      tp_json_number(rules[i].bytes), "blocks",
							      tp_json_number(rules[i].blocks), "estimated",
							      (int)tp_rows_estimated(rows)));
	set_numbers(json, &rows->suppressed, TP_JSON_UNFREED, "", rows->unseen);
	set(json, "rules", list);
	return json;
}
