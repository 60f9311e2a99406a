/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json.h"

#include <inttypes.h>
#include <string.h>

#include "report/estimate.h"
#include "model/steps.h"
#include "report/holders.h"
#include "report/process.h"

static void set(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

json_t *tp_json_process(const struct tp_process *process)
{
	const struct tp_trace *trace = process->trace;
	const struct tprof_header *header = trace->header;
	bool ended = header->end == TPROF_END_EXIT || header->end == TPROF_END_SIGNAL;
	json_t *json = json_object(), *args = json_array();

	for (size_t i = 0; i < trace->arg_count; i++)
		json_array_append_new(args, tp_json_string(trace->args[i]));
	set(json, "pid", tp_json_number(header->pid));
	set(json, "ppid", tp_json_number(header->ppid));
	set(json, "exe", tp_json_string(trace->exe));
	set(json, "args", args);
	set(json, "cwd", tp_json_string(trace->cwd));
	set(json, "start_unix_ns", tp_json_number(header->start.unix_ns));
	set(json, "start_ns", tp_json_number(process->start_ns));
	set(json, "duration_ns", tp_json_number(process->duration_ns));
	set(json, "end", json_string(tp_end_name(trace)));
	set(json, "status", ended ? json_integer(header->end_status) : json_null());
	set(json, "trace", tp_json_string(trace->file));
	return json;
}

static json_t *json_hooks_of(const struct tp_trace *trace, const struct tp_hooks *hooks)
{
	json_t *json = json_object();

	set(json, "module", tp_json_string(hooks->object[0] ? hooks->object : trace->exe));
	if (hooks->state != TPROF_HOOKS_DONE)
		set(json, "reason", json_string(tp_hooks_name(hooks->state)));
	set(json, "pointers", tp_json_number(hooks->pointers));
	set(json, "functions", tp_json_number(hooks->functions));
	return json;
}

static json_t *json_hooks(const struct tp_trace *trace)
{
	const struct tprof_header *header = trace->header;
	json_t *json = json_object(), *modules = json_array(), *skipped = json_array();

	if (header->flags & TPROF_FLAG_FOREIGN_MALLOC)
		json_array_append_new(skipped,
				      json_pack("{s:o, s:s}", "module",
						tp_json_string(trace->malloc_path[0] ? trace->malloc_path : trace->exe),
						"reason", "malloc is linked statically"));
	if (header->flags & TPROF_FLAG_DEEPBIND)
		json_array_append_new(skipped,
				      json_pack("{s:n, s:s}", "module", "reason", "loaded with RTLD_DEEPBIND"));
	for (size_t i = 0; i < trace->hooks_count; i++)
		json_array_append_new(trace->hooks[i].state == TPROF_HOOKS_DONE ? modules : skipped,
				      json_hooks_of(trace, &trace->hooks[i]));
	set(json, "slots", tp_json_number(header->slots));
	set(json, "functions", tp_json_number(header->op_functions));
	set(json, "modules", modules);
	set(json, "skipped", skipped);
	return json;
}

static json_t *json_lost(const struct tp_trace *trace)
{
	json_t *json = json_object();
	const char *name;

	for (unsigned int i = 0; (name = tp_lost_name(i)); i++)
		set(json, name, tp_json_number(trace->header->lost[i]));
	return json;
}

static json_t *json_damage(const struct tp_trace *trace)
{
	json_t *list = json_array();

	for (size_t i = 0; i < trace->damage_count; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o}", "offset", tp_json_number(trace->damage[i].offset),
						"lost_bytes", tp_json_number(trace->damage[i].lost_bytes), "reason",
						tp_json_string(trace->damage[i].reason)));
	return list;
}

static json_t *json_pauses(const struct tp_process *process)
{
	json_t *json = json_object();

	set(json, "count", tp_json_number(process->pauses));
	set(json, "duration_ns", tp_json_number(process->paused_ns));
	set(json, "off_at_start", json_boolean(process->off_at_start));
	return json;
}

static json_t *json_version(uint32_t version)
{
	return version ? json_sprintf("%u.%u", version >> 8 & 0xff, version & 0xff) : json_null();
}

static json_t *json_python(const struct tprof_header *header)
{
	return json_pack("{s:o, s:o, s:o}", "version", json_version(header->python), "not_read",
			 json_version(header->python_seen), "unread", tp_json_number(header->python_unread));
}

