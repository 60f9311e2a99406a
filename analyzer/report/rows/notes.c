/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/notes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/rows/op_globs.h"
#include "report/rows/level_words.h"
#include "report/rows/lost_callers.h"
#include "report/rows/process_facts.h"
#include "report/rows/stack.h"
#include "report/rows/units.h"
#include "trace/checkpoint.h"

#define TAKE_ALONG "and compact --embed-symbols, where it is, puts its names into the trace"
#define MISSING_NAMED 5u /* modules */
#define MANY_MISSING 3u	 /* from so many missing modules on, one note counts them; fewer are named one by one */
#define WAITED_NS UINT64_C(100000000) /* a shorter wait for room in a ring is not worth a note */

__attribute__((format(printf, 2, 3))) static void add(struct tpa_notes *notes, const char *format, ...)
{
	va_list args;

	notes->text = tpa_resize(notes->text, notes->count + 1, sizeof(*notes->text));
	va_start(args, format);
	tpa_need(vasprintf(&notes->text[notes->count++], format, args) >= 0);
	va_end(args);
}

static void add_elsewhere(struct tpa_notes *notes, const struct tpa_trace *trace)
{
	const char *first = NULL;
	uint64_t objects = 0;

	for (size_t i = 0; i < trace->hooks_count; i++) {
		if (trace->hooks[i].state != TPROF_HOOKS_ELSEWHERE)
			continue;
		first = first ? first : trace->hooks[i].object;
		objects++;
	}
	if (objects == 1)
		add(notes,
		    "%s was loaded by dlmopen, in a namespace of its own: its allocations bypass the hooks and are not "
		    "in this report",
		    first[0] ? first : tpa_program_name(trace));
	else if (objects)
		add(notes,
		    "%s objects, %s among them, were loaded by dlmopen, in namespaces of their own: their allocations "
		    "bypass the hooks and are not in this report",
		    tpa_count(objects).text, first[0] ? first : tpa_program_name(trace));
}

/* Why the malloc that takes the place of libtprof.so's could not be hooked in its code; NULL: not said. */
static const struct tpa_hooks *why_foreign(const struct tpa_trace *trace)
{
	for (size_t i = 0; i < trace->hooks_count; i++)
		if (trace->header->flags & TPROF_FLAG_FOREIGN_MALLOC && trace->hooks[i].state == TPROF_HOOKS_UNRULED &&
		    strcmp(trace->hooks[i].allocator, "malloc") == 0)
			return &trace->hooks[i];
	return NULL;
}

/* Allocators that are not recorded although a rule describes them. */
static void add_unruled(struct tpa_notes *notes, const struct tpa_trace *trace)
{
	for (size_t i = 0; i < trace->hooks_count; i++) {
		const struct tpa_hooks *hooks = &trace->hooks[i];
		const char *file = tpa_file_name(tpa_hooks_path(trace, hooks));

		if (hooks->state == TPROF_HOOKS_UNRULED && hooks == why_foreign(trace))
			continue;
		if (hooks->state == TPROF_HOOKS_UNRULED)
			add(notes, "%s in %s is not recorded, since not all of its functions could be hooked: %s",
			    hooks->allocator, file, hooks->reason);
		else if (hooks->state == TPROF_HOOKS_PART_RULED)
			add(notes, "%s in %s is recorded but for the blocks of a function that could not be hooked: %s",
			    hooks->allocator, file, hooks->reason);
	}
}

/* Allocators whose blocks are missing. */
static void add_unseen(struct tpa_notes *notes, const struct tpa_trace *trace)
{
	for (size_t i = 0; i < trace->unseen_count; i++)
		if (!trace->unseen[i].pool)
			add(notes,
			    "a second allocator, %s, is linked into %s (%s): its blocks are not recorded, and the "
			    "heap's numbers lack them; its memory counts as mapped memory, and in RSS",
			    trace->unseen[i].name, tpa_file_name(trace->unseen[i].module), trace->unseen[i].symbol);
}

/* Allocators on top of malloc, whose blocks are attributed to the wrong function. */
static void add_pools(struct tpa_notes *notes, const struct tpa_trace *trace)
{
	for (size_t i = 0; i < trace->unseen_count; i++) {
		const struct tpa_unseen_allocator *pool = &trace->unseen[i];

		if (pool->pool)
			add(notes,
			    "%s (%s in %s) hand out parts of larger blocks: such a block is attributed to the function "
			    "that needed it first, not to those that hold its parts%s%s%s",
			    pool->name, pool->symbol, tpa_file_name(pool->module), pool->setting ? "; " : "",
			    pool->setting ? pool->setting : "",
			    pool->setting ? " in the environment shows each part" : "");
	}
}

