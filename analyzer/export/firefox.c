/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile of the Firefox Profiler, in the form that it calls processed, version 48: threads with CPU samples and with ops as markers;
 * steps and marks as markers of the main thread; a memory track; native allocations by stack. Each kind of memory is a thread of its own,
 * too, whose samples are stacks that weigh bytes. What is written column by column waits in a temporary file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/firefox_thread.h"
#include "export/formats.h"
#include "export/spool.h"
#include "export/walk.h"
#include "report/rows/process_facts.h"

#define FORM 48		    /* of the processed profile */
#define GECKO_FORM 30	    /* of what it would have been made from */
enum { INSTANT, INTERVAL }; /* phases of markers */

static const char schemas[] =
	"[{\"name\":\"Op\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"data\":["
	"{\"key\":\"shape\",\"label\":\"shape\",\"format\":\"string\",\"searchable\":true},"
	"{\"key\":\"flop\",\"label\":\"FLOP\",\"format\":\"integer\"},"
	"{\"key\":\"bytes\",\"label\":\"bytes moved\",\"format\":\"bytes\"},"
	"{\"key\":\"calls\",\"label\":\"calls\",\"format\":\"integer\"}]},"
	"{\"name\":\"Step\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"data\":["
	"{\"key\":\"number\",\"label\":\"step\",\"format\":\"integer\"}]},"
	"{\"name\":\"Mark\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"data\":[]}]";

enum kind { OP, FOLDED, STEP, MARK };

struct marker {
	const char *name, *shape; /* interned; shape NULL: not known */
	uint64_t begin_ns, end_ns, flop, bytes;
	uint64_t number; /* of a step; calls of folded ones */
	enum kind kind;
};

struct sample {
	uint64_t ns, cpu_ns;
	uint32_t node;
};

struct moment {
	uint64_t ns;
	int64_t change; /* of live bytes */
};

struct thread {
	char name[96];
	uint32_t tid;
	bool known;
};

struct process {			    /* for its memory track */
	const struct tpa_process *replayed; /* NULL: --process leaves it out */
	char pid[32];
	size_t main_thread;
};

struct firefox {
	struct tpa_export *export;
	FILE *out;
	struct tpa_arena *arena;	     /* texts of markers */
	struct tpa_spool *samples, *markers; /* of a process; lists are threads */
	struct tpa_spool *memory;	     /* lists are processes */
	struct tpa_firefox_libraries libraries;
	struct thread *threads; /* by number */
	size_t thread_count, thread_room;
	struct process *processes; /* by trace */
	struct tpa_pairs pids;
	size_t written; /* threads */
	size_t first;	/* the one that is shown first */
	uint64_t live;
	bool good;

	/* The thread that is written. */
	struct tpa_walk *walk;
	struct tpa_stack stack;
	struct tpa_frame_table frames;
	struct tpa_memory_tree tree; /* its stacks are those of the samples, too */
	struct tpa_firefox_strings strings;
	uint64_t items, period_ns;
};

/* ---- into the temporary files ---- */

static void keep(struct firefox *to, struct tpa_spool *spool, uint32_t list, const void *record)
{
	if (!to->good || tpa_spool_add(spool, list, record))
		return;
	to->good = false;
	to->export->error = tpa_format("the temporary file can't be written: %s", strerror(errno));
}

static const char *intern(struct firefox *to, const char *text, size_t length)
{
	char *shown = tpa_export_text(text, length);
	const char *kept = tpa_arena_intern(to->arena, shown);

	free(shown);
	return kept;
}

static void thread(void *context, struct tpa_walk *walk, uint32_t number, uint32_t tid, const char *name)
{
	struct firefox *to = context;
	struct thread *thread;

	(void)walk;
	tpa_extend(&to->threads, &to->thread_count, &to->thread_room, (size_t)number + 1, sizeof(*to->threads));
	thread = &to->threads[number];
	tpa_export_thread_name(name, tid, thread->name, sizeof(thread->name));
	thread->tid = tid;
	thread->known = true;
}