json_t *tp_json_capture(const struct tp_process *process)
{
	const struct tp_trace *trace = process->trace;
	const struct tprof_header *header = trace->header;
	json_t *json = json_object();

	set(json, "alloc_events", tp_json_number(process->heap.recorded_allocations));
	set(json, "free_events", tp_json_number(process->heap.recorded_frees));
	set(json, "sample_bytes", tp_json_number(header->sample_bytes));
	set(json, "op_events", tp_json_number(process->op_counts.events));
	set(json, "cpu_samples", tp_json_number(process->cpu.samples));
	set(json, "cpu_period_ns", tp_json_number(header->cpu_period_ns));
	set(json, "cpu_ns", tp_json_number(tp_cpu_ns(process, &process->cpu)));
	set(json, "cpu_outside_ops_ns", tp_json_number(tp_cpu_ns(process, &process->cpu_outside)));
	set(json, "cpu_own_ns", tp_json_number(header->samples_own * header->cpu_period_ns));
	set(json, "cpu_stopped", json_boolean(header->cpu_stopped));
	set(json, "events", tp_json_number(process->heap.events));
	set(json, "lost_events", tp_json_number(tp_lost_events(trace)));
	set(json, "lost", json_lost(trace));
	set(json, "stacks_cut", tp_json_number(header->walks_cut));
	set(json, "stacks_short", tp_json_number(header->walks_short));
	set(json, "python", json_python(header));
	set(json, "stopped", json_boolean(header->flags & TPROF_FLAG_STOPPED));
	set(json, "threads", tp_json_number(process->thread_count));
	set(json, "trace_bytes", tp_json_number(trace->used_bytes));
	set(json, "file_bytes", tp_json_number(trace->file_bytes));
	set(json, "damage", json_damage(trace));
	set(json, "overhead_ns", tp_json_number(process->overhead_ns));
	set(json, "collector_bytes", tp_json_number(header->collector_bytes));
	set(json, "malloc", tp_json_string(trace->malloc_path));
	set(json, "foreign_malloc", json_boolean(header->flags & TPROF_FLAG_FOREIGN_MALLOC));
	set(json, "hooks", json_hooks(trace));
	set(json, "pauses", json_pauses(process));
	return json;
}

static json_t *json_pools(const struct tp_pool_counts *pools)
{
	json_t *json = json_object();

	set(json, "pools", tp_json_number(pools->pools));
	set(json, "allocated_bytes", tp_json_number(pools->bytes));
	set(json, "peak_bytes", tp_json_number(pools->peak_bytes));
	set(json, "end_pools", tp_json_number(pools->end_pools));
	set(json, "end_bytes", tp_json_number(pools->end_bytes));
	set(json, "block_allocations", tp_json_number(pools->allocations));
	set(json, "block_frees", tp_json_number(pools->frees));
	return json;
}

static json_t *json_allocator_numbers(const struct tp_allocator *numbers)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "allocated_bytes", tp_json_number(numbers->allocated),
			 "active_bytes", tp_json_number(numbers->active), "metadata_bytes",
			 tp_json_number(numbers->metadata), "resident_bytes", tp_json_number(numbers->resident),
			 "mapped_bytes", tp_json_number(numbers->mapped), "retained_bytes",
			 tp_json_number(numbers->retained));
}

/* null: the allocator does not tell about itself. */
static json_t *json_allocator(const struct tp_allocator_series *series)
{
	json_t *json;

	if (!tp_allocator_told(&series->last))
		return json_null();
	json = json_object();
	set(json, "name", json_string("jemalloc"));
	set(json, "samples", tp_json_number(series->said));
	set(json, "end", json_allocator_numbers(&series->last));
	set(json, "most", json_allocator_numbers(&series->most));
	return json;
}

json_t *tp_json_allocator_points(const struct tp_allocator_series *series)
{
	json_t *list = json_array(), *point;

	for (size_t i = 0; i < series->count; i++) {
		point = json_allocator_numbers(&series->list[i].numbers);
		set(point, "time_ns", tp_json_number(series->list[i].time_ns));
		json_array_append_new(list, point);
	}
	return list;
}

