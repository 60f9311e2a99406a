/* SPDX-License-Identifier: Apache-2.0 */
/* info: what the trace records about itself: process, environment, capture, losses, hook coverage, threads, modules. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "commands/parts/processes.h"
#include "commands/parts/site_report.h"
#include "model/ranks/job.h"
#include "report/rows/guessed.h"
#include "report/rows/lost_callers.h"
#include "report/rows/thread_rows.h"
#include "report/text/columns.h"
#include "report/text/coverage.h"
#include "report/text/cpu_listing.h"
#include "report/text/numbers.h"
#include "report/text/process_listing.h"
#include "report/text/related.h"

static const char *const origins[] = { "?", "first process of the run", "begun by exec",
				       "forked from a traced process" };

static const char *origin_name(const struct tpa_trace *trace)
{
	uint32_t origin = trace->header->origin;

	return origins[origin < sizeof(origins) / sizeof(*origins) ? origin : 0];
}

static const char *clock_name(const struct tpa_trace *trace)
{
	return trace->header->clock == TPROF_CLOCK_TSC ? "time stamp counter" : "CLOCK_MONOTONIC";
}

/* Ticks per microsecond, as fitted. */
static double ticks_per_us(const struct tpa_trace *trace)
{
	uint64_t span = UINT64_C(1) << 40, ns = tpa_trace_ns(trace, trace->header->start.ticks + span);

	return ns ? (double)span * 1000 / (double)ns : 0;
}

__attribute__((format(printf, 3, 4))) static void line(const struct tpa_page *page, const char *label,
						       const char *format, ...)
{
	va_list args;

	fprintf(page->out, "  %-12s", label);
	va_start(args, format);
	vfprintf(page->out, format, args);
	va_end(args);
	fputc('\n', page->out);
}

/* "rank 3 of 64, the host's 1". */
static void print_rank(const struct tpa_page *page, const struct tpa_rank_process *ranks)
{
	char rank[96], local[48] = "";

	if (ranks->host)
		line(page, "host", "%s", ranks->host);
	if (ranks->cgroup)
		line(page, "cgroup", "%s", ranks->cgroup);
	if (!tpa_job_is_known(ranks))
		return;
	snprintf(rank, sizeof(rank), "%" PRIu32, ranks->world_rank);
	if (ranks->world_size != TPA_COMM_UNKNOWN)
		snprintf(rank, sizeof(rank), "%" PRIu32 " of %" PRIu32, ranks->world_rank, ranks->world_size);
	if (ranks->local_rank != TPA_COMM_UNKNOWN)
		snprintf(local, sizeof(local), ", on its host %" PRIu32, ranks->local_rank);
	line(page, "rank", "%s%s%s", rank, local,
	     ranks->joined ? "" : "; it has not joined the job: it may be a shell or a child of that rank");
	if (ranks->launcher)
		line(page, "launcher", "%s%s%s", ranks->launcher, ranks->job ? ", job " : "",
		     ranks->job ? ranks->job : "");
}

static void print_process(const struct tpa_page *page, const struct tpa_process *process)
{
	const struct tpa_trace *trace = process->trace;
	const struct tprof_header *header = trace->header;

	tpa_headline(page, "Process");
	line(page, "executable", "%s", trace->exe);
	if (trace->started[0])
		line(page, "started as", "%s", trace->started);
	line(page, "directory", "%s", trace->cwd);
	line(page, "parent", "pid %" PRIu32 ", %s", header->ppid, origin_name(trace));
	if (trace->parent_path[0])
		line(page, "", "its trace: %s", trace->parent_path);
	if (trace->malloc_path[0])
		line(page, "malloc", "%s", trace->malloc_path);
	print_rank(page, &process->ranks);
	for (size_t i = 0; i < trace->env_count; i++)
		line(page, i ? "" : "settings", "%s", trace->env[i]);
}

