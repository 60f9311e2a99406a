/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speedscope's own format: memory as sampled profiles, whose weights are bytes; CPU samples of each thread in the order of time; ops of
 * each thread as events. Profiles come first and the table of frames last, so that both can be written as they come. Events of
 * different threads wait in a temporary file for their turn.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/formats.h"
#include "export/frames.h"
#include "export/memory_tree.h"
#include "export/nest.h"
#include "export/spool.h"
#include "export/walk.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct thread {
	char name[96];
	uint64_t folded; /* calls that have no times of their own */
};

struct sample_record {
	uint64_t cpu_ns;
	uint32_t node;
};

struct op_record {
	uint64_t ns;
	uint32_t frame;
	bool open;
};

struct speedscope {
	struct tpa_export *export;
	FILE *out;
	struct tpa_frame_table frames;
	struct tpa_spool *samples, *ops; /* of a process; lists are threads */
	struct thread *threads;		 /* by number */
	size_t thread_count, thread_room;
	struct tpa_nest open;
	struct tpa_stack stack;
	uint32_t *path;
	size_t path_room;
	struct tpa_walk *walk;	 /* whose records are written */
	size_t profiles, active; /* active: the one that is shown first */
	uint64_t items;		 /* of the list that is written */
	bool good;
};

/* ---- pieces of JSON ---- */

static void separate(struct speedscope *to)
{
	if (to->items++)
		fputc(',', to->out);
}

/* The caller adds the type's own fields, and closes the object. */
static void begin_profile(struct speedscope *to, const char *type, const char *name, const char *unit, uint64_t begin,
			  uint64_t end)
{
	fprintf(to->out, "%s\n{\"type\":\"%s\",\"name\":", to->profiles++ ? "," : "", type);
	tpa_export_put(to->out, name);
	fprintf(to->out, ",\"unit\":\"%s\",\"startValue\":%" PRIu64 ",\"endValue\":%" PRIu64, unit, begin, end);
	to->items = 0;
}

/* A stack as a list of frames, outermost first. */
static void put_stack(struct speedscope *to, size_t which, const struct tpa_stack *stack, size_t first)
{
	separate(to);
	fputc('[', to->out);
	for (size_t i = stack->last; i-- > first;)
		fprintf(to->out, "%" PRIu32 "%s", tpa_frames_line(&to->frames, which, &stack->lines[i]),
			i > first ? "," : "");
	fputc(']', to->out);
}

/* ---- memory ---- */

static void put_node(struct speedscope *to, const struct tpa_stack_tree *tree, uint32_t node)
{
	size_t depth = 0;

	for (; node; node = tree->nodes[node].parent)
		*TPA_APPEND(to->path, depth, to->path_room) = tree->nodes[node].frame;
	separate(to);
	fputc('[', to->out);
	while (depth-- > 0)
		fprintf(to->out, "%" PRIu32 "%s", to->path[depth], depth ? "," : "");
	fputc(']', to->out);
}

static void write_memory(struct speedscope *to, const struct tpa_trace *trace, const struct tpa_memory_tree *tree,
			 enum tpa_memory memory)
{
	char name[500], program[300];

	snprintf(name, sizeof(name), "%s, %s%s", tpa_memory_names[memory],
		 tpa_export_process_name(trace, program, sizeof(program)),
		 tree->merged[memory] ? " (stacks below 0.001% end at a caller)" : "");
	begin_profile(to, "sampled", name, "bytes", 0, tree->sums[memory]);
	fputs(",\"samples\":[", to->out);
	for (size_t i = 0; i < tree->count; i++)
		if (tree->bytes[i][memory])
			put_node(to, &tree->stacks, (uint32_t)i);
	fputs("],\"weights\":[", to->out);
	to->items = 0;
	for (size_t i = 0; i < tree->count; i++)
		if (tree->bytes[i][memory]) {
			separate(to);
			fprintf(to->out, "%" PRIu64, tree->bytes[i][memory]);
		}
	fputs("]}", to->out);
}

static void write_process(struct speedscope *to, const struct tpa_process *process)
{
	struct tpa_memory_tree tree;

	tpa_memory_tree_read(&tree, to->export, process, &to->frames);
	for (enum tpa_memory memory = TPA_MEMORY_PEAK; memory < TPA_MEMORIES; memory++) {
		if (!tree.sums[memory])
			continue;
		if (process == to->export->run->processes && memory == tpa_memory_of(to->export->what))
			to->active = to->profiles;
		write_memory(to, process->trace, &tree, memory);
	}
	tpa_memory_tree_free(&tree);
}

