/* SPDX-License-Identifier: Apache-2.0 */
/* A process: its capture, its heap; all processes combined. json_rows.c has rows and stacks. */
#include "report/json/json.h"

#include "report/rows/estimate.h"
#include "report/rows/guessed.h"
#include "report/rows/lost_callers.h"
#include "report/rows/process_facts.h"
#include "trace/checkpoint.h"

#include <inttypes.h>

static json_t *run_json(uint64_t run)
{
	char text[20];

	snprintf(text, sizeof(text), "%016" PRIx64, run);
	return run ? json_string(text) : json_null();
}

static json_t *imported_json(const struct tpa_trace *trace)
{
	json_t *list = trace->source_count ? json_array() : json_null();

	for (size_t i = 0; i < trace->source_count; i++)
		json_array_append_new(list, tpa_json_string(trace->source[i]));
	return list;
}

json_t *tpa_json_process(const struct tpa_process *process)
{
	const struct tpa_trace *trace = process->trace;
	const struct tprof_header *header = trace->header;
	bool ended = header->end == TPROF_END_EXIT || header->end == TPROF_END_SIGNAL;
	json_t *json = json_object(), *args = json_array();

	for (size_t i = 0; i < trace->arg_count; i++)
		json_array_append_new(args, tpa_json_string(trace->args[i]));
	tpa_json_set(json, "pid", tpa_json_number(header->pid));
	tpa_json_set(json, "ppid", tpa_json_number(header->ppid));
	tpa_json_set(json, "exe", tpa_json_string(trace->exe));
	tpa_json_set(json, "name", tpa_json_string(tpa_program_name(trace)));
	tpa_json_set(json, "started_as", trace->started[0] ? tpa_json_string(trace->started) : json_null());
	tpa_json_set(json, "args", args);
	tpa_json_set(json, "cwd", tpa_json_string(trace->cwd));
	tpa_json_set(json, "start_unix_ns", tpa_json_number(header->start.unix_ns));
	tpa_json_set(json, "start_ns", tpa_json_number(process->start_ns));
	tpa_json_set(json, "duration_ns", tpa_json_number(process->duration_ns));
	tpa_json_set(json, "imported", imported_json(trace));
	tpa_json_set(json, "end", json_string(tpa_end_name(trace)));
	tpa_json_set(json, "status", ended ? json_integer(header->end_status) : json_null());
	tpa_json_set(json, "trace", tpa_json_string(trace->file));
	tpa_json_set(json, "run", run_json(header->run));
	return json;
}

static json_t *json_hooks_of(const struct tpa_trace *trace, const struct tpa_hooks *hooks)
{
	json_t *json = json_object();

	tpa_json_set(json, "module", tpa_json_string(tpa_hooks_path(trace, hooks)));
	if (tpa_hooks_ruled(hooks))
		tpa_json_set(json, "allocator", tpa_json_string(hooks->allocator));
	if (tpa_hooks_hold(hooks))
		tpa_json_set(json, "by", json_string(hooks->state == TPROF_HOOKS_CODE ? "code" : "pointers"));
	else if (hooks->state == TPROF_HOOKS_REFUSED && hooks->function[0])
		tpa_json_set(json, "function", tpa_json_string(hooks->function));
	if (hooks->state == TPROF_HOOKS_RULED)
		tpa_json_set(json, "by", json_string("code"));
	else if (!tpa_hooks_hold(hooks))
		tpa_json_set(json, "reason",
			     tpa_json_string(hooks->reason[0] ? hooks->reason : tpa_hooks_name(hooks->state)));
	tpa_json_set(json, "pointers", tpa_json_number(hooks->pointers));
	tpa_json_set(json, "functions", tpa_json_number(hooks->functions));
	return json;
}