static void print_file(const struct tpa_page *page, const struct tpa_process *process)
{
	const struct tpa_trace *trace = process->trace;
	const struct tprof_header *header = trace->header;

	tpa_headline(page, "Trace");
	line(page, "file", "%s, %s used of %s, version %" PRIu32, trace->file,
	     tpa_bytes(trace->used_bytes, page->exact).text, tpa_bytes(trace->file_bytes, page->exact).text,
	     header->version);
	if (trace->compact_bytes)
		line(page, "", "%s in the file (compact)", tpa_bytes(trace->compact_bytes, page->exact).text);
	if (header->run)
		line(page, "run", "%016" PRIx64, header->run);
	line(page, "chunks", "%s of %s", tpa_count(header->chunks).text,
	     tpa_bytes(header->chunk_size, page->exact).text);
	line(page, "clock", "%s, %.3f ticks a microsecond, times in units of %" PRIu32 " ticks", clock_name(trace),
	     ticks_per_us(trace), UINT32_C(1) << header->tick_shift);
	line(page, "tables", "%s modules, %s frames, %s stack nodes", tpa_count(trace->module_count).text,
	     tpa_count(trace->recorded_frames).text, tpa_count(trace->recorded_nodes).text);
	if (process->heap.events)
		line(page, "events", "%s, %.1f bytes each with all they refer to", tpa_count(process->heap.events).text,
		     (double)trace->used_bytes / (double)process->heap.events);
}

static void print_recorded(const struct tpa_page *page, const struct tpa_process *process)
{
	const struct tpa_heap *heap = &process->heap;
	struct tpa_numbers numbers = { page, process->unseen };

	tpa_headline(page, "Recorded");
	line(page, "heap", "%s allocation%s, %s free%s, %s failed realloc%s",
	     tpa_count(heap->recorded_allocations).text, tpa_plural(heap->recorded_allocations),
	     tpa_count(heap->recorded_frees).text, tpa_plural(heap->recorded_frees),
	     tpa_count(heap->failed_reallocs).text, tpa_plural(heap->failed_reallocs));
	if (process->estimated)
		line(page, "", "estimated from these: %s allocations of %s, %s frees",
		     tpa_some_count(&numbers, heap->allocations, heap->variance.allocations).text,
		     tpa_some_bytes(&numbers, heap->bytes, heap->variance.bytes).text,
		     tpa_some_count(&numbers, heap->frees, heap->variance.frees).text);
	line(page, "mmap", "%s mapped, %s unmapped", tpa_count(heap->maps).text, tpa_count(heap->unmaps).text);
	line(page, "order",
	     "%s events put in order, %s frees implied by the address's reuse, %s frees of unknown blocks",
	     tpa_count(heap->reordered).text, tpa_count(heap->implied_frees).text,
	     tpa_count(heap->unmatched_frees + heap->inherited_frees).text);
	fprintf(page->out, "  %-12s", "cpu");
	tpa_cpu_print_capture(page, process);
	fputc('\n', page->out);
	if (process->trace->header->samples_own)
		line(page, "", "%s sample%s fell into the collector itself",
		     tpa_count(process->trace->header->samples_own).text,
		     tpa_plural(process->trace->header->samples_own));
	if (process->trace->header->cpu_signal)
		line(page, "", "signal %" PRIu32, process->trace->header->cpu_signal);
}

static void print_losses(const struct tpa_page *page, const struct tpa_trace *trace)
{
	uint64_t lost = tpa_lost_events(trace);
	const char *name;

	if (trace->header->chunks_aside)
		line(page, "aside", "%s of the trace, and what is in them",
		     tpa_bytes((uint64_t)trace->header->chunks_aside * trace->header->chunk_size, page->exact).text);
	else if (!lost)
		line(page, "lost", "no event");
	for (unsigned int i = 0; lost && (name = tpa_lost_name(i)); i++)
		if (trace->header->lost[i])
			line(page, "lost", "%s: %s", name, tpa_count(trace->header->lost[i]).text);
}

static void print_refused(const struct tpa_page *page, const struct tpa_hooks *hooks, const char *object)
{
	if (hooks->function[0])
		line(page, "", "%s: not hooked in its code: %s: %s", object, hooks->function, hooks->reason);
	else
		line(page, "", "%s: not hooked in their code: %s more function%s", object,
		     tpa_count(hooks->functions).text, tpa_plural(hooks->functions));
}

static void print_allocator(const struct tpa_page *page, const struct tpa_hooks *hooks, const char *object)
{
	if (hooks->state == TPROF_HOOKS_RULED)
		line(page, "", "%s: %s: %s function%s in %s code", object, hooks->allocator,
		     tpa_count(hooks->functions).text, tpa_plural(hooks->functions),
		     hooks->functions == 1 ? "its" : "their");
	else
		line(page, "", "%s: %s: %s: %s", object, hooks->allocator, tpa_hooks_name(hooks->state), hooks->reason);
}