static void sample(void *context, struct tpa_walk *walk, const struct tpa_walk_sample *taken)
{
	const struct sample record = { .ns = taken->ns, .cpu_ns = taken->cpu_ns, .node = taken->node };
	struct firefox *to = context;

	if (to->export->filter) {
		tpa_stack_read(&to->stack, walk->trace, tpa_export_symbols(to->export, walk->which), taken->node);
		if (!tpa_stack_matches(&to->stack, to->export->filter))
			return;
	}
	keep(to, to->samples, taken->thread, &record);
}

static void op_end(void *context, struct tpa_walk *walk, const struct tpa_walk_op *op)
{
	struct firefox *to = context;
	const struct marker marker = { .name = intern(to, tpa_walk_op_name(walk, op->op), SIZE_MAX),
				       .shape = op->shape ? intern(to, op->shape, SIZE_MAX) : NULL,
				       .begin_ns = op->begin_ns,
				       .end_ns = op->end_ns,
				       .flop = op->flop,
				       .bytes = op->bytes,
				       .kind = OP };

	keep(to, to->markers, op->thread, &marker);
}

static void folded(void *context, struct tpa_walk *walk, const struct tpa_walk_folded *calls)
{
	struct firefox *to = context;
	const struct marker marker = { .name = intern(to, tpa_walk_op_name(walk, calls->op), SIZE_MAX),
				       .shape = calls->shape ? intern(to, calls->shape, SIZE_MAX) : NULL,
				       .begin_ns = calls->ns,
				       .number = calls->calls,
				       .kind = FOLDED };

	keep(to, to->markers, calls->thread, &marker);
}

/* The thread with the lowest number is the main one. */
static uint32_t main_thread(const struct firefox *to)
{
	for (uint32_t i = 0; i < to->thread_count; i++)
		if (to->threads[i].known)
			return i;
	return 0;
}

static void step(void *context, struct tpa_walk *walk, const struct tpa_walk_step *ended)
{
	struct firefox *to = context;
	const struct marker marker = { .name = tpa_arena_intern(to->arena, "step"),
				       .begin_ns = ended->begin_ns,
				       .end_ns = ended->end_ns,
				       .number = ended->number,
				       .kind = STEP };

	(void)walk;
	keep(to, to->markers, main_thread(to), &marker);
}

static void mark(void *context, struct tpa_walk *walk, uint64_t ns, uint32_t number, const char *text, size_t length)
{
	struct firefox *to = context;
	const struct marker marker = { .name = intern(to, text, length), .begin_ns = ns, .kind = MARK };

	(void)walk;
	(void)number;
	keep(to, to->markers, main_thread(to), &marker);
}

static void live(void *context, struct tpa_walk *walk, uint64_t ns, uint64_t bytes)
{
	struct firefox *to = context;
	const struct moment moment = { .ns = ns, .change = (int64_t)(bytes - to->live) };

	to->live = bytes;
	keep(to, to->memory, (uint32_t)walk->which, &moment);
}

/* ---- columns out of them ---- */

static void separate(struct firefox *to)
{
	if (to->items++)
		fputc(',', to->out);
}

static void put_column(struct firefox *to, struct tpa_spool *spool, uint32_t list, const char *name,
		       void (*put)(void *to, const void *record))
{
	fprintf(to->out, "\"%s\":[", name);
	to->items = 0;
	to->good = tpa_spool_each(spool, list, put, to) && to->good;
	fputs("],", to->out);
}

static void put_sample_stack(void *context, const void *record)
{
	struct firefox *to = context;
	uint32_t node;

	tpa_stack_read(&to->stack, to->walk->trace, tpa_export_symbols(to->export, to->walk->which),
		       ((const struct sample *)record)->node);
	node = tpa_stack_tree_add(&to->tree.stacks, &to->frames, to->walk->which, &to->stack, 0);
	separate(to);
	tpa_firefox_put_stack(to->out, node);
}

static void put_sample_time(void *context, const void *record)
{
	struct firefox *to = context;

	separate(to);
	tpa_firefox_put_ms(to->out, ((const struct sample *)record)->ns);
}

/* The number of periods that it stands for. */
static void put_sample_weight(void *context, const void *record)
{
	struct firefox *to = context;
	uint64_t ns = ((const struct sample *)record)->cpu_ns;

	separate(to);
	fprintf(to->out, "%" PRIu64, to->period_ns ? ns / to->period_ns : 1);
}

