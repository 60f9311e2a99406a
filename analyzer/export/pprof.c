/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof's profile: one sample for each stack with its op, thread and layer, with a value for each of peak, allocated, unfreed, growth
 * and CPU time. Written sample by sample.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/formats.h"
#include "export/pprof_tables.h"
#include "export/sites.h"
#include "model/replay/run.h"
#include "report/rows/estimate.h"
#include "report/rows/process_facts.h"
#include "trace/checkpoint.h"

enum value {
	PEAK_BLOCKS,
	PEAK,
	ALLOCATIONS,
	ALLOCATED,
	UNFREED_BLOCKS,
	UNFREED,
	TEMPORARY,
	GROWTH,
	SAMPLES,
	CPU,
	VALUES
};

static const struct {
	const char *name, *unit;
} values[VALUES] = {
	[PEAK_BLOCKS] = { "peak_blocks", "count" },
	[PEAK] = { "peak", "bytes" },
	[ALLOCATIONS] = { "allocations", "count" },
	[ALLOCATED] = { "allocated", "bytes" },
	[UNFREED_BLOCKS] = { "unfreed_blocks", "count" },
	[UNFREED] = { "unfreed", "bytes" },
	[TEMPORARY] = { "temporary", "count" },
	[GROWTH] = { "growth", "bytes" },
	[SAMPLES] = { "samples", "count" },
	[CPU] = { "cpu", "nanoseconds" },
};

#define LABELS_MOST 5

struct sample {
	const struct tpa_process *process;
	size_t which;
	const struct tpa_stack *stack;
	size_t first; /* of the stack's lines */
	const char *op, *layer;
	uint32_t thread;      /* 0: not known */
	struct tpa_born born; /* steps; 0: not known */
	int64_t values[VALUES];
};

struct writer {
	struct tpa_pprof tables;
	uint64_t *ids;
	size_t room;
	bool labels; /* sites have threads and layers */
};

/* ---- labels ---- */

struct labels {
	Pprof__Label list[LABELS_MOST], *pointers[LABELS_MOST];
	size_t count;
};

static void add_label(struct writer *writer, struct labels *labels, const char *key, const char *text)
{
	Pprof__Label *label = &labels->list[labels->count];

	if (!text || !*text)
		return;
	*label = (Pprof__Label)PPROF__LABEL__INIT;
	label->key = tpa_pprof_string(&writer->tables, key);
	label->str = tpa_pprof_string(&writer->tables, text);
	labels->pointers[labels->count++] = label;
}

/* A thread as "name (tid 4711)". */
static const char *thread_text(const struct sample *sample, char *text, size_t size)
{
	for (size_t i = 0; i < sample->process->thread_count; i++) {
		const struct tpa_thread_stats *thread = &sample->process->threads[i];

		if (thread->thread != sample->thread)
			continue;
		snprintf(text, size, "%.32s (tid %u)", thread->name[0] ? thread->name : "thread", thread->tid);
		return text;
	}
	return NULL;
}

/* The steps in which the blocks were allocated: "17", or the first and the last: "17-300". */
static const char *step_text(const struct sample *sample, char *text, size_t size)
{
	const struct tpa_born *born = &sample->born;

	if (!born->first)
		return NULL;
	if (born->first == born->last)
		snprintf(text, size, "%lu", (unsigned long)born->first);
	else
		snprintf(text, size, "%lu-%lu", (unsigned long)born->first, (unsigned long)born->last);
	return text;
}

static void make_labels(struct writer *writer, const struct sample *sample, struct labels *labels)
{
	char text[300];

	labels->count = 0;
	add_label(writer, labels, "op", sample->op);
	add_label(writer, labels, "layer", sample->layer);
	add_label(writer, labels, "step", step_text(sample, text, sizeof(text)));
	add_label(writer, labels, "thread", thread_text(sample, text, sizeof(text)));
	add_label(writer, labels, "process", tpa_export_process_name(sample->process->trace, text, sizeof(text)));
}

/* ---- samples ---- */

static bool is_empty(const struct sample *sample)
{
	for (int i = 0; i < VALUES; i++)
		if (sample->values[i])
			return false;
	return true;
}

static void write_sample(struct writer *writer, struct sample *sample)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Sample told = PPROF__SAMPLE__INIT, *list = &told;
	const struct tpa_stack *stack = sample->stack;
	struct labels labels;

	if (is_empty(sample))
		return;
	tpa_grow(&writer->ids, &writer->room, stack->count + 1, sizeof(*writer->ids));
	told.n_location_id =
		tpa_pprof_locations(&writer->tables, sample->which, stack, sample->first, stack->last, writer->ids);
	told.location_id = writer->ids;
	make_labels(writer, sample, &labels);
	told.n_label = labels.count;
	told.label = labels.pointers;
	told.n_value = VALUES;
	told.value = sample->values;
	part.n_sample = 1;
	part.sample = &list;
	tpa_pprof_write(&writer->tables, &part);
}