/* Prints which callers' ops are hooked, and which ops the hooks can't see. */
static void print_hooks(const struct tpa_page *page, const struct tpa_trace *trace)
{
	for (size_t i = 0; i < trace->hooks_count; i++) {
		const struct tpa_hooks *hooks = &trace->hooks[i];
		const char *object = hooks->object[0] ? hooks->object : tpa_program_name(trace);

		if (tpa_hooks_ruled(hooks))
			print_allocator(page, hooks, object);
		else if (hooks->state == TPROF_HOOKS_DONE)
			line(page, "", "%s: %s pointer%s to %s function%s", object, tpa_count(hooks->pointers).text,
			     tpa_plural(hooks->pointers), tpa_count(hooks->functions).text,
			     tpa_plural(hooks->functions));
		else if (hooks->state == TPROF_HOOKS_CODE)
			line(page, "", "%s: %s function%s in %s code", object, tpa_count(hooks->functions).text,
			     tpa_plural(hooks->functions), hooks->functions == 1 ? "its" : "their");
		else if (hooks->state == TPROF_HOOKS_REFUSED)
			print_refused(page, hooks, object);
		else if (hooks->state == TPROF_HOOKS_ELSEWHERE)
			line(page, "", "%s: not hooked: %s", object, tpa_hooks_name(hooks->state));
		else
			line(page, "", "%s: not hooked: %s function%s: %s", object, tpa_count(hooks->functions).text,
			     tpa_plural(hooks->functions), tpa_hooks_name(hooks->state));
	}
}

/* Prints the modules in whose code callers are lost. */
static void print_lost_callers(const struct tpa_page *page, const struct tpa_process *process)
{
	static const char *const tables[] = {
		[TPA_CFI_UNKNOWN] = "not known",
		[TPA_CFI_NONE] = "none",
		[TPA_CFI_DEBUG] = ".debug_frame only, not read",
		[TPA_CFI_UNINDEXED] = ".eh_frame without .eh_frame_hdr",
	};
	struct tpa_lost_callers_list lost;

	tpa_lost_callers_find(&lost, process);
	for (size_t i = 0; i < lost.count; i++)
		line(page, "", "%s lack callers in %s (unwind tables: %s)",
		     tpa_count(lost.list[i].allocations + lost.list[i].samples).text, lost.list[i].module->path,
		     tables[lost.list[i].tables]);
	tpa_lost_callers_free(&lost);
}

static void print_hook_counts(const struct tpa_page *page, const struct tpa_trace *trace)
{
	const struct tprof_header *header = trace->header;
	bool in_code = false, malloc_in_code = false;

	for (size_t i = 0; i < trace->hooks_count; i++) {
		const struct tpa_hooks *hooks = &trace->hooks[i];

		in_code |= hooks->state == TPROF_HOOKS_CODE;
		malloc_in_code |= hooks->state == TPROF_HOOKS_RULED && strcmp(hooks->allocator, "malloc") == 0;
	}
	line(page, "hooks", "malloc %s; %s %sfunction%s timed, through %s pointer%s%s",
	     malloc_in_code				    ? "in its code"
	     : !(header->flags & TPROF_FLAG_FOREIGN_MALLOC) ? "by symbol"
	     : tpa_malloc_is_shared(trace)		    ? "not recorded: another library's comes before libtprof.so"
							    : "not recorded: linked statically",
	     tpa_count(header->op_functions).text, in_code ? "" : "library ",
	     header->op_functions == 1 ? " is" : "s are", tpa_count(header->slots).text, tpa_plural(header->slots),
	     in_code ? ", and in their own code" : "");
}

/* Prints how many stacks went on where no unwind table tells how. */
static void print_guessed(const struct tpa_page *page, const struct tpa_process *process)
{
	struct tpa_guessed guessed = tpa_guessed_find(process);

	if (guessed.allocations + guessed.samples)
		line(page, "",
		     "%s allocation%s and %s CPU sample%s have a caller that was guessed, without an unwind table",
		     tpa_count(guessed.allocations).text, tpa_plural(guessed.allocations),
		     tpa_count(guessed.samples).text, tpa_plural(guessed.samples));
}