static void put_marker_data(void *context, const void *record)
{
	static const char *const types[] = { [OP] = "Op", [FOLDED] = "Op", [STEP] = "Step", [MARK] = "Mark" };
	const struct marker *marker = record;
	struct firefox *to = context;

	separate(to);
	fprintf(to->out, "{\"type\":\"%s\"", types[marker->kind]);
	if (marker->shape) {
		fputs(",\"shape\":", to->out);
		tpa_export_put(to->out, marker->shape);
	}
	if (marker->flop)
		fprintf(to->out, ",\"flop\":%" PRIu64, marker->flop);
	if (marker->bytes)
		fprintf(to->out, ",\"bytes\":%" PRIu64, marker->bytes);
	if (marker->number)
		fprintf(to->out, ",\"%s\":%" PRIu64, marker->kind == STEP ? "number" : "calls", marker->number);
	fputc('}', to->out);
}

static void put_marker_name(void *context, const void *record)
{
	struct firefox *to = context;

	separate(to);
	fprintf(to->out, "%" PRIu32, tpa_firefox_string(&to->strings, ((const struct marker *)record)->name));
}

static void put_marker_begin(void *context, const void *record)
{
	struct firefox *to = context;

	separate(to);
	tpa_firefox_put_ms(to->out, ((const struct marker *)record)->begin_ns);
}

static bool is_interval(const struct marker *marker)
{
	return marker->kind == OP || marker->kind == STEP;
}

static void put_marker_end(void *context, const void *record)
{
	const struct marker *marker = record;
	struct firefox *to = context;

	separate(to);
	if (is_interval(marker))
		tpa_firefox_put_ms(to->out, marker->end_ns);
	else
		fputs("null", to->out);
}

static void put_marker_phase(void *context, const void *record)
{
	struct firefox *to = context;

	separate(to);
	fprintf(to->out, "%d", is_interval(record) ? INTERVAL : INSTANT);
}

static void put_marker_category(void *context, const void *record)
{
	const struct marker *marker = record;
	struct firefox *to = context;

	separate(to);
	fprintf(to->out, "%d", marker->kind == OP || marker->kind == FOLDED ? TPA_FIREFOX_OP : TPA_FIREFOX_OTHER);
}

static void put_markers(struct firefox *to, uint32_t number)
{
	fputs("\"markers\":{", to->out);
	put_column(to, to->markers, number, "data", put_marker_data);
	put_column(to, to->markers, number, "name", put_marker_name);
	put_column(to, to->markers, number, "startTime", put_marker_begin);
	put_column(to, to->markers, number, "endTime", put_marker_end);
	put_column(to, to->markers, number, "phase", put_marker_phase);
	put_column(to, to->markers, number, "category", put_marker_category);
	fprintf(to->out, "\"length\":%" PRIu64 "},\n", tpa_spool_count(to->markers, number));
}

static void put_samples(struct firefox *to, uint32_t number)
{
	fputs("\"samples\":{", to->out);
	put_column(to, to->samples, number, "stack", put_sample_stack);
	put_column(to, to->samples, number, "time", put_sample_time);
	put_column(to, to->samples, number, "weight", put_sample_weight);
	fprintf(to->out, "\"weightType\":\"samples\",\"length\":%" PRIu64 "},\n", tpa_spool_count(to->samples, number));
}

/* ---- threads ---- */

/* `tid`: quoted, or a number. The caller goes on with the thread's tables. */
static void begin_thread(struct firefox *to, const char *name, const char *tid, bool main)
{
	uint64_t begin = to->walk->start_ns, end = to->walk->end_ns > begin ? to->walk->end_ns : begin;

	fprintf(to->out, "%s\n{\"processType\":\"default\",\"processStartupTime\":", to->written++ ? "," : "");
	tpa_firefox_put_ms(to->out, begin);
	fputs(",\"processShutdownTime\":", to->out);
	tpa_firefox_put_ms(to->out, end);
	fputs(",\"registerTime\":", to->out);
	tpa_firefox_put_ms(to->out, begin);
	fputs(",\"unregisterTime\":null,\"pausedRanges\":[],\"showMarkersInTimeline\":true,\"name\":", to->out);
	tpa_export_put(to->out, name);
	fprintf(to->out, ",\"isMainThread\":%s,\"processName\":", main ? "true" : "false");
	tpa_export_put(to->out, tpa_program_name(to->walk->trace));
	fprintf(to->out, ",\"pid\":\"%s\",\"tid\":%s,\n", to->processes[to->walk->which].pid, tid);
	tpa_firefox_strings_init(&to->strings);
}