/* ---- samples and ops: into the temporary file ---- */

static void keep(struct speedscope *to, struct tpa_spool *spool, uint32_t list, const void *record)
{
	if (!to->good || tpa_spool_add(spool, list, record))
		return;
	to->good = false;
	to->export->error = tpa_format("the temporary file can't be written: %s", strerror(errno));
}

static void thread(void *context, struct tpa_walk *walk, uint32_t number, uint32_t tid, const char *name)
{
	struct speedscope *to = context;

	(void)walk;
	tpa_extend(&to->threads, &to->thread_count, &to->thread_room, (size_t)number + 1, sizeof(*to->threads));
	tpa_export_thread_name(name, tid, to->threads[number].name, sizeof(to->threads[number].name));
}

static bool is_shown(struct speedscope *to, const struct tpa_walk *walk, uint32_t node)
{
	if (!to->export->filter)
		return true;
	tpa_stack_read(&to->stack, walk->trace, tpa_export_symbols(to->export, walk->which), node);
	return tpa_stack_matches(&to->stack, to->export->filter);
}

static void sample(void *context, struct tpa_walk *walk, const struct tpa_walk_sample *taken)
{
	const struct sample_record record = { .cpu_ns = taken->cpu_ns, .node = taken->node };
	struct speedscope *to = context;

	if (is_shown(to, walk, taken->node))
		keep(to, to->samples, taken->thread, &record);
}

static void keep_op(void *context, enum tpa_nest_step step, uint32_t item, uint64_t ns, const struct tpa_walk_op *op)
{
	const struct op_record record = { .ns = ns,
					  .frame = item,
					  .open = step == TPA_NEST_BEGIN || step == TPA_NEST_RESUME };
	struct speedscope *to = context;

	keep(to, to->ops, op->thread, &record);
}

static void op_begin(void *context, struct tpa_walk *walk, const struct tpa_walk_op *op)
{
	struct speedscope *to = context;

	tpa_nest_begin(&to->open, op, tpa_frames_op(&to->frames, tpa_walk_op_name(walk, op->op)));
}

static void op_end(void *context, struct tpa_walk *walk, const struct tpa_walk_op *op)
{
	struct speedscope *to = context;

	(void)walk;
	tpa_nest_end(&to->open, op);
}

static void folded(void *context, struct tpa_walk *walk, const struct tpa_walk_folded *calls)
{
	struct speedscope *to = context;

	(void)walk;
	to->threads[calls->thread].folded += calls->calls;
}

/* ---- out of the temporary file ---- */

static void put_sample(void *context, const void *record)
{
	struct speedscope *to = context;
	const struct sample_record *taken = record;
	size_t which = to->walk->which;

	tpa_stack_read(&to->stack, to->walk->trace, tpa_export_symbols(to->export, which), taken->node);
	put_stack(to, which, &to->stack, 0);
}

static void put_weight(void *context, const void *record)
{
	struct speedscope *to = context;
	const struct sample_record *taken = record;

	separate(to);
	fprintf(to->out, "%" PRIu64, taken->cpu_ns);
}

static void sum_sample(void *context, const void *record)
{
	*(uint64_t *)context += ((const struct sample_record *)record)->cpu_ns;
}

static void write_samples(struct speedscope *to, uint32_t number)
{
	char name[500], program[300];
	uint64_t sum = 0;

	if (!tpa_spool_count(to->samples, number))
		return;
	snprintf(name, sizeof(name), "CPU time of %s, %s", to->threads[number].name,
		 tpa_export_process_name(to->walk->trace, program, sizeof(program)));
	to->good = tpa_spool_each(to->samples, number, sum_sample, &sum) && to->good;
	begin_profile(to, "sampled", name, "nanoseconds", 0, sum);
	fputs(",\"samples\":[", to->out);
	to->good = tpa_spool_each(to->samples, number, put_sample, to) && to->good;
	fputs("],\"weights\":[", to->out);
	to->items = 0;
	to->good = tpa_spool_each(to->samples, number, put_weight, to) && to->good;
	fputs("]}", to->out);
}

struct times {
	uint64_t first, last;
	bool any;
};