static void add_foreign(struct tpa_notes *notes, const struct tpa_trace *trace)
{
	const struct tpa_hooks *hooks = why_foreign(trace);
	const char *but = hooks ? "; its functions could not be hooked in their code: " : "",
		   *why = hooks ? hooks->reason : "";

	if (tpa_malloc_is_shared(trace))
		add(notes, "malloc is that of %s, which stands before libtprof.so: its allocations can't be seen%s%s",
		    trace->malloc_path, but, why);
	else
		add(notes,
		    "this program's own malloc is linked statically: its allocations can't be seen (malloc is that of "
		    "%s)%s%s",
		    trace->malloc_path[0] ? trace->malloc_path : tpa_program_name(trace), but, why);
}

static void add_bypasses(struct tpa_notes *notes, const struct tpa_trace *trace)
{
	const struct tprof_header *header = trace->header;

	if (tpa_allocations_off(trace))
		add(notes, "TPROF_ALLOC=off: what the program allocated was not recorded");
	if (header->flags & TPROF_FLAG_FOREIGN_MALLOC)
		add_foreign(notes, trace);
	if (header->flags & TPROF_FLAG_DEEPBIND)
		add(notes, "an object was loaded with RTLD_DEEPBIND: its allocations bypass the hooks and are not in "
			   "this report");
	add_elsewhere(notes, trace);
	add_unseen(notes, trace);
	add_unruled(notes, trace);
	if (header->flags & TPROF_FLAG_TEXT_CUT)
		add(notes, "the command line was too long for the trace: its end is missing");
}

static void add_aside(struct tpa_notes *notes, const struct tpa_trace *trace)
{
	const struct tprof_header *header = trace->header;
	uint64_t bytes = (uint64_t)header->chunks_aside * header->chunk_size;

	if (bytes)
		add(notes,
		    "the disk %s full: %s of the trace %s in the program's memory%s and are not in this report%s%s",
		    trace->running ? "is" : "was", tpa_bytes(bytes, false).text, trace->running ? "wait" : "were still",
		    trace->running ? "" : " when it ended",
		    header->tables_from ? ", nor are later events, from this time on: " : "",
		    header->tables_from ? tpa_time(tpa_trace_ns(trace, header->tables_from)).text : "");
}

/* What a ring could not keep. */
static void add_ring(struct tpa_notes *notes, const struct tpa_trace *trace)
{
	const struct tprof_header *header = trace->header;
	const struct tprof_checkpoint *checkpoint = tpa_trace_checkpoint(trace);
	uint64_t waited = tpa_trace_ns(trace, header->start.ticks + header->ring_waited);
	uint64_t room = tpa_trace_ring_room(trace);

	if (checkpoint)
		add(notes,
		    "the ring's checkpoint has the first %s events, of the time until %s: they count, but are no "
		    "longer "
		    "in the file",
		    tpa_count(checkpoint->events).text, tpa_time(tpa_trace_ns(trace, checkpoint->ticks)).text);
	if (header->ring_cut)
		add(notes,
		    "the ring's tables fill it: since %s only %u frames of a new stack are kept; a larger ring "
		    "(TPROF_RING) keeps more",
		    tpa_time(tpa_trace_ns(trace, header->ring_cut)).text, header->ring_depth);
	if (header->ring_bytes && room < header->ring_bytes)
		add(notes, "the disk was full, or RLIMIT_FSIZE was reached: the ring stayed at %s of %s",
		    tpa_bytes(room, false).text, tpa_bytes(header->ring_bytes, false).text);
	if (header->ring_too_big)
		add(notes, "the ring is too small: a checkpoint takes %s, so let it be %s (TPROF_RING)",
		    tpa_bytes(header->ring_too_big, false).text, tpa_bytes(8 * header->ring_too_big, false).text);
	if (waited >= WAITED_NS)
		add(notes, "threads waited %s for room in the ring: a larger one (TPROF_RING) needs fewer checkpoints",
		    tpa_time(waited).text);
}