json_t *tp_json_heap(const struct tp_process *process)
{
	const struct tp_heap *heap = &process->heap;
	const struct tp_variance *variance = &heap->variance;
	const struct {
		const char *key;
		uint64_t value;
		double variance;
	} estimable[] = {
		{ "allocations", heap->allocations, variance->allocations },
		{ "frees", heap->frees, variance->frees },
		{ "allocated_bytes", heap->bytes, variance->bytes },
		{ "allocated_usable_bytes", heap->usable, variance->usable },
		{ "peak_bytes", heap->peak_bytes, variance->peak_bytes },
		{ "peak_blocks", heap->peak_blocks, variance->peak_blocks },
		{ "peak_usable_bytes", heap->peak_usable, variance->peak_usable },
		{ "end_bytes", heap->end_bytes, variance->live_bytes },
		{ "end_blocks", heap->end_blocks, variance->live_blocks },
		{ "end_usable_bytes", heap->end_usable, variance->live_usable },
		{ "short_lived_allocations", heap->short_lived, variance->short_lived },
		{ "combined_peak_bytes", process->combined_peak_bytes, process->combined_peak_variance },
	};
	const struct {
		const char *key;
		uint64_t value;
	} numbers[] = {
		{ "peak_time_ns", heap->peak_time_ns },
		{ "failed_reallocs", heap->failed_reallocs },
		{ "inherited_frees", heap->inherited_frees },
		{ "unmatched_frees", heap->unmatched_frees },
		{ "reordered_events", heap->reordered },
		{ "mapped_peak_bytes", heap->mapped_peak },
		{ "mapped_end_bytes", heap->mapped_end },
		{ "maps", heap->maps },
		{ "unmaps", heap->unmaps },
		{ "rss_peak_bytes", heap->rss_peak },
	};
	json_t *json = json_object();

	set(json, "estimated", json_boolean(process->estimated));
	for (size_t i = 0; i < sizeof(estimable) / sizeof(estimable[0]); i++)
		tp_json_some(json, estimable[i].key, estimable[i].value, estimable[i].variance, process->estimated);
	set(json, "temporary_allocations", process->estimated ? json_null() : tp_json_number(heap->temporary));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		set(json, numbers[i].key, tp_json_number(numbers[i].value));
	set(json, "pools", json_pools(&process->pools));
	set(json, "allocator", json_allocator(&process->allocator));
	return json;
}

json_t *tp_json_notes(const struct tp_process *process, const struct tp_symbols *symbols)
{
	json_t *list = json_array();
	struct tp_notes notes;

	tp_notes_collect(&notes, process, symbols);
	for (size_t i = 0; i < notes.count; i++)
		json_array_append_new(list, tp_json_string(notes.text[i]));
	tp_notes_free(&notes);
	return list;
}

static json_t *json_frame(const struct tp_line *line)
{
	const struct tp_location *location = line->location;
	json_t *json = json_object();
	char address[32];

	snprintf(address, sizeof(address), "0x%" PRIx64, line->address);
	set(json, "function", tp_json_string(location->function));
	set(json, "file", tp_json_string(location->file));
	set(json, "line", location->line ? json_integer(location->line) : json_null());
	set(json, "module", line->symbol->module[0] ? tp_json_string(line->symbol->module) : json_null());
	set(json, "address", json_string(address));
	set(json, "inlined", json_boolean(location->inlined));
	set(json, "language", json_string(location->python ? "python" : "native"));
	return json;
}

static const char *end_word(uint32_t end)
{
	return end == TPROF_NODE_ROOT	 ? "root"
	       : end == TPROF_NODE_CUT	 ? "cut"
	       : end == TPROF_NODE_SHORT ? "short"
					 : "none";
}

json_t *tp_json_stack(const struct tp_trace *trace, struct tp_symbols *symbols, uint32_t node, json_int_t *own)
{
	struct tp_stack stack = { NULL };
	json_t *list = json_array();
	const struct tp_line *line = NULL;

	if (tp_stack_read(&stack, trace, symbols, node)) {
		line = tp_stack_own(&stack);
		for (size_t i = 0; i < stack.count; i++)
			json_array_append_new(list, json_frame(&stack.lines[i]));
	}
	*own = line ? line - stack.lines : -1;
	tp_stack_free(&stack);
	return list;
}

/* `key` behind the prefix. */
static void set_some(json_t *json, const char *prefix, const char *key, uint64_t value, double variance, bool estimated)
{
	char name[48];

	snprintf(name, sizeof(name), "%s%s", prefix, key);
	tp_json_some(json, name, value, variance, estimated);
}

static void set_numbers(json_t *json, const struct tp_sums *sums, enum tp_json_sites shape, const char *prefix,
			bool estimated)
{
	enum tp_what what = shape == TP_JSON_PEAK ? TP_WHAT_PEAK : TP_WHAT_UNFREED;
	const struct tp_variance *variance = &sums->variance;
	char key[40];

	if (shape == TP_JSON_HOT) {
		set_some(json, prefix, "allocations", sums->allocations, variance->allocations, estimated);
		set_some(json, prefix, "bytes", sums->bytes, variance->bytes, estimated);
		snprintf(key, sizeof(key), "%stemporary", prefix);
		set(json, key, estimated ? json_null() : tp_json_number(sums->temporary));
		set_some(json, prefix, "short_lived", sums->short_lived, variance->short_lived, estimated);
	} else {
		set_some(json, prefix, "bytes", tp_sums_bytes(sums, what), tp_sums_bytes_variance(sums, what),
			 estimated);
		set_some(json, prefix, "blocks", tp_sums_blocks(sums, what), tp_sums_blocks_variance(sums, what),
			 estimated);
	}
}