static void note_time(void *context, const void *record)
{
	struct times *times = context;
	uint64_t ns = ((const struct op_record *)record)->ns;

	times->first = times->any ? times->first : ns;
	times->last = ns;
	times->any = true;
}

static void put_op(void *context, const void *record)
{
	struct speedscope *to = context;
	const struct op_record *op = record;

	separate(to);
	fprintf(to->out, "{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRIu64 "}", op->open ? 'O' : 'C', op->frame,
		op->ns);
}

static void write_ops(struct speedscope *to, uint32_t number)
{
	const struct thread *of = &to->threads[number];
	char name[600], program[300], left_out[80] = "";
	struct times times = { 0 };

	if (!tpa_spool_count(to->ops, number))
		return;
	if (of->folded)
		snprintf(left_out, sizeof(left_out), ", without %" PRIu64 " short calls", of->folded);
	snprintf(name, sizeof(name), "ops of %s, %s%s", of->name,
		 tpa_export_process_name(to->walk->trace, program, sizeof(program)), left_out);
	to->good = tpa_spool_each(to->ops, number, note_time, &times) && to->good;
	begin_profile(to, "evented", name, "nanoseconds", times.first, times.last);
	fputs(",\"events\":[", to->out);
	to->good = tpa_spool_each(to->ops, number, put_op, to) && to->good;
	fputs("]}", to->out);
}

static void process_end(void *context, struct tpa_walk *walk, uint64_t ns)
{
	struct speedscope *to = context;

	(void)ns;
	to->walk = walk;
	for (uint32_t i = 0; i < to->thread_count; i++)
		write_samples(to, i);
	for (uint32_t i = 0; i < to->thread_count; i++)
		write_ops(to, i);
	tpa_spool_clear(to->samples);
	tpa_spool_clear(to->ops);
	tpa_nest_clear(&to->open);
	to->thread_count = 0;
}

/* ---- the file ---- */

static void write_frames(struct speedscope *to)
{
	fputs("],\n\"shared\":{\"frames\":[", to->out);
	for (size_t i = 0; i < to->frames.count; i++) {
		const struct tpa_frame_text *frame = &to->frames.list[i];

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", to->out);
		tpa_export_put(to->out, frame->name);
		if (frame->file) {
			fputs(",\"file\":", to->out);
			tpa_export_put(to->out, frame->file);
		}
		if (frame->line > 0)
			fprintf(to->out, ",\"line\":%d", frame->line);
		fputc('}', to->out);
	}
	fputs("]},\n", to->out);
}

static void write_file(struct speedscope *to)
{
	static const struct tpa_visitor visitor = { .process_end = process_end,
						    .thread = thread,
						    .op_begin = op_begin,
						    .op = op_end,
						    .folded = folded,
						    .sample = sample };
	const struct tpa_run *run = to->export->run;
	char program[300];

	fputs("{\"$schema\":\"" SCHEMA "\",\"exporter\":\"tprof " TPROF_VERSION_STRING "\",\"name\":", to->out);
	tpa_export_put(to->out, tpa_export_process_name(to->export->traces[0], program, sizeof(program)));
	fputs(",\n\"profiles\":[", to->out);
	for (size_t i = 0; i < run->process_count; i++)
		write_process(to, &run->processes[i]);
	if (to->export->what == TPA_WHAT_CPU)
		to->active = to->profiles;
	to->good = tpa_walk(to->export, &visitor, to) && to->good;
	write_frames(to);
	fprintf(to->out, "\"activeProfileIndex\":%zu}\n", to->active < to->profiles ? to->active : 0);
}

bool tpa_export_speedscope(struct tpa_export *export)
{
	struct speedscope to = { .export = export, .out = export->out, .good = true };

	to.open = (struct tpa_nest){ .put = keep_op, .to = &to };
	to.samples = tpa_spool_new(sizeof(struct sample_record));
	to.ops = tpa_spool_new(sizeof(struct op_record));
	tpa_frames_init(&to.frames);
	if (to.samples && to.ops)
		write_file(&to);
	else
		export->error = tpa_format("no temporary file can be made: %s", strerror(errno));
	tpa_frames_free(&to.frames);
	tpa_spool_free(to.samples);
	tpa_spool_free(to.ops);
	tpa_stack_free(&to.stack);
	free(to.path);
	free(to.threads);
	tpa_nest_free(&to.open);
	return to.good && !export->error;
}
