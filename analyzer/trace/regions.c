/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parallel regions of OpenMP are recorded by the address of the function that the compiler made of them. Libraries have no symbol for
 * it, and libtorch runs one such function for many operators. So each op gets two more ops, which have no record in the file: the
 * regions that run in it, and their threads' parts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "trace/impl.h"

static bool is_category(const struct tpa_op *op, const char *category)
{
	return strcmp(op->category, category) == 0;
}

static enum tpa_parallel parallel_of(const struct tpa_op *op)
{
	if (!op->name || !op->frame)
		return TPA_PARALLEL_NONE;
	return is_category(op, "openmp")	? TPA_PARALLEL_REGION
	       : is_category(op, "openmp part") ? TPA_PARALLEL_PART
						: TPA_PARALLEL_NONE;
}

/* A library's operator: regions that run in it are named after it. Functions that the user chose have regions of their own. */
static bool is_library(const struct tpa_op *op)
{
	return op->origin == TPROF_OP_FUNCTION && op->category[0] && !is_category(op, "function") &&
	       !is_category(op, "user") && !is_category(op, "step");
}

static void add(struct tpa_op *op, const struct tpa_op *around, uint32_t number, enum tpa_parallel parallel)
{
	static const char *const categories[] = {
		[TPA_PARALLEL_REGION] = "openmp", [TPA_PARALLEL_PART] = "openmp part"
	};
	const char *end = parallel == TPA_PARALLEL_PART ? TPA_REGION_PART : "";
	/* oneDNN's names go on behind a space: implementation and dimensions. */
	const char *pattern = strchr(around->name, ' ') ? "parallel region of %s%s" : "%s (parallel region)%s";
	size_t length = (size_t)snprintf(NULL, 0, pattern, around->name, end);
	char *text = tpa_zalloc(length + 1 + strlen(categories[parallel]) + 1, 1);

	snprintf(text, length + 1, pattern, around->name, end);
	strcpy(text + length + 1, categories[parallel]);
	*op = (struct tpa_op){ .name = text,
			       .category = text + length + 1,
			       .origin = TPROF_OP_FUNCTION,
			       .parallel = (uint8_t)parallel,
			       .runs_in = number };
}

/* Orders by name, then by number. */
static int compare(const void *left, const void *right, void *context)
{
	const struct tpa_op *ops = context, *a = &ops[*(const uint32_t *)left], *b = &ops[*(const uint32_t *)right];

	return strcmp(a->name, b->name) ?: TPA_UP(a, b);
}

static void find_parallel(struct tpa_trace *trace, uint32_t *of_frame, uint32_t *named, size_t *count)
{
	for (uint32_t i = 1; i < trace->op_count; i++) {
		struct tpa_op *op = &trace->ops[i];

		op->parallel = (uint8_t)parallel_of(op);
		op->library = op->name && is_library(op);
		if (op->parallel == TPA_PARALLEL_REGION && op->frame < trace->frame_count)
			of_frame[op->frame] = i;
		else if (op->name && !op->parallel)
			named[(*count)++] = i;
	}
	for (uint32_t i = 1; i < trace->op_count; i++)
		if (trace->ops[i].parallel == TPA_PARALLEL_PART && trace->ops[i].frame < trace->frame_count)
			trace->ops[i].region = of_frame[trace->ops[i].frame];
}

/* Ops of one name share their regions. */
static void add_regions(struct tpa_trace *trace, uint32_t *named, size_t count)
{
	uint32_t next = (uint32_t)trace->op_count;

	trace->ops = tpa_resize(trace->ops, trace->op_count + 2 * count, sizeof(*trace->ops));
	qsort_r(named, count, sizeof(*named), compare, trace->ops);
	for (size_t i = 0; i < count; i++) {
		struct tpa_op *op = &trace->ops[named[i]];

		if (i && strcmp(trace->ops[named[i - 1]].name, op->name) == 0) {
			op->region = trace->ops[named[i - 1]].region;
			continue;
		}
		op->region = next;
		add(&trace->ops[next], op, named[i], TPA_PARALLEL_REGION);
		add(&trace->ops[next + 1], op, named[i], TPA_PARALLEL_PART);
		trace->ops[next + 1].region = next;
		next += 2;
	}
	trace->op_count = next;
}

void tpa_trace_split_regions(struct tpa_trace *trace)
{
	uint32_t *of_frame, *named;
	size_t count = 0;
	bool any = false;

	for (size_t i = 1; i < trace->op_count; i++)
		any = any || parallel_of(&trace->ops[i]);
	if (!any || trace->regions)
		return;
	trace->regions = trace->op_count;
	of_frame = tpa_zalloc(trace->frame_count, sizeof(*of_frame));
	named = tpa_zalloc(trace->op_count, sizeof(*named));
	find_parallel(trace, of_frame, named, &count);
	add_regions(trace, named, count);
	free(of_frame);
	free(named);
}

void tpa_regions_drop(struct tpa_trace *trace)
{
	if (!trace->regions)
		return;
	for (size_t i = trace->regions; i < trace->op_count; i++)
		free((void *)(uintptr_t)trace->ops[i].name);
	trace->op_count = trace->regions;
	trace->regions = 0;
}