/* A row by anything but its stack says what it is of in the keys of a frame. */
static void set_name(json_t *json, const struct tp_row *row, enum tp_by by)
{
	const struct tp_location *location = row->line.location;

	if (by == TP_BY_OP) {
		set(json, "op", tp_json_string(row->op));
		return;
	}
	if (by == TP_BY_STEP)
		set(json, "steps", tp_json_number(tp_step_key_span(row->key)));
	if (tp_by_key(by)) {
		set(json, by == TP_BY_THREAD ? "thread" : by == TP_BY_SIZE ? "size" : "step", tp_json_number(row->key));
		return;
	}
	if (by == TP_BY_LINE) {
		set(json, "file", tp_json_string(location ? location->file : NULL));
		set(json, "line", location && location->line ? json_integer(location->line) : json_null());
	}
	if (by != TP_BY_MODULE)
		set(json, "function", tp_json_string(location ? location->function : NULL));
	set(json, "module",
	    location && row->line.symbol->module[0] ? tp_json_string(row->line.symbol->module) : json_null());
	if (by == TP_BY_MODULE)
		set(json, "path",
		    location && row->line.symbol->path[0] ? tp_json_string(row->line.symbol->path) : json_null());
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
			enum tp_by by, enum tp_json_sites shape)
{
	const struct tp_trace *trace = run->processes[row->process].trace;
	json_t *json = json_object();
	bool estimated = run->processes[row->process].estimated;
	json_int_t own;
	uint32_t end;

	set(json, "estimated", json_boolean(estimated));
	set_numbers(json, &row->self, shape, "", estimated);
	set(json, "largest_bytes", tp_json_number(row->self.largest));
	if (by != TP_BY_STACK) {
		if (!tp_by_key(by))
			set_numbers(json, &row->total, shape, "total_", estimated);
		set_name(json, row, by);
		return json;
	}
	set(json, "op", tp_json_string(row->op));
	if (shape != TP_JSON_HOT)
		set_born(json, &row->born, estimated);
	tp_trace_stack(trace, row->node, NULL, 0, &end);
	set(json, "stack", tp_json_stack(trace, symbols[row->process], row->node, &own));
	set(json, "own", own < 0 ? json_null() : json_integer(own));
	set(json, "held_by", tp_json_string(tp_node_holder(trace, symbols[row->process], row->node)));
	set(json, "stack_end", json_string(end_word(end)));
	return json;
}

json_t *tp_json_rows(const struct tp_run *run, struct tp_symbols *const *symbols, const struct tp_rows *rows,
		     enum tp_by by, enum tp_json_sites shape, uint64_t top)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rows->count && (!top || i < top); i++)
		json_array_append_new(list, json_row(run, symbols, &rows->rows[i], by, shape));
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
							      (int)rows->estimated));
	set_numbers(json, &rows->suppressed, TP_JSON_UNFREED, "", rows->estimated);
	set(json, "rules", list);
	return json;
}

json_t *tp_json_points(const struct tp_point *points, size_t count, bool estimated)
{
	json_t *list = json_array(), *point;

	for (size_t i = 0; i < count; i++) {
		point = json_pack("{s:o, s:o, s:o, s:o}", "time_ns", tp_json_number(points[i].time_ns), "mapped_bytes",
				  tp_json_number(points[i].mapped_bytes), "rss_bytes", tp_json_number(points[i].rss),
				  "vms_bytes", tp_json_number(points[i].vms));
		tp_json_some(point, "live_bytes", points[i].live_bytes, points[i].bytes_variance, estimated);
		tp_json_some(point, "live_blocks", points[i].live_blocks, points[i].blocks_variance, estimated);
		json_array_append_new(list, point);
	}
	return list;
}

json_t *tp_json_combined(const struct tp_run *run)
{
	json_t *json = json_object(), *list = json_array(), *one;

	for (size_t i = 0; i < run->process_count; i++) {
		const struct tp_process *process = &run->processes[i];

		one = json_pack("{s:o}", "pid", tp_json_number(process->trace->header->pid));
		tp_json_some(one, "bytes", process->combined_peak_bytes, process->combined_peak_variance,
			     process->estimated);
		json_array_append_new(list, one);
	}
	set(json, "start_unix_ns", tp_json_number(run->start_unix_ns));
	set(json, "duration_ns", tp_json_number(run->duration_ns));
	set(json, "estimated", json_boolean(tp_run_estimated(run)));
	tp_json_some(json, "peak_bytes", run->peak_bytes, run->peak_variance, tp_run_estimated(run));
	set(json, "peak_time_ns", tp_json_number(run->peak_time_ns));
	set(json, "peak_processes", list);
	return json;
}