static void end_thread(struct firefox *to)
{
	tpa_firefox_put_tables(to->out, &to->tree.stacks, &to->frames, &to->strings, &to->libraries);
	fputc('}', to->out);
	tpa_firefox_strings_free(&to->strings);
}

/* Native allocations have three parts: what is unfreed; what was freed; and the frees of that. */
enum part { UNFREED, FREED, FREES, PARTS };

struct allocation {
	size_t node;
	enum part part;
	uint64_t bytes;
};

static void put_time_of(struct firefox *to, const struct allocation *of)
{
	tpa_firefox_put_ms(to->out, of->part == FREES ? to->walk->end_ns : to->walk->start_ns);
}

static void put_weight_of(struct firefox *to, const struct allocation *of)
{
	fprintf(to->out, "%s%" PRIu64, of->part == FREES ? "-" : "", of->bytes);
}

static void put_stack_of(struct firefox *to, const struct allocation *of)
{
	tpa_firefox_put_stack(to->out, of->node);
}

/* By it readers find which allocation a free ends. */
static void put_address_of(struct firefox *to, const struct allocation *of)
{
	fprintf(to->out, "%zu", 2 * of->node + (of->part != UNFREED));
}

static void put_thread_of(struct firefox *to, const struct allocation *of)
{
	(void)of;
	fprintf(to->out, "%" PRIu32, to->threads[main_thread(to)].tid);
}

static size_t put_allocation_column(struct firefox *to, const struct tpa_memory_tree *tree, const char *name,
				    void (*put)(struct firefox *to, const struct allocation *of))
{
	size_t rows = 0;

	fprintf(to->out, "\"%s\":[", name);
	for (enum part part = UNFREED; part < PARTS; part++)
		for (size_t i = 0; i < tree->count; i++) {
			const struct allocation of = {
				i, part, tree->bytes[i][part == UNFREED ? TPA_MEMORY_UNFREED : TPA_MEMORY_FREED]
			};

			if (!of.bytes)
				continue;
			fputs(rows++ ? "," : "", to->out);
			put(to, &of);
		}
	fputs("],", to->out);
	return rows;
}

/* Stack by stack. When each block came and went is not told: allocations are at the begin, and frees at the end. */
static void put_allocations(struct firefox *to, const struct tpa_memory_tree *tree)
{
	size_t rows;

	fputs("\"nativeAllocations\":{", to->out);
	put_allocation_column(to, tree, "time", put_time_of);
	put_allocation_column(to, tree, "weight", put_weight_of);
	put_allocation_column(to, tree, "stack", put_stack_of);
	put_allocation_column(to, tree, "memoryAddress", put_address_of);
	rows = put_allocation_column(to, tree, "threadId", put_thread_of);
	fprintf(to->out, "\"weightType\":\"bytes\",\"length\":%zu},\n", rows);
}

static void write_thread(struct firefox *to, uint32_t number, bool main)
{
	const struct tpa_process *process = main ? to->processes[to->walk->which].replayed : NULL;
	const struct thread *thread = &to->threads[number];
	char tid[16];

	tpa_frames_init(&to->frames);
	to->tree = (struct tpa_memory_tree){ 0 };
	if (process)
		tpa_memory_tree_read(&to->tree, to->export, process, &to->frames);
	snprintf(tid, sizeof(tid), "%" PRIu32, thread->tid);
	begin_thread(to, thread->name, tid, main);
	put_samples(to, number);
	put_markers(to, number);
	if (process)
		put_allocations(to, &to->tree);
	end_thread(to);
	tpa_memory_tree_free(&to->tree);
	tpa_frames_free(&to->frames);
}