static void print_coverage(const struct tpa_page *page, const struct tpa_process *process)
{
	const struct tpa_trace *trace = process->trace;
	const struct tprof_header *header = trace->header;

	tpa_headline(page, "Coverage and cost");
	print_losses(page, trace);
	line(page, "stacks", "%s frames at most; %s deeper than that, %s that ended early",
	     tpa_count(header->depth).text, tpa_count(header->walks_cut).text, tpa_count(header->walks_short).text);
	print_guessed(page, process);
	print_lost_callers(page, process);
	if (header->python)
		line(page, "python", "%u.%u: its frames are in the stacks; of %s stack%s they could not be read",
		     header->python >> 8 & 0xff, header->python & 0xff, tpa_count(header->python_unread).text,
		     tpa_plural(header->python_unread));
	print_hook_counts(page, trace);
	print_hooks(page, trace);
	line(page, "overhead", "about %s (%s of the run)", tpa_time(process->overhead_ns).text,
	     tpa_percent(process->overhead_ns, process->duration_ns).text);
	line(page, "memory", "%s of the collector's own", tpa_bytes(header->collector_bytes, page->exact).text);
}

static void print_threads(const struct tpa_session *session, const struct tpa_process *process)
{
	static const char keys[] = "thread tid +name allocations frees *bytes cpu_ns first_ns last_ns";
	const struct tpa_row_context context = { .process = process, .unseen = process->unseen };
	uint64_t top = tpa_top(session->options, 10);
	struct tpa_table *table = tpa_columns_begin(&session->page, tpa_thread_columns, keys, NULL);

	for (size_t i = 0; i < process->thread_count && (!top || i < top); i++)
		tpa_columns_add(table, &session->page, tpa_thread_columns, keys, &process->threads[i], &context);
	tpa_headline(&session->page, "Threads (%zu)", process->thread_count);
	tpa_table_end(table, &session->page);
	tpa_rest_print(&session->page, process->thread_count, top, "");
}

static const char *hex_id(const struct tpa_module *module, char *buffer, size_t size)
{
	size_t used = 0;

	buffer[0] = '\0';
	for (size_t i = 0; i < module->build_id_length && used + 3 < size; i++, used += 2)
		snprintf(buffer + used, size - used, "%02x", module->build_id[i]);
	return buffer;
}

static void print_modules(const struct tpa_session *session, const struct tpa_trace *trace)
{
	uint64_t top = tpa_top(session->options, 10);
	const struct tpa_page *page = &session->page;
	char id[64];

	tpa_headline(page, "Modules that stacks refer to (%zu)", trace->module_count);
	for (size_t i = 0; i < trace->module_count && (!top || i < top); i++) {
		const struct tpa_module *module = &trace->modules[i];

		fprintf(page->out, "  %#14" PRIx64 " - %#14" PRIx64 "  %s%s", module->start, module->end, module->path,
			module->unloaded_ticks ? " (unloaded)" : "");
		tpa_print(page, TPA_STYLE_DIM, "  %.16s\n", hex_id(module, id, sizeof(id)));
	}
	tpa_rest_print(page, trace->module_count, top, "");
}

static void print_communicators(const struct tpa_session *session, const struct tpa_trace *trace)
{
	uint64_t top = tpa_top(session->options, 10);
	const struct tpa_page *page = &session->page;
	size_t count = trace->group_count ? trace->group_count - 1 : 0;

	if (!count)
		return;
	tpa_headline(page, "Communicators (%zu)", count);
	for (size_t i = 1; i <= count && (!top || i <= top); i++) {
		const struct tpa_known_group *group = &trace->groups[i];

		if (!group->name)
			continue;
		fprintf(page->out, "  %-4zu %-13s rank %" PRIu32 " of %" PRIu32, i, tpa_group_name(group->kind),
			group->rank, group->size);
		if (group->parent)
			fprintf(page->out, ", made of %" PRIu32 " by its call %" PRIu64, group->parent,
				group->parent_sequence);
		if (group->name[0])
			fprintf(page->out, "  %s", group->name);
		fputc('\n', page->out);
	}
	tpa_rest_print(page, count, top, "");
}

static void print_damage(const struct tpa_page *page, const struct tpa_trace *trace)
{
	if (!trace->damage_count)
		return;
	tpa_headline(page, "Damage");
	for (size_t i = 0; i < trace->damage_count; i++)
		fprintf(page->out, "  offset %" PRIu64 ": %s; %s bytes not read\n", trace->damage[i].offset,
			trace->damage[i].reason, tpa_count(trace->damage[i].lost_bytes).text);
}

