/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/lost_callers.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "report/rows/stack.h"
#include "symbols/embedded.h"

#define LEAST_SHARE 0.01
#define LEAST_SAMPLES 5 /* CPU samples: in a short run, one is more than 1% */

enum { UNKNOWN, FOLLOWED, LOST }; /* by frame: did the stack walk find its caller? */

/* By node: what is known of the stack from it outwards. */
enum {
	UNSEEN,
	NO_NATIVE, /* it ends early, without any native frame */
	LOST_NONE,
	LOST_IN, /* + the module in whose code the walk lost the callers */
};

struct survey {
	const struct tpa_trace *trace;
	struct tpa_cfi_file **files; /* by module; NULL: missing, or not opened yet */
	bool *opened;
	struct tpa_embedded *embedded; /* NULL: the trace has no names */
	uint8_t *verdicts;	       /* by frame */
	uint32_t *seen;		       /* by node */
	struct tpa_lost_callers *lost; /* by module */
	uint64_t allocations, samples; /* of the whole process */
};

static struct tpa_cfi_place place_of(struct survey *survey, const struct tpa_frame *frame)
{
	struct tpa_cfi_place place;
	size_t module = (size_t)(frame->module - survey->trace->modules);

	if (survey->embedded && tpa_embedded_cfi(survey->embedded, frame, &place))
		return place;
	if (!survey->opened[module])
		survey->files[module] = tpa_cfi_open(frame->module);
	survey->opened[module] = true;
	return tpa_cfi_at(survey->files[module], tpa_frame_address(frame));
}

/*
 * Did the walk lose the callers of the frame? Yes if a table in the module's file says that rbp was no frame pointer:
 * the walk ended, or went on in another frame. Without any table, or where the code itself was read, only the end of the
 * walk tells whether it failed.
 */
static bool loses_callers(struct survey *survey, uint32_t number)
{
	uint8_t *verdict = &survey->verdicts[number];

	if (*verdict == UNKNOWN) {
		const struct tpa_frame *frame = &survey->trace->frames[number];
		struct tpa_cfi_place place = place_of(survey, frame);
		struct tpa_lost_callers *lost = &survey->lost[frame->module - survey->trace->modules];

		*verdict = place.kind <= TPA_CFI_NONE || place.has_frame_pointer || frame->flags & TPROF_FRAME_CODE
				   ? FOLLOWED
				   : LOST;
		lost->tables = place.kind > lost->tables ? place.kind : lost->tables;
	}
	return *verdict == LOST;
}

/* What holds for a stack that ends at `end`, with its outermost native frame in a module without a table, if `last` is set. */
static uint32_t seen_at_end(const struct survey *survey, uint32_t end, bool native, const struct tpa_module *last)
{
	if (end != TPROF_NODE_SHORT)
		return LOST_NONE;
	if (!native)
		return NO_NATIVE;
	return last ? LOST_IN + (uint32_t)(last - survey->trace->modules) : LOST_NONE;
}

/*
 * Walks outwards until it is known what holds for the node's stack, and returns that. *outermost: the outermost native node that
 * it came by; `node` itself if there was none.
 */
static uint32_t walk(struct survey *survey, uint32_t node, uint32_t *outermost)
{
	const struct tpa_trace *trace = survey->trace;
	const struct tpa_module *last = NULL; /* the module of the outermost native frame, if that has no table */
	bool native = false;

	*outermost = node;
	for (; node >= TPROF_NODE_FIRST && (!survey->seen[node] || survey->seen[node] == NO_NATIVE);
	     node = trace->nodes[node].parent) {
		uint32_t number = trace->nodes[node].frame;
		const struct tpa_frame *frame = &trace->frames[number];

		if (frame->code)
			continue;
		native = true;
		*outermost = node;
		last = tpa_frame_is_untabled(frame) ? frame->module : NULL;
		if (last && loses_callers(survey, number))
			return LOST_IN + (uint32_t)(last - trace->modules);
	}
	return node >= TPROF_NODE_FIRST ? survey->seen[node] : seen_at_end(survey, node, native, last);
}

/* Returns the module in whose code the walk lost the callers; NULL: it lost none. */
static struct tpa_lost_callers *blame(struct survey *survey, uint32_t node)
{
	uint32_t outermost, seen = walk(survey, node, &outermost);

	while (node >= TPROF_NODE_FIRST && !survey->seen[node]) {
		survey->seen[node] = seen;
		if (node == outermost)
			break;
		node = survey->trace->nodes[node].parent;
	}
	return seen >= LOST_IN ? &survey->lost[seen - LOST_IN] : NULL;
}