/* A column of a thread's samples that are stacks of memory. Returns how many there are. */
static size_t put_memory_column(struct firefox *to, const struct tpa_memory_tree *tree, enum tpa_memory memory,
				const char *name, const uint64_t *ns)
{
	bool stacks = strcmp(name, "stack") == 0;
	size_t rows = 0;

	fprintf(to->out, "\"%s\":[", name);
	for (size_t i = 0; i < tree->count; i++) {
		if (!tree->bytes[i][memory])
			continue;
		fputs(rows++ ? "," : "", to->out);
		if (stacks)
			tpa_firefox_put_stack(to->out, i);
		else if (ns)
			tpa_firefox_put_ms(to->out, *ns);
		else
			fprintf(to->out, "%" PRIu64, tree->bytes[i][memory]);
	}
	fputs("],", to->out);
	return rows;
}

/* A kind of memory as a thread of its own. */
static void write_memory(struct firefox *to, const struct tpa_process *process, const struct tpa_memory_tree *tree,
			 enum tpa_memory memory)
{
	const uint64_t at = memory == TPA_MEMORY_PEAK ? process->heap.peak_time_ns : process->start_ns;
	char tid[80];
	size_t rows;

	snprintf(tid, sizeof(tid), "\"%s-%d\"", to->processes[to->walk->which].pid, memory);
	if (process == to->export->run->processes && memory == tpa_memory_of(to->export->what) &&
	    to->export->what != TPA_WHAT_CPU)
		to->first = to->written;
	begin_thread(to, tpa_memory_names[memory], tid, false);
	fputs("\"samples\":{", to->out);
	put_memory_column(to, tree, memory, "stack", NULL);
	put_memory_column(to, tree, memory, "weight", NULL);
	rows = put_memory_column(to, tree, memory, "time", &at);
	fprintf(to->out, "\"weightType\":\"bytes\",\"length\":%zu},\n", rows);
	fputs("\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],\"category\":[],"
	      "\"length\":0},\n",
	      to->out);
	end_thread(to);
}

static void write_memories(struct firefox *to)
{
	const struct tpa_process *process = to->processes[to->walk->which].replayed;

	if (!process)
		return;
	tpa_frames_init(&to->frames);
	tpa_memory_tree_read(&to->tree, to->export, process, &to->frames);
	for (enum tpa_memory memory = TPA_MEMORY_PEAK; memory < TPA_MEMORIES; memory++)
		if (to->tree.sums[memory])
			write_memory(to, process, &to->tree, memory);
	tpa_memory_tree_free(&to->tree);
	tpa_frames_free(&to->frames);
}

static void process_begin(void *context, struct tpa_walk *walk)
{
	struct firefox *to = context;
	const struct tprof_header *header = walk->trace->header;
	struct process *process = &to->processes[walk->which];
	bool found;

	tpa_pairs_at(&to->pids, header->pid, 0, &found);
	if (found) /* after an exec the same pid is another process */
		snprintf(process->pid, sizeof(process->pid), "%" PRIu32 ".%zu", header->pid, walk->which);
	else
		snprintf(process->pid, sizeof(process->pid), "%" PRIu32, header->pid);
	to->live = 0;
	to->period_ns = header->cpu_period_ns;
}

static void process_end(void *context, struct tpa_walk *walk, uint64_t ns)
{
	struct firefox *to = context;
	uint32_t main = main_thread(to);

	to->walk = walk;
	if (walk->end_ns < ns)
		walk->end_ns = ns;
	if (to->thread_count == 0)
		thread(to, walk, 0, walk->trace->header->pid, NULL); /* of a process without an event */
	to->processes[walk->which].main_thread = to->written;
	for (uint32_t i = 0; i < to->thread_count; i++)
		if (to->threads[i].known)
			write_thread(to, i, i == main);
	write_memories(to);
	tpa_spool_clear(to->samples);
	tpa_spool_clear(to->markers);
	to->thread_count = 0;
}

/* ---- the file ---- */

static void put_moment_time(void *context, const void *record)
{
	struct firefox *to = context;

	separate(to);
	tpa_firefox_put_ms(to->out, ((const struct moment *)record)->ns);
}