static json_t *json_hooks(const struct tpa_trace *trace)
{
	const struct tprof_header *header = trace->header;
	json_t *json = json_object(), *modules = json_array(), *skipped = json_array(), *allocators = json_array();

	if (header->flags & TPROF_FLAG_FOREIGN_MALLOC)
		json_array_append_new(
			skipped,
			json_pack("{s:o, s:s}", "module",
				  tpa_json_string(trace->malloc_path[0] ? trace->malloc_path : trace->exe), "reason",
				  tpa_malloc_is_shared(trace) ? "its malloc stands before libtprof.so"
							      : "malloc is linked statically"));
	if (header->flags & TPROF_FLAG_DEEPBIND)
		json_array_append_new(skipped,
				      json_pack("{s:n, s:s}", "module", "reason", "loaded with RTLD_DEEPBIND"));
	for (size_t i = 0; i < trace->hooks_count; i++)
		json_array_append_new(tpa_hooks_ruled(&trace->hooks[i])	 ? allocators
				      : tpa_hooks_hold(&trace->hooks[i]) ? modules
									 : skipped,
				      json_hooks_of(trace, &trace->hooks[i]));
	tpa_json_set(json, "slots", tpa_json_number(header->slots));
	tpa_json_set(json, "functions", tpa_json_number(header->op_functions));
	tpa_json_set(json, "modules", modules);
	tpa_json_set(json, "skipped", skipped);
	tpa_json_set(json, "allocators", allocators);
	return json;
}

static json_t *json_lost(const struct tpa_trace *trace)
{
	json_t *json = json_object();
	const char *name;

	for (unsigned int i = 0; (name = tpa_lost_name(i)); i++)
		tpa_json_set(json, name, tpa_json_number(trace->header->lost[i]));
	return json;
}

static json_t *json_damage(const struct tpa_trace *trace)
{
	json_t *list = json_array();

	for (size_t i = 0; i < trace->damage_count; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o}", "offset", tpa_json_number(trace->damage[i].offset),
						"lost_bytes", tpa_json_number(trace->damage[i].lost_bytes), "reason",
						tpa_json_string(trace->damage[i].reason)));
	return list;
}

static json_t *json_pauses(const struct tpa_process *process)
{
	uint64_t after = tpa_attached_after_ns(process->trace);
	json_t *json = json_object();

	tpa_json_set(json, "count", tpa_json_number(process->pauses));
	tpa_json_set(json, "duration_ns", tpa_json_number(process->paused_ns));
	tpa_json_set(json, "off_at_start", json_boolean(process->off_at_start));
	tpa_json_set(json, "attached_after_ns", after ? tpa_json_number(after) : json_null());
	return json;
}

static json_t *json_version(uint32_t version)
{
	return version ? json_sprintf("%u.%u", version >> 8 & 0xff, version & 0xff) : json_null();
}

static json_t *json_python(const struct tprof_header *header)
{
	return json_pack("{s:o, s:o, s:o}", "version", json_version(header->python), "not_read",
			 json_version(header->python_seen), "unread", tpa_json_number(header->python_unread));
}

static json_t *json_unseen(const struct tpa_trace *trace)
{
	json_t *list = json_array();

	for (size_t i = 0; i < trace->unseen_count; i++) {
		const struct tpa_unseen_allocator *unseen = &trace->unseen[i];
		json_t *json = json_object();

		tpa_json_set(json, "name", tpa_json_string(unseen->name));
		tpa_json_set(json, "symbol", tpa_json_string(unseen->symbol));
		tpa_json_set(json, "module", tpa_json_string(unseen->module));
		tpa_json_set(json, "pool", json_boolean(unseen->pool));
		tpa_json_set(json, "setting", tpa_json_string(unseen->setting));
		json_array_append_new(list, json);
	}
	return list;
}