static bool write_site(void *to, const struct tpa_export_site *site)
{
	struct writer *writer = to;
	const struct tpa_sums *sums = &site->sums;
	struct sample sample = { .process = site->process,
				 .which = site->which,
				 .stack = site->stack,
				 .first = site->stack->first,
				 .op = site->op,
				 .born = sums->live_blocks ? site->site->live_born : site->site->peak_born };

	if (!sums->live_blocks && !sums->peak_blocks)
		sample.born = (struct tpa_born){ 0 };
	if (writer->labels) {
		sample.thread = tpa_label_thread(site->site->key);
		sample.layer = tpa_process_op_name(site->process, tpa_label_layer(site->site->key));
	}
	sample.values[PEAK_BLOCKS] = (int64_t)sums->peak_blocks;
	sample.values[PEAK] = (int64_t)sums->peak_bytes;
	sample.values[ALLOCATIONS] = (int64_t)sums->allocations;
	sample.values[ALLOCATED] = (int64_t)sums->bytes;
	sample.values[UNFREED_BLOCKS] = (int64_t)sums->live_blocks;
	sample.values[UNFREED] = (int64_t)sums->live_bytes;
	sample.values[TEMPORARY] = (int64_t)sums->temporary;
	write_sample(writer, &sample);
	return true;
}

static bool write_cpu(void *to, const struct tpa_export_cpu *site)
{
	struct sample sample = { .process = site->process,
				 .which = site->which,
				 .stack = site->stack,
				 .op = site->op,
				 .thread = site->site->thread };

	sample.values[SAMPLES] = (int64_t)site->site->cpu.samples;
	sample.values[CPU] = (int64_t)site->ns;
	write_sample(to, &sample);
	return true;
}

/* Of the run that reports are made of, by stack and op: what a thread or layer adds is too little for a verdict. */
static bool write_growth(void *to, const struct tpa_export_site *site)
{
	struct sample sample = { .process = site->process,
				 .which = site->which,
				 .stack = site->stack,
				 .first = site->stack->first,
				 .op = site->op };

	if (!site->growth)
		return true;
	sample.values[GROWTH] = site->growth->grown;
	write_sample(to, &sample);
	return true;
}

/* ---- profile ---- */

static enum value preferred(enum tpa_what what)
{
	static const enum value of[] = { [TPA_WHAT_PEAK] = PEAK,
					 [TPA_WHAT_ALLOCATED] = ALLOCATED,
					 [TPA_WHAT_UNFREED] = UNFREED,
					 [TPA_WHAT_TEMPORARY] = TEMPORARY,
					 [TPA_WHAT_CPU] = CPU };

	return of[what];
}

static void write_types(struct tpa_pprof *tables)
{
	Pprof__ValueType types[VALUES], *list[VALUES];
	Pprof__Profile part = PPROF__PROFILE__INIT;

	for (int i = 0; i < VALUES; i++) {
		types[i] = (Pprof__ValueType)PPROF__VALUE_TYPE__INIT;
		types[i].type = tpa_pprof_string(tables, values[i].name);
		types[i].unit = tpa_pprof_string(tables, values[i].unit);
		list[i] = &types[i];
	}
	part.n_sample_type = VALUES;
	part.sample_type = list;
	tpa_pprof_write(tables, &part);
}

static void write_head(struct tpa_pprof *tables, const struct tpa_export *export)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__ValueType period = PPROF__VALUE_TYPE__INIT;
	const struct tpa_run *run = export->run;
	int64_t comments[2];

	write_types(tables);
	comments[part.n_comment++] = tpa_pprof_string(tables, "tprof " TPROF_VERSION_STRING);
	if (tpa_run_estimated(run))
		comments[part.n_comment++] =
			tpa_pprof_string(tables, "allocations were sampled: bytes and blocks are estimates");
	part.comment = comments;
	period.type = tpa_pprof_string(tables, values[CPU].name);
	period.unit = tpa_pprof_string(tables, values[CPU].unit);
	part.period_type = &period;
	part.period = run->process_count ? (int64_t)run->processes[0].trace->header->cpu_period_ns : 0;
	part.time_nanos = (int64_t)run->start_unix_ns;
	part.duration_nanos = (int64_t)run->duration_ns;
	part.default_sample_type = tpa_pprof_string(tables, values[preferred(export->what)].name);
	tpa_pprof_write(tables, &part);
}

/* The first mapping of a profile is the program. */
static void write_program(struct tpa_pprof *tables, struct tpa_export *export)
{
	const struct tpa_trace *trace = export->run->process_count ? export->run->processes[0].trace : NULL;

	for (size_t i = 0; trace && i < trace->module_count; i++)
		if (strcmp(trace->modules[i].path, trace->exe) == 0) {
			tpa_pprof_mapping(tables, tpa_export_index(export, &export->run->processes[0]),
					  &trace->modules[i]);
			return;
		}
}

/* What a ring's checkpoint has is counted by stack alone. */
static bool has_labels(const struct tpa_export *export)
{
	for (size_t i = 0; i < export->trace_count; i++)
		if (tpa_trace_checkpoint(export->traces[i]))
			return false;
	return true;
}

static struct tpa_run *replay_labels(const struct tpa_export *export)
{
	struct tpa_replay_options options = *export->replay;

	options.group = TPA_GROUP_LABELS;
	options.find_steps = true;
	return tpa_run_replay(export->traces, export->trace_count, &options);
}

bool tpa_export_pprof(struct tpa_export *export)
{
	const struct tpa_run *run = export->run;
	struct writer writer = { .labels = has_labels(export) };
	struct tpa_run *labelled = writer.labels ? replay_labels(export) : NULL;

	tpa_pprof_begin(&writer.tables, export->out);
	write_head(&writer.tables, export);
	write_program(&writer.tables, export);
	tpa_export_sites(export, write_growth, &writer);
	tpa_export_cpu_sites(export, write_cpu, &writer);
	export->run = labelled ? labelled : run;
	tpa_export_sites(export, write_site, &writer);
	export->run = run;
	tpa_run_free(labelled);
	free(writer.ids);
	return tpa_pprof_end(&writer.tables);
}