static void count(struct survey *survey, const struct tpa_process *process)
{
	struct tpa_lost_callers *lost;

	for (size_t i = 0; i < process->site_count; i++) {
		survey->allocations += process->sites[i].allocations;
		if ((lost = blame(survey, process->sites[i].node)))
			lost->allocations += process->sites[i].allocations;
	}
	for (size_t i = 0; i < process->cpu_site_count; i++) {
		survey->samples += process->cpu_sites[i].cpu.samples;
		if ((lost = blame(survey, process->cpu_sites[i].node)))
			lost->samples += process->cpu_sites[i].cpu.samples;
	}
}

double tpa_part_of(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

/* Moves the modules that matter to the front, and returns their number. */
static size_t choose(struct survey *survey)
{
	size_t chosen = 0;

	for (size_t i = 0; i < survey->trace->module_count; i++) {
		struct tpa_lost_callers lost = survey->lost[i];

		lost.module = &survey->trace->modules[i];
		lost.allocation_share = tpa_part_of(lost.allocations, survey->allocations);
		lost.sample_share = tpa_part_of(lost.samples, survey->samples);
		if (lost.allocation_share >= LEAST_SHARE ||
		    (lost.sample_share >= LEAST_SHARE && lost.samples >= LEAST_SAMPLES))
			survey->lost[chosen++] = lost;
	}
	return chosen;
}

static void begin(struct survey *survey, const struct tpa_trace *trace)
{
	*survey = (struct survey){ .trace = trace };
	survey->files = tpa_zalloc(trace->module_count, sizeof(struct tpa_cfi_file *));
	survey->embedded = tpa_embedded_open(trace);
	survey->opened = tpa_zalloc(trace->module_count, sizeof(bool));
	survey->verdicts = tpa_zalloc(trace->frame_count, sizeof(uint8_t));
	survey->seen = tpa_zalloc(trace->node_count, sizeof(*survey->seen));
	survey->lost = tpa_zalloc(trace->module_count, sizeof(*survey->lost));
}

/* Leaves survey->lost to the caller. */
static void end(struct survey *survey)
{
	for (size_t i = 0; i < survey->trace->module_count; i++)
		tpa_cfi_close(survey->files[i]);
	tpa_embedded_close(survey->embedded);
	free(survey->files);
	free(survey->opened);
	free(survey->verdicts);
	free(survey->seen);
}

void tpa_lost_callers_find(struct tpa_lost_callers_list *found, const struct tpa_process *process)
{
	struct survey survey;

	*found = (struct tpa_lost_callers_list){ NULL, 0 };
	if (!tpa_trace_has_untabled(process->trace))
		return;
	begin(&survey, process->trace);
	count(&survey, process);
	*found = (struct tpa_lost_callers_list){ survey.lost, choose(&survey) };
	end(&survey);
}

void tpa_lost_callers_free(struct tpa_lost_callers_list *found)
{
	free(found->list);
	*found = (struct tpa_lost_callers_list){ NULL, 0 };
}

char *tpa_lost_callers_text(const struct tpa_lost_callers *lost)
{
	static const char *const reasons[] = {
		[TPA_CFI_UNKNOWN] =
			"its code has no unwind tables that tprof reads, and its file is not here to tell more",
		[TPA_CFI_NONE] = "its code there has no unwind tables "
				 "(built with -fno-asynchronous-unwind-tables, or assembly without .cfi directives)",
		[TPA_CFI_DEBUG] = "its code has unwind tables only in .debug_frame, which tprof could not read "
				  "(it is compressed or too large, or the file changed; "
				  "build it with -fasynchronous-unwind-tables)",
		[TPA_CFI_UNINDEXED] = "its unwind tables have no index (it was linked without --eh-frame-hdr)",
	};
	char allocations[40] = "", samples[40] = "";

	if (lost->allocations)
		snprintf(allocations, sizeof(allocations), "%.1f%% of the allocations", 100 * lost->allocation_share);
	if (lost->samples)
		snprintf(samples, sizeof(samples), "%.1f%% of the CPU samples", 100 * lost->sample_share);
	return tpa_format("%s: the stacks of %s%s%s lack the callers of its functions: %s",
			  tpa_file_name(lost->module->path), allocations, allocations[0] && samples[0] ? " and " : "",
			  samples, reasons[lost->tables]);
}