static json_t *json_lost_callers(const struct tpa_process *process)
{
	static const char *const reasons[] = { [TPA_CFI_UNKNOWN] = NULL,
					       [TPA_CFI_NONE] = "none",
					       [TPA_CFI_DEBUG] = "debug_frame",
					       [TPA_CFI_UNINDEXED] = "no_eh_frame_hdr" };
	json_t *list = json_array();
	struct tpa_lost_callers_list found;

	tpa_lost_callers_find(&found, process);
	for (size_t i = 0; i < found.count; i++) {
		const struct tpa_lost_callers *lost = &found.list[i];
		const char *reason = reasons[lost->tables];
		json_t *json = json_object();

		tpa_json_set(json, "module", tpa_json_string(lost->module->path));
		tpa_json_set(json, "reason", reason ? json_string(reason) : json_null());
		tpa_json_set(json, "allocations", tpa_json_number(lost->allocations));
		tpa_json_set(json, "allocations_share", json_real(lost->allocation_share));
		tpa_json_set(json, "cpu_samples", tpa_json_number(lost->samples));
		tpa_json_set(json, "cpu_samples_share", json_real(lost->sample_share));
		json_array_append_new(list, json);
	}
	tpa_lost_callers_free(&found);
	return list;
}

static json_t *json_ring(const struct tpa_trace *trace)
{
	static const struct tprof_checkpoint none;
	const struct tprof_header *header = trace->header;
	const struct tprof_checkpoint *checkpoint = tpa_trace_checkpoint(trace);
	json_t *json;

	if (!header->ring_bytes)
		return json_null();
	if (!checkpoint)
		checkpoint = &none;
	json = json_object();
	tpa_json_set(json, "bytes", tpa_json_number(header->ring_bytes));
	tpa_json_set(json, "room_bytes", tpa_json_number(tpa_trace_ring_room(trace)));
	tpa_json_set(json, "checkpoint", tpa_json_number(checkpoint->number));
	tpa_json_set(json, "folded_events", tpa_json_number(checkpoint->events));
	tpa_json_set(json, "folded_until_ns", tpa_json_number(tpa_trace_ns(trace, checkpoint->ticks)));
	tpa_json_set(json, "waited_ns",
		     tpa_json_number(tpa_trace_ns(trace, header->start.ticks + header->ring_waited)));
	tpa_json_set(json, "depth", tpa_json_number(header->ring_depth));
	tpa_json_set(json, "cut_at_ns", tpa_json_number(header->ring_cut ? tpa_trace_ns(trace, header->ring_cut) : 0));
	tpa_json_set(json, "too_small_for", tpa_json_number(header->ring_too_big));
	return json;
}

static json_t *json_guessed(const struct tpa_process *process)
{
	struct tpa_guessed guessed = tpa_guessed_find(process);
	json_t *json = json_object();

	tpa_json_set(json, "allocations", tpa_json_number(guessed.allocations));
	tpa_json_set(json, "allocations_share", json_real(guessed.allocation_share));
	tpa_json_set(json, "cpu_samples", tpa_json_number(guessed.samples));
	tpa_json_set(json, "cpu_samples_share", json_real(guessed.sample_share));
	return json;
}