static void add_losses(struct tpa_notes *notes, const struct tpa_trace *trace)
{
	const struct tprof_header *header = trace->header;

	if (header->flags & TPROF_FLAG_STOPPED) {
		const char *cause = header->stop_cause ? tpa_lost_name(header->stop_cause - 1) : NULL;

		add(notes, "recording stopped %s after the start (%s): later events are not in this report",
		    tpa_time(tpa_trace_ns(trace, header->stop_ticks)).text, cause ? cause : "unknown cause");
	}
	add_aside(notes, trace);
	add_ring(notes, trace);
	for (unsigned int i = 0; i < TPROF_LOST_CAUSES; i++) {
		const char *name = tpa_lost_name(i);
		uint64_t lost = header->lost[i];

		if (!lost)
			continue;
		if (i == TPROF_LOST_STACK)
			add(notes, "%s event%s without a stack", tpa_count(lost).text, tpa_plural(lost));
		else if (i == TPROF_LOST_SAMPLE)
			add(notes, "%s memory sample%s could not be read", tpa_count(lost).text, tpa_plural(lost));
		else if (i == TPROF_LOST_TIMER)
			add(notes,
			    "%s thread%s without CPU samples: the kernel had no timer left (RLIMIT_SIGPENDING), or a "
			    "small stack had no room for a signal's frame",
			    tpa_count(lost).text, tpa_plural(lost));
		else if (i == TPROF_LOST_COUNTERS)
			add(notes,
			    "%s thread%s without performance counters from some point on: they could not be opened, or "
			    "read",
			    tpa_count(lost).text, tpa_plural(lost));
		else if (i == TPROF_LOST_OP_DEPTH)
			add(notes,
			    "%s call%s of ops not recorded: nested deeper than 256 (1,024 with -finstrument-functions)",
			    tpa_count(lost).text, tpa_plural(lost));
		else
			add(notes, "%s event%s not recorded: %s", tpa_count(lost).text, tpa_plural(lost),
			    name ? name : "unknown cause");
	}
}

static bool is_paused(const struct tpa_process *process)
{
	return process->pauses || process->off_at_start;
}

static bool is_never_on(const struct tpa_process *process)
{
	return process->off_at_start && process->paused_ns >= process->duration_ns;
}

static void add_attached(struct tpa_notes *notes, const struct tpa_trace *trace)
{
	uint64_t after = tpa_attached_after_ns(trace);

	if (after)
		add(notes,
		    "tprof was attached %s after the program's start: what was allocated before is in no figure but "
		    "RSS",
		    tpa_time(after).text);
}

static void add_pauses(struct tpa_notes *notes, const struct tpa_process *process)
{
	if (is_never_on(process))
		add(notes, "recording was never switched on (tprof ctl PID start, tprof_start())");
	else if (is_paused(process))
		add(notes,
		    "recording was paused %s time%s%s, %s in all: blocks and ops that began then are missing; earlier "
		    "ones were followed to their end",
		    tpa_count(process->pauses).text, tpa_plural(process->pauses),
		    process->off_at_start ? ", and off at the start" : "", tpa_time(process->paused_ns).text);
}

static void add_damage(struct tpa_notes *notes, const struct tpa_trace *trace)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < trace->damage_count; i++)
		lost += trace->damage[i].lost_bytes;
	if (trace->damage_count)
		add(notes,
		    "the trace is damaged in %zu place%s, first at offset %" PRIu64 " (%s): %s bytes could not be read",
		    trace->damage_count, tpa_plural(trace->damage_count), trace->damage[0].offset,
		    trace->damage[0].reason, tpa_count(lost).text);
}

static void add_cpu(struct tpa_notes *notes, const struct tpa_trace *trace)
{
	const struct tprof_header *header = trace->header;

	if (header->cpu_stopped)
		add(notes, "CPU sampling ended early: the program uses the sampler's signal (%" PRIu32 ") itself",
		    header->cpu_signal);
	if (header->samples_own)
		add(notes, "%s of CPU time was spent in the collector itself and is in no function",
		    tpa_time(header->samples_own * header->cpu_period_ns).text);
}

static void add_counters(struct tpa_notes *notes, const struct tpa_trace *trace)
{
	for (size_t i = 0; i < trace->counter_count; i++)
		if (!trace->counters[i].number)
			add(notes, "%s could not be counted here: %s", trace->counters[i].name,
			    strerror(trace->counters[i].error));
}