static void put_moment_change(void *context, const void *record)
{
	struct firefox *to = context;

	separate(to);
	fprintf(to->out, "%" PRId64, ((const struct moment *)record)->change);
}

static void write_counters(struct firefox *to)
{
	size_t written = 0;

	fputs("],\n\"counters\":[", to->out);
	for (size_t i = 0; i < to->export->trace_count; i++) {
		uint64_t count = tpa_spool_count(to->memory, (uint32_t)i);

		if (!count)
			continue;
		fprintf(to->out,
			"%s\n{\"name\":\"live bytes\",\"category\":\"Memory\",\"description\":\"live bytes\",\"color\":"
			"\"orange\",\"pid\":\"%s\",\"mainThreadIndex\":%zu,\"samples\":{",
			written++ ? "," : "", to->processes[i].pid, to->processes[i].main_thread);
		put_column(to, to->memory, (uint32_t)i, "time", put_moment_time);
		put_column(to, to->memory, (uint32_t)i, "count", put_moment_change);
		fprintf(to->out, "\"length\":%" PRIu64 "}}", count);
	}
	fputs("],\n\"libs\":", to->out);
	tpa_firefox_put_libraries(to->out, &to->libraries);
}

static void write_meta(struct firefox *to)
{
	const struct tpa_run *run = to->export->run;

	fputs(",\n\"meta\":{\"interval\":", to->out);
	tpa_firefox_put_ms(to->out, run->processes[0].trace->header->cpu_period_ns);
	fputs(",\"startTime\":", to->out);
	tpa_firefox_put_ms(to->out, run->start_unix_ns);
	fputs(",\"profilingStartTime\":0,\"profilingEndTime\":", to->out);
	tpa_firefox_put_ms(to->out, run->duration_ns);
	fputs(",\"product\":", to->out);
	tpa_export_put(to->out, tpa_program_name(run->processes[0].trace));
	fprintf(to->out,
		",\"processType\":0,\"stackwalk\":1,\"debug\":false,\"version\":%d,\"preprocessedProfileVersion\":%d,"
		"\"symbolicated\":true,\"symbolicationNotSupported\":true,\"importedFrom\":\"tprof %s\","
		"\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,\"sourceCodeIsNotOnSearchfox\":"
		"true,"
		"\"keepProfileThreadOrder\":true,\"initialSelectedThreads\":[%zu],\n\"categories\":["
		"{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Native\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Python\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Op\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}],\n\"markerSchema\":%s}}\n",
		GECKO_FORM, FORM, TPROF_VERSION_STRING, to->first, schemas);
}

static void write_file(struct firefox *to)
{
	static const struct tpa_visitor visitor = { .process = process_begin,
						    .process_end = process_end,
						    .thread = thread,
						    .op = op_end,
						    .folded = folded,
						    .step = step,
						    .mark = mark,
						    .live = live,
						    .sample = sample };
	const struct tpa_run *run = to->export->run;

	for (size_t i = 0; i < run->process_count; i++)
		to->processes[tpa_export_index(to->export, &run->processes[i])].replayed = &run->processes[i];
	fputs("{\"threads\":[", to->out);
	to->good = tpa_walk(to->export, &visitor, to) && to->good;
	write_counters(to);
	write_meta(to);
}

bool tpa_export_firefox(struct tpa_export *export)
{
	struct firefox to = { .export = export, .out = export->out, .good = true, .arena = tpa_arena_new() };

	to.processes = tpa_zalloc(export->trace_count, sizeof(*to.processes));
	to.samples = tpa_spool_new(sizeof(struct sample));
	to.markers = tpa_spool_new(sizeof(struct marker));
	to.memory = tpa_spool_new(sizeof(struct moment));
	if (to.samples && to.markers && to.memory)
		write_file(&to);
	else
		export->error = tpa_format("no temporary file can be made: %s", strerror(errno));
	tpa_firefox_libraries_free(&to.libraries);
	tpa_spool_free(to.samples);
	tpa_spool_free(to.markers);
	tpa_spool_free(to.memory);
	tpa_stack_free(&to.stack);
	tpa_arena_free(to.arena);
	tpa_pairs_free(&to.pids);
	free(to.processes);
	free(to.threads);
	return to.good && !export->error;
}