json_t *tpa_json_capture(const struct tpa_process *process)
{
	const struct tpa_trace *trace = process->trace;
	const struct tprof_header *header = trace->header;
	json_t *json = json_object();

	tpa_json_set(json, "alloc_events", tpa_json_number(process->heap.recorded_allocations));
	tpa_json_set(json, "free_events", tpa_json_number(process->heap.recorded_frees));
	tpa_json_set(json, "sample_bytes", tpa_json_number(header->sample_bytes));
	tpa_json_set(json, "op_events", tpa_json_number(process->op_counts.events));
	tpa_json_set(json, "cpu_samples", tpa_json_number(process->cpu.samples));
	tpa_json_set(json, "cpu_period_ns", tpa_json_number(header->cpu_period_ns));
	tpa_json_set(json, "cpu_ns", tpa_json_number(tpa_cpu_ns(process, &process->cpu)));
	tpa_json_set(json, "cpu_outside_ops_ns", tpa_json_number(tpa_cpu_ns(process, &process->cpu_outside)));
	tpa_json_set(json, "cpu_own_ns", tpa_json_number(header->samples_own * header->cpu_period_ns));
	tpa_json_set(json, "cpu_stopped", json_boolean(header->cpu_stopped));
	tpa_json_set(json, "events", tpa_json_number(process->heap.events));
	tpa_json_set(json, "lost_events", tpa_json_number(tpa_lost_events(trace)));
	tpa_json_set(json, "lost", json_lost(trace));
	tpa_json_set(json, "stacks_cut", tpa_json_number(header->walks_cut));
	tpa_json_set(json, "stacks_short", tpa_json_number(header->walks_short));
	tpa_json_set(json, "no_unwind_tables", json_lost_callers(process));
	tpa_json_set(json, "guessed_callers", json_guessed(process));
	tpa_json_set(json, "python", json_python(header));
	tpa_json_set(json, "ring", json_ring(trace));
	tpa_json_set(json, "stopped", json_boolean(header->flags & TPROF_FLAG_STOPPED));
	tpa_json_set(json, "aside_bytes", tpa_json_number((uint64_t)header->chunks_aside * header->chunk_size));
	tpa_json_set(json, "threads", tpa_json_number(process->thread_count));
	tpa_json_set(json, "trace_bytes", tpa_json_number(trace->used_bytes));
	tpa_json_set(json, "file_bytes", tpa_json_number(trace->file_bytes));
	tpa_json_set(json, "compact_bytes", trace->compact_bytes ? tpa_json_number(trace->compact_bytes) : json_null());
	tpa_json_set(json, "damage", json_damage(trace));
	tpa_json_set(json, "overhead_ns", tpa_json_number(process->overhead_ns));
	tpa_json_set(json, "collector_bytes", tpa_json_number(header->collector_bytes));
	tpa_json_set(json, "malloc", tpa_json_string(trace->malloc_path));
	tpa_json_set(json, "foreign_malloc", json_boolean(header->flags & TPROF_FLAG_FOREIGN_MALLOC));
	tpa_json_set(json, "unseen_allocators", json_unseen(trace));
	tpa_json_set(json, "hooks", json_hooks(trace));
	tpa_json_set(json, "pauses", json_pauses(process));
	tpa_json_levels(json, process);
	tpa_json_job(json, process);
	return json;
}

static json_t *json_pools(const struct tpa_pool_counts *pools)
{
	json_t *json = json_object();

	tpa_json_set(json, "pools", tpa_json_number(pools->pools));
	tpa_json_set(json, "allocated_bytes", tpa_json_number(pools->bytes));
	tpa_json_set(json, "peak_bytes", tpa_json_number(pools->peak_bytes));
	tpa_json_set(json, "end_pools", tpa_json_number(pools->end_pools));
	tpa_json_set(json, "end_bytes", tpa_json_number(pools->end_bytes));
	tpa_json_set(json, "block_allocations", tpa_json_number(pools->allocations));
	tpa_json_set(json, "block_frees", tpa_json_number(pools->frees));
	return json;
}

static json_t *json_allocator_numbers(const struct tpa_allocator *numbers)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "allocated_bytes", tpa_json_number(numbers->allocated),
			 "active_bytes", tpa_json_number(numbers->active), "metadata_bytes",
			 tpa_json_number(numbers->metadata), "resident_bytes", tpa_json_number(numbers->resident),
			 "mapped_bytes", tpa_json_number(numbers->mapped), "retained_bytes",
			 tpa_json_number(numbers->retained));
}

/* null if the allocator has no statistics */
static json_t *json_allocator(const struct tpa_allocator_series *series)
{
	json_t *json;

	if (!tpa_allocator_told(&series->last))
		return json_null();
	json = json_object();
	tpa_json_set(json, "name", json_string("jemalloc"));
	tpa_json_set(json, "samples", tpa_json_number(series->said));
	tpa_json_set(json, "end", json_allocator_numbers(&series->last));
	tpa_json_set(json, "most", json_allocator_numbers(&series->most));
	return json;
}