static void add_stacks(struct tpa_notes *notes, const struct tpa_trace *trace)
{
	const struct tprof_header *header = trace->header;

	if (header->walks_cut)
		add(notes, "%s stack%s deeper than %" PRIu32 " frames: the outer ones are missing (TPROF_DEPTH)",
		    tpa_count(header->walks_cut).text, header->walks_cut == 1 ? " was" : "s were", header->depth);
	if (header->python_seen)
		add(notes, "the frames of this Python (%u.%u) can't be read: its stacks are native only",
		    header->python_seen >> 8 & 0xff, header->python_seen & 0xff);
	if (header->walks_short)
		add(notes, "%s stack%s could not be followed to the end", tpa_count(header->walks_short).text,
		    tpa_plural(header->walks_short));
}

static void add_lost_callers(struct tpa_notes *notes, const struct tpa_process *process)
{
	struct tpa_lost_callers_list lost;

	tpa_lost_callers_find(&lost, process);
	for (size_t i = 0; i < lost.count; i++) {
		char *text = tpa_lost_callers_text(&lost.list[i]);

		add(notes, "%s", text);
		free(text);
	}
	tpa_lost_callers_free(&lost);
}

static void add_order(struct tpa_notes *notes, const struct tpa_heap *heap)
{
	if (heap->inherited_frees)
		add(notes, "%s free%s of blocks that the parent allocated before the fork",
		    tpa_count(heap->inherited_frees).text, tpa_plural(heap->inherited_frees));
	if (heap->unmatched_frees)
		add(notes, "%s free%s of blocks whose allocation is not in the trace",
		    tpa_count(heap->unmatched_frees).text, tpa_plural(heap->unmatched_frees));
}

static bool is_missing(const struct tpa_symbols *symbols, const struct tpa_module *module)
{
	return !module->collector && module->path[0] == '/' &&
	       tpa_symbols_module_state(symbols, module) == TPA_MODULE_MISSING;
}

/* The first of the missing modules' names; a heap string. */
static char *missing_names(const struct tpa_trace *trace, const struct tpa_symbols *symbols, size_t missing)
{
	char *names = tpa_strdup(""), *longer;
	size_t named = 0;

	for (size_t i = 0; i < trace->module_count && named < MISSING_NAMED; i++) {
		if (!is_missing(symbols, &trace->modules[i]))
			continue;
		longer = tpa_format("%s%s%s", names, named++ ? ", " : "", tpa_file_name(trace->modules[i].path));
		free(names);
		names = longer;
	}
	if (missing <= named)
		return names;
	longer = tpa_format("%s and %zu more", names, missing - named);
	free(names);
	return longer;
}

/* Adds one note for all missing modules, as on a machine without the run's files. False: too few are missing for that. */
static bool add_missing(struct tpa_notes *notes, const struct tpa_trace *trace, const struct tpa_symbols *symbols)
{
	size_t missing = 0, named = 0;
	char found[64] = "none", *names;

	for (size_t i = 0; i < trace->module_count; i++)
		if (is_missing(symbols, &trace->modules[i])) {
			missing++;
			named += tpa_symbols_module_is_named(symbols, &trace->modules[i]);
		}
	if (missing < MANY_MISSING)
		return false;
	if (named)
		snprintf(found, sizeof(found), "%zu", named);
	names = missing_names(trace, symbols, missing);
	add(notes,
	    "%zu modules: %zu not here; names from build-ids: %s; --debug-dir can name a folder with "
	    "copies, " TAKE_ALONG "; missing: %s",
	    trace->module_count, missing, found, names);
	free(names);
	return true;
}

/* The collector's own module needs no note: its frames are not shown. */
static void add_module(struct tpa_notes *notes, const struct tpa_module *module, enum tpa_module_state state,
		       bool missing)
{
	if (module->collector)
		return;
	if (state == TPA_MODULE_REPLACED)
		add(notes, "%s was replaced since the run: its functions are not named from the new file",
		    module->path);
	else if (state == TPA_MODULE_MISSING && missing && module->path[0] == '/')
		add(notes, "%s is not there any more: --debug-dir can name a folder with a copy, " TAKE_ALONG,
		    module->path);
	else if (state == TPA_MODULE_UNREADABLE)
		add(notes, "%s can't be read as an ELF file", module->path);
}