static void print_section(struct tpa_session *session, size_t index)
{
	const struct tpa_process *process = &session->run->processes[index];
	const struct tpa_page *page = &session->page;

	tpa_process_print(process, page);
	tpa_others_print(session->run, process, page);
	print_process(page, process);
	print_file(page, process);
	print_recorded(page, process);
	print_coverage(page, process);
	print_threads(session, process);
	print_modules(session, process->trace);
	print_communicators(session, process->trace);
	print_damage(page, process->trace);
}

static void print_end(struct tpa_session *session)
{
	tpa_next_print(&session->page, "tprof-analyze dump %s   prints every event", tpa_trace_names(session).text);
}

/* ---- JSON ---- */

static json_t *json_trace(const struct tpa_trace *trace)
{
	const struct tprof_header *header = trace->header;
	json_t *json = json_object(), *settings = json_array();

	for (size_t i = 0; i < trace->env_count; i++)
		json_array_append_new(settings, tpa_json_string(trace->env[i]));
	tpa_json_set(json, "file", tpa_json_string(trace->file));
	tpa_json_set(json, "version", tpa_json_number(header->version));
	tpa_json_set(json, "chunks", tpa_json_number(header->chunks));
	tpa_json_set(json, "chunk_bytes", tpa_json_number(header->chunk_size));
	tpa_json_set(json, "clock", json_string(clock_name(trace)));
	tpa_json_set(json, "tick_shift", tpa_json_number(header->tick_shift));
	tpa_json_set(json, "ticks_per_us", json_real(ticks_per_us(trace)));
	tpa_json_set(json, "frames", tpa_json_number(trace->recorded_frames));
	tpa_json_set(json, "nodes", tpa_json_number(trace->recorded_nodes));
	tpa_json_set(json, "origin", json_string(origin_name(trace)));
	tpa_json_set(json, "depth", tpa_json_number(header->depth));
	tpa_json_set(json, "settings", settings);
	tpa_json_set(json, "cpu_signal", tpa_json_number(header->cpu_signal));
	tpa_json_set(json, "cpu_samples_own", tpa_json_number(header->samples_own));
	return json;
}

static json_t *json_threads(const struct tpa_process *process)
{
	static const char keys[] = "thread tid name allocations frees bytes cpu_samples cpu_ns first_ns last_ns";
	const struct tpa_row_context context = { .process = process, .unseen = process->unseen };
	json_t *list = json_array(), *json;

	for (size_t i = 0; i < process->thread_count; i++) {
		json = json_object();
		tpa_json_keys(json, tpa_thread_columns, keys, &process->threads[i], &context);
		json_array_append_new(list, json);
	}
	return list;
}

static json_t *json_modules(const struct tpa_trace *trace)
{
	json_t *list = json_array();
	char buffer[600];

	for (size_t i = 0; i < trace->module_count; i++) {
		const struct tpa_module *module = &trace->modules[i];
		json_t *json = json_object();

		tpa_json_set(json, "path", tpa_json_string(module->path));
		tpa_json_set(json, "build_id", json_string(hex_id(module, buffer, sizeof(buffer))));
		snprintf(buffer, sizeof(buffer), "0x%" PRIx64, module->start);
		tpa_json_set(json, "start", json_string(buffer));
		snprintf(buffer, sizeof(buffer), "0x%" PRIx64, module->end);
		tpa_json_set(json, "end", json_string(buffer));
		tpa_json_set(json, "unloaded", json_boolean(module->unloaded_ticks));
		json_array_append_new(list, json);
	}
	return list;
}

static void json_process(struct tpa_session *session, size_t index, json_t *json)
{
	const struct tpa_process *process = &session->run->processes[index];

	tpa_json_set(json, "heap", tpa_json_heap(process));
	tpa_json_set(json, "trace", json_trace(process->trace));
	tpa_json_set(json, "threads", json_threads(process));
	tpa_json_set(json, "modules", json_modules(process->trace));
	tpa_json_set(json, "communicators", tpa_json_communicators(process->trace));
}

int tpa_cmd_info(const struct tpa_options *options)
{
	static const struct tpa_report report = {
		.related = true, .print = print_section, .print_end = print_end, .json = json_process
	};

	return tpa_report_run(options, TPA_GROUP_NONE, &report);
}