json_t *tpa_json_allocator_points(const struct tpa_allocator_series *series)
{
	json_t *list = json_array(), *point;

	for (size_t i = 0; i < series->count; i++) {
		point = json_allocator_numbers(&series->list[i].numbers);
		tpa_json_set(point, "time_ns", tpa_json_number(series->list[i].time_ns));
		json_array_append_new(list, point);
	}
	return list;
}

#define HEAP(member) TPA_MEMBER(struct tpa_process, heap.member)
#define SOME(member, variance_member) TPA_ESTIMATE(struct tpa_process, member, variance_member)

static const struct tpa_column heap_columns[] = {
	{ "allocations", NULL, TPA_UNIT_COUNT, SOME(heap.allocations, heap.variance.allocations) },
	{ "frees", NULL, TPA_UNIT_COUNT, SOME(heap.frees, heap.variance.frees) },
	{ "allocated_bytes", NULL, TPA_UNIT_BYTES, SOME(heap.bytes, heap.variance.bytes) },
	{ "allocated_usable_bytes", NULL, TPA_UNIT_BYTES, SOME(heap.usable, heap.variance.usable) },
	{ "peak_bytes", NULL, TPA_UNIT_BYTES, SOME(heap.peak_bytes, heap.variance.peak_bytes) },
	{ "peak_blocks", NULL, TPA_UNIT_COUNT, SOME(heap.peak_blocks, heap.variance.peak_blocks) },
	{ "peak_usable_bytes", NULL, TPA_UNIT_BYTES, SOME(heap.peak_usable, heap.variance.peak_usable) },
	{ "end_bytes", NULL, TPA_UNIT_BYTES, SOME(heap.end_bytes, heap.variance.live_bytes) },
	{ "end_blocks", NULL, TPA_UNIT_COUNT, SOME(heap.end_blocks, heap.variance.live_blocks) },
	{ "end_usable_bytes", NULL, TPA_UNIT_BYTES, SOME(heap.end_usable, heap.variance.live_usable) },
	{ "short_lived_allocations", NULL, TPA_UNIT_COUNT, SOME(heap.short_lived, heap.variance.short_lived) },
	{ "combined_peak_bytes", NULL, TPA_UNIT_BYTES, SOME(combined_peak_bytes, combined_peak_variance) },
	{ "temporary_allocations", NULL, TPA_UNIT_COUNT, HEAP(temporary), .exact_only = true },
	{ "peak_time_ns", NULL, TPA_UNIT_NS, HEAP(peak_time_ns) },
	{ "failed_reallocs", NULL, TPA_UNIT_COUNT, HEAP(failed_reallocs) },
	{ "inherited_frees", NULL, TPA_UNIT_COUNT, HEAP(inherited_frees) },
	{ "unmatched_frees", NULL, TPA_UNIT_COUNT, HEAP(unmatched_frees) },
	{ "reordered_events", NULL, TPA_UNIT_COUNT, HEAP(reordered) },
	{ "mapped_peak_bytes", NULL, TPA_UNIT_BYTES, HEAP(mapped_peak) },
	{ "mapped_end_bytes", NULL, TPA_UNIT_BYTES, HEAP(mapped_end) },
	{ "maps", NULL, TPA_UNIT_COUNT, HEAP(maps) },
	{ "unmaps", NULL, TPA_UNIT_COUNT, HEAP(unmaps) },
	{ "rss_peak_bytes", NULL, TPA_UNIT_BYTES, HEAP(rss_peak) },
	{ .key = NULL },
};