static void add_modules(struct tpa_notes *notes, const struct tpa_trace *trace, const struct tpa_symbols *symbols)
{
	bool each = !add_missing(notes, trace, symbols);
	size_t unloaded = 0;

	for (size_t i = 0; i < trace->module_count; i++) {
		const struct tpa_module *module = &trace->modules[i];

		unloaded += module->unloaded_ticks != 0;
		add_module(notes, module, tpa_symbols_module_state(symbols, module), each);
	}
	if (unloaded)
		add(notes, "%zu module%s unloaded (dlclose) before the end", unloaded,
		    unloaded == 1 ? " was" : "s were");
}

static void add_nameless(struct tpa_notes *notes, const struct tpa_process *process)
{
	uint64_t calls = process->op_counts.nameless;

	if (calls)
		add(notes, "the names of the ops of %s call%s are not in the trace, which has room for 49,152 names",
		    tpa_count(calls).text, calls == 1 ? "" : "s");
}

static void add_globs(struct tpa_notes *notes, const struct tpa_process *process)
{
	char *unmet = is_never_on(process) ? NULL : tpa_op_globs_unmet(process->trace);
	const char *step = is_never_on(process) || process->steps.count ? NULL : tpa_step_glob_unmet(process->trace);

	if (unmet)
		add(notes,
		    "TPROF_OPS: no function that matches was called where tprof sees calls (tprof(1), OPERATORS): %s",
		    unmet);
	if (step)
		add(notes,
		    "TPROF_STEP: no function that matches was called where tprof sees calls (tprof(1), OPERATORS): %s",
		    step);
	free(unmet);
}

/* Of an imported trace. */
static void add_source(struct tpa_notes *notes, const struct tpa_trace *trace)
{
	for (size_t i = 0; i < trace->source_count; i++)
		add(notes, "%s", trace->source[i]);
}

static void add_levels(struct tpa_notes *notes, const struct tpa_process *process)
{
	char *words = tpa_level_words(process);

	if (words)
		add(notes, "%s", words);
	free(words);
}

void tpa_notes_collect(struct tpa_notes *notes, const struct tpa_process *process, const struct tpa_symbols *symbols)
{
	notes->text = NULL;
	notes->count = 0;
	add_source(notes, process->trace);
	add_globs(notes, process); /* first, because a page may show only one note: a setting had no effect */
	add_levels(notes, process);
	add_bypasses(notes, process->trace);
	add_losses(notes, process->trace);
	add_attached(notes, process->trace);
	add_pauses(notes, process);
	add_damage(notes, process->trace);
	add_stacks(notes, process->trace);
	add_lost_callers(notes, process);
	add_cpu(notes, process->trace);
	add_counters(notes, process->trace);
	add_order(notes, &process->heap);
	add_nameless(notes, process);
	add_pools(notes, process->trace);
	if (symbols)
		add_modules(notes, process->trace, symbols);
}

void tpa_notes_unrecorded(struct tpa_notes *notes, const struct tpa_run *run, const struct tpa_process *process)
{
	const struct tpa_trace *trace = process->trace;
	const char *unseen = tpa_heap_unseen_in(run, process);

	if (unseen)
		add(notes, "%s: what was allocated was not recorded: %s", trace->file, unseen);
	if (!trace->header->cpu_period_ns)
		add(notes, "%s: CPU sampling was off", trace->file);
	tpa_notes_partial(notes, process);
}

void tpa_notes_partial(struct tpa_notes *notes, const struct tpa_process *process)
{
	const struct tpa_trace *trace = process->trace;
	const char *cut = tpa_recording_cut(trace);
	uint64_t lost = tpa_lost_events(trace);

	if (cut)
		add(notes, "%s: %s", trace->file, cut);
	else if (lost)
		add(notes, "%s: %s event%s not recorded", trace->file, tpa_count(lost).text,
		    lost == 1 ? " was" : "s were");
	if (process->estimated)
		add(notes, "%s: allocations were sampled: memory is an estimate", trace->file);
	if (process->levels.ops_ns < process->levels.time_ns)
		add(notes, "%s: calls of hooked functions were recorded in %s of the time", trace->file,
		    tpa_percent(process->levels.ops_ns, process->levels.time_ns).text);
	if (is_paused(process) && !is_never_on(process))
		add(notes, "%s: recording was paused for %s", trace->file, tpa_time(process->paused_ns).text);
	if (trace->running)
		add(notes, "%s: the process still runs", trace->file);
}

void tpa_notes_free(struct tpa_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		free(notes->text[i]);
	free(notes->text);
	notes->text = NULL;
	notes->count = 0;
}