json_t *tpa_json_heap(const struct tpa_process *process)
{
	const struct tpa_row_context context = { .unseen = process->unseen };
	json_t *json = json_object();

	tpa_json_set(json, "recorded", json_boolean(!tpa_heap_unknown(process)));
	tpa_json_set(json, "estimated", json_boolean(process->estimated));
	tpa_json_columns(json, heap_columns, process, &context, NULL);
	tpa_json_set(json, "pools", json_pools(&process->pools));
	tpa_json_set(json, "allocator", json_allocator(&process->allocator));
	return json;
}

json_t *tpa_json_texts(const struct tpa_notes *notes)
{
	json_t *list = json_array();

	for (size_t i = 0; i < notes->count; i++)
		json_array_append_new(list, tpa_json_string(notes->text[i]));
	return list;
}

json_t *tpa_json_notes(const struct tpa_process *process, const struct tpa_symbols *symbols)
{
	struct tpa_notes notes;
	json_t *list;

	tpa_notes_collect(&notes, process, symbols);
	list = tpa_json_texts(&notes);
	tpa_notes_free(&notes);
	return list;
}

json_t *tpa_json_points(const struct tpa_point *points, size_t count, struct tpa_unseen unseen)
{
	json_t *list = json_array(), *point;

	for (size_t i = 0; i < count; i++) {
		point = json_pack("{s:o, s:o, s:o, s:o}", "time_ns", tpa_json_number(points[i].time_ns), "mapped_bytes",
				  tpa_json_number(points[i].mapped_bytes), "rss_bytes", tpa_json_number(points[i].rss),
				  "vms_bytes", tpa_json_number(points[i].vms));
		tpa_json_some(point, "live_bytes", points[i].live_bytes, points[i].bytes_variance, unseen.bytes);
		tpa_json_some(point, "live_blocks", points[i].live_blocks, points[i].blocks_variance, unseen.blocks);
		json_array_append_new(list, point);
	}
	return list;
}

/* Null where there is no sample of resident memory, or no reading of smaps. */
static json_t *known(uint64_t bytes)
{
	return bytes ? tpa_json_number(bytes) : json_null();
}

static void set_resident(json_t *json, const struct tpa_run *run)
{
	const struct tpa_resident_together *resident = &run->resident;

	tpa_json_set(json, "rss_peak_bytes", known(resident->rss));
	tpa_json_set(json, "rss_peak_time_ns", resident->time_ns ? tpa_json_number(resident->time_ns) : json_null());
	tpa_json_set(json, "rss_anonymous_bytes", known(resident->anonymous));
	tpa_json_set(json, "rss_files_bytes", known(resident->files));
	tpa_json_set(json, "rss_separate_bytes", known(resident->separate));
	tpa_json_set(json, "pss_peak_bytes", known(run->pss_peak));
}

json_t *tpa_json_combined(const struct tpa_run *run)
{
	json_t *json = json_object(), *list = json_array(), *one;

	for (size_t i = 0; i < run->process_count; i++) {
		const struct tpa_row_context context = { .unseen = run->processes[i].unseen };

		one = json_object();
		tpa_json_keys(one, tpa_process_columns, "pid bytes", &run->processes[i], &context);
		json_array_append_new(list, one);
	}
	tpa_json_set(json, "start_unix_ns", tpa_json_number(run->start_unix_ns));
	tpa_json_set(json, "duration_ns", tpa_json_number(run->duration_ns));
	tpa_json_set(json, "estimated", json_boolean(tpa_run_estimated(run)));
	tpa_json_some(json, "peak_bytes", run->peak_bytes, run->peak_variance, tpa_run_unseen(run).bytes);
	tpa_json_set(json, "peak_time_ns", tpa_json_number(run->peak_time_ns));
	tpa_json_set(json, "peak_processes", list);
	tpa_json_set(json, "processes", tpa_json_number(run->process_count));
	tpa_json_set(json, "most_at_once", tpa_json_number(run->most_at_once));
	set_resident(json, run);
	tpa_json_set(json, "cpu_ns", tpa_json_number(tpa_run_cpu_ns(run)));
	return json;
}
